"""The three people of a Levee with a sandbox lake: one of each role, and one password kept beside the lake."""

import os
import secrets
from pathlib import Path

from django.contrib.auth.models import User

from dashboard.accounts.actor import Actor
from dashboard.accounts.people import save_person
from dashboard.accounts.roles import Role


def ensure_sandbox_people(password_file: Path) -> str:
    """Make a person named after each role and return the password they share.

    A person who exists is left as they are, so a password that an admin has changed stays changed; where the file is
    gone, a new password is made and given to all three.
    """
    kept = password_file.read_text().strip() if password_file.exists() else ""
    password = kept or secrets.token_urlsafe(12)
    for role in Role:
        if not kept or not User.objects.filter(username=role.value).exists():
            saved = save_person(Actor.command(), role.value, role, password)
            User.objects.filter(pk=saved.user.pk, email="").update(email=f"{role.value}@levee.example")
    if not kept:
        _keep(password_file, password)
    return password


def _keep(file: Path, password: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.fdopen(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as out:
        out.write(password)
