"""Asks every source what is due and keeps the answers, so that a page costs the same over any lake.

Apps name the modules that register sources, so that deadlines know neither tables nor backups.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from heapq import nsmallest

from django.db import transaction

from dashboard.deadlines.models import Due, DueKind, DueSource
from dashboard.loading import AtNeed

JUDGED_FOR = timedelta(days=90)
"""What comes later is not kept."""
MOST = 2_000
"""Deadlines that are kept of one source, the soonest."""

Source = Callable[[datetime], Iterable[Due]]
in_modules = AtNeed()
_sources: dict[str, tuple[str, Source]] = {}
_log = logging.getLogger(__name__)


def register_source(name: str, words: str, source: Source) -> None:
    """Add a source, which yields unsaved rows; `words` say what of: "backup plans". The same name again replaces it."""
    _sources[name] = words, source


def judge(now: datetime) -> None:
    """Ask every source. One that raises keeps the rows it had, beside one that says so."""
    in_modules.load()
    for name, (words, source) in list(_sources.items()):
        try:
            found = _soonest(source(now), words, now)
        except Exception:  # noqa: BLE001 - a broken source must not silence the others
            _log.exception("The deadlines of %s could not be judged.", words)
            Due.objects.bulk_create([_unknown(name, f"the deadlines of {words}, not judged")], ignore_conflicts=True)
            continue
        for due in found:
            due.source = name
        with transaction.atomic():
            Due.objects.filter(source=name).delete()
            Due.objects.bulk_create(found, ignore_conflicts=True, batch_size=500)
            DueSource.objects.update_or_create(name=name, defaults={"judged_at": now})


def _soonest(told: Iterable[Due], words: str, now: datetime) -> list[Due]:
    within = (due for due in told if due.at is None or due.at < now + JUDGED_FOR)
    # What is not known comes first, so that it is never cut off.
    found = nsmallest(MOST + 1, within, key=lambda due: (due.at is not None, due.at or now))
    if len(found) > MOST:
        found[MOST:] = [_unknown(words, f"what is due of {words} after the {MOST:,} soonest")]
    return found


def _unknown(source: str, what: str) -> Due:
    return Due(
        source=source,
        key=f"unknown:{source}",
        kind=DueKind.UNKNOWN,
        state="not_checked",
        happens=f"Unknown: {what}",
        lost="More may be due than this list has.",
        stops="See the log of the workers.",
    )
