"""Files that no commit needs: the losers' leftovers, and the trail of writers that retry without end."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from coordinator.protocols.judgement import note
from coordinator.protocols.log_view import LogView
from coordinator.protocols.verdict import Finding, Severity, State, attention
from coordinator.protocols.wording import counted, duration, thousands, verb
from lake.delta.facts import LogObject

SPIN_FILES = 20
"""Files of one unpublished version within `SPIN_WINDOW` that no contention explains: one retry leaves one file."""

SPIN_WINDOW = timedelta(minutes=1)


def spin_finding(
    view: LogView, files: Sequence[LogObject], version_of: Callable[[str], int | None], what: str
) -> Finding | None:
    """Many files of one unpublished version within a minute: its writers are spinning."""
    if len(files) < SPIN_FILES:
        return None
    times: dict[int, list[datetime]] = {}
    for file in files:
        version = version_of(file.name)
        if version is not None and version not in view.published:
            times.setdefault(version, []).append(file.modified_at)
    crowded = {version: _most_within(moments) for version, moments in times.items()}
    version = max((v for v, count in crowded.items() if count >= SPIN_FILES), default=None)
    if version is None:
        return None
    return attention(
        "writers-spinning",
        f"{counted(crowded[version], what.removesuffix('s'), what)} of version {thousands(version)} were written "
        "within one minute: a writer retries that version without end.",
        version,
        "Each retry leaves one more file, up to 10,000,000 by default, until the version is published.",
        {
            "files_within_a_minute": crowded[version],
            "files": len(times[version]),
            "newest_at": max(times[version]).isoformat(),
        },
    )


def _most_within(moments: Sequence[datetime]) -> int:
    """The largest number of moments inside one window."""
    ordered = sorted(moments)
    first = most = 0
    for last, moment in enumerate(ordered):
        while moment - ordered[first] > SPIN_WINDOW:
            first += 1
        most = max(most, last - first + 1)
    return most


def orphans_finding(
    view: LogView,
    files: Sequence[LogObject],
    code: str,
    summary: str,
    quiet_seconds: float,
    *,
    removable: Sequence[LogObject] | None = None,
) -> Finding | None:
    """One finding for all files that no item names; `removable` ones (None: all) may go once they are quiet."""
    if not files:
        return None
    oldest = max(view.age(file.modified_at) or 0 for file in files)
    ages = [view.age(one.modified_at) or 0 for one in (files if removable is None else removable)]
    total = sum(file.size for file in files)
    return Finding(
        code,
        summary,
        meaning="Writers that lost a race or stopped early leave such files. They take space and are never read; "
        "publishing one would invent a commit.",
        evidence={
            "count": len(files),
            "bytes": total,
            "oldest_age": duration(oldest),
            "names": [file.name for file in files[:20]],
        },
        repairs=("remove-orphans",) if any(age > quiet_seconds for age in ages) else (),
        severity=Severity.INFO,
        state=State.HEALTHY,
    )


def uncompared_finding(files: Sequence[LogObject], what: str) -> Finding | None:
    """Files of which it is not known whether they hold what is published: one look compares only so many."""
    if not files:
        return None
    named = counted(len(files), what)
    return note(
        "not-compared",
        f"{named} {verb(len(files), 'was', 'were')} not compared with what is published: one look compares only some.",
        "Sizes and ETags do not tell whether they are copies. None of them is deleted, and none is taken for a "
        "sign of a loss.",
        count=len(files),
        names=[file.name for file in files[:20]],
    )
