"""What the processes find in place: the database's tables, the collected static files, the sandbox's people."""

from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import Error as DatabaseFault
from django.db import connections

from dashboard.processes.lock import RunError
from dashboard.processes.people import ensure_sandbox_people


def prepare_console(say: Callable[[str], None]) -> None:
    """Bring the database and the static files up to date.

    Raises:
        RunError: the database cannot be reached or migrated.
    """
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
    """Make the sandbox's people and return their password."""
    try:
        return ensure_sandbox_people(home / "sandbox" / "sign-in")
    finally:
        connections.close_all()
