"""The three people of a Levee with a sandbox lake: one of each role, and one password kept beside the lake."""

from pathlib import Path

from django.contrib.auth.models import Group, User
from django.db import transaction

from dashboard.accounts.roles import Role
from dashboard.environment import kept_secret


def ensure_sandbox_people(password_file: Path) -> str:
    """Make a person named after each role who does not exist yet, and return the password they share.

    A person who exists is left as they are, so a password that an admin has changed stays changed.
    """
    password = kept_secret(password_file)
    with transaction.atomic():
        for role in Role:
            _ensure_person(role, password)
    return password


def _ensure_person(role: Role, password: str) -> None:
    if User.objects.filter(username=role.value).exists():
        return
    person = User.objects.create_user(role.value, password=password)
    group, _ = Group.objects.get_or_create(name=role.value)
    person.groups.add(group)
