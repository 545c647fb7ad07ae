"""Staged files that a repair has to look at."""

from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import staged_file_version
from coordinator.protocols.registrations import SeenCommit, seen_commits
from lake.delta.facts import LogObject, Registration

MOST_CANDIDATES = 500
"""Staged files of one version, or above one, that are read or kept for one plan."""


def staged_above(view: LogView, version: int) -> tuple[LogObject, ...]:
    """Staged files of later versions, by name; one without a version in its name may be of any."""
    files = view.facts.listing.staged or ()
    found = [file for file in files if (staged := staged_file_version(file.name)) is None or staged > version]
    return tuple(sorted(found, key=lambda file: file.name))


def waiting_commits(view: LogView, registration: Registration) -> list[SeenCommit]:
    """Listed commits without a published file, ascending."""
    return [one for one in seen_commits(view, registration) if one.file.present is False]
