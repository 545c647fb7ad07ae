"""What the processes find in place: the database's tables, the collected static files, the sandbox's people."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import Error as DatabaseFault
from django.db import connections

from dashboard.accounts.actor import Actor
from dashboard.accounts.people import PersonChange, change_person, find_person
from dashboard.accounts.roles import Role
from dashboard.connections.access import SANDBOX
from dashboard.connections.signals import lake_emptied
from dashboard.processes.lock import RunError


def prepare_console(say: Callable[[str], None]) -> None:
    """Bring the database and the static files up to date; RunError: the database cannot be reached or migrated."""
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseFault as error:
        raise RunError(f"The database cannot be brought up to date: {' '.join(str(error).split())}") from error
    finally:
        connections.close_all()
    if static_files_are_stale():
        say("collecting static files")
        call_command("collectstatic", interactive=False, verbosity=0, clear=True)


def static_files_are_stale() -> bool:
    """Whether a static file is newer than the collected ones, or none have been collected."""
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    if not manifest.exists():
        return True
    collected_at = manifest.stat().st_mtime
    sources = (storage.path(name) for finder in get_finders() for name, storage in finder.list([]))
    return any(Path(source).stat().st_mtime > collected_at for source in sources)


def prepare_people(home: Path) -> str:
    """Make the sandbox's people and return their password; what rests on its last lake is told that it is gone."""
    try:
        lake_emptied.send(prepare_people, connection=SANDBOX)
        return ensure_sandbox_people(home / "sandbox" / "sign-in")
    finally:
        connections.close_all()


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
    if not kept:
        _keep(password_file, password)
    return password


def end_sandbox(home: Path) -> list[str]:
    """End what a sandbox of this home has opened, and return the names of its people, who may no longer sign in."""
    try:
        return close_sandbox(home / "sandbox")
    finally:
        connections.close_all()


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


def _keep(file: Path, password: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.fdopen(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as out:
        out.write(password)
