"""The three people of a Levee with a sandbox lake: one of each role, and one password kept beside the lake."""

from pathlib import Path

from django.contrib.auth.models import User

from dashboard.accounts.actor import Actor
from dashboard.accounts.people import save_person
from dashboard.accounts.roles import Role
from dashboard.environment import kept_secret


def ensure_sandbox_people(password_file: Path) -> str:
    """Make a person named after each role who does not exist yet, and return the password they share.

    A person who exists is left as they are, so a password that an admin has changed stays changed.
    """
    password = kept_secret(password_file)
    for role in Role:
        if not User.objects.filter(username=role.value).exists():
            save_person(Actor.command(), role.value, role, password)
    return password
