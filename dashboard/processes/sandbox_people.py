"""The people of the sandbox, whom the processes find in place, or kept out."""

import secrets
from pathlib import Path

from dashboard.accounts.actor import Actor
from dashboard.accounts.people import PersonChange, change_person, find_person
from dashboard.accounts.roles import Role


def ensure_sandbox_people(password_file: Path) -> str:
    """Make a person named after each role and return the password they share.

    A person who exists is left as they are, so a password that an admin has changed stays changed; where the file is
    gone, those whom a sandbox made get a new password, and may sign in again.
    """
    kept = password_file.read_text().strip() if password_file.exists() else ""
    password = kept or secrets.token_urlsafe(12)
    for role in Role:
        user, address = find_person(role.value), f"{role.value}@levee.example"
        if user is None or (not kept and user.email == address):
            change_person(Actor.command(), role.value, PersonChange(role, address, is_active=True), password=password)
    password_file.parent.mkdir(parents=True, exist_ok=True)
    password_file.write_text(password)
    return password


def close_sandbox(folder: Path) -> list[str]:
    """Close the doors of the sandbox's people, and forget its endpoint and mail server; returns whose doors.

    A person whose password has been changed since is somebody's own, and stays.
    """
    password_file, closed = folder / "sign-in", []
    if password_file.exists():
        password = password_file.read_text().strip()
        for role in Role:
            user = find_person(role.value)
            if user is not None and user.is_active and user.check_password(password):
                change_person(Actor.command(), role.value, PersonChange(is_active=False))
                closed.append(role.value)
    for file in (password_file, folder / "endpoint", folder / "smtp"):
        file.unlink(missing_ok=True)
    return closed
