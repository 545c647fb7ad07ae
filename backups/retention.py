"""Which copies a plan keeps: the newest of each of its last days, weeks and months that have one. Pure.

Levee deletes no backup: what is kept for nothing any more is marked, and a person, or a rule of the bucket, removes it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

_PERIODS: dict[str, Callable[[datetime], tuple[int, ...]]] = {
    "daily": lambda moment: (moment.year, moment.month, moment.day),
    "weekly": lambda moment: moment.isocalendar()[:2],
    "monthly": lambda moment: (moment.year, moment.month),
}


def kept_as(moments: Sequence[datetime], keep: Mapping[str, int]) -> dict[datetime, tuple[str, ...]]:
    """What each copy, by its cut-off (UTC), is kept as; nothing: it may go.

    `keep` counts by "daily", "weekly" (ISO weeks) and "monthly"; without any of them everything is kept, as "always".
    The newest is always kept. Days without a copy are not counted, so that a pause of the schedule costs none.
    """
    newest_first = sorted(set(moments), reverse=True)
    if not any(keep.values()):
        return dict.fromkeys(newest_first, ("always",))
    found: dict[datetime, list[str]] = {moment: [] for moment in newest_first}
    for period, name_of in _PERIODS.items():
        newest_of: dict[tuple[int, ...], datetime] = {}
        for moment in newest_first:
            newest_of.setdefault(name_of(moment), moment)
        for moment in list(newest_of.values())[: keep.get(period, 0)]:
            found[moment].append(period)
    if newest_first and not found[newest_first[0]]:
        found[newest_first[0]].append("newest")
    return {moment: tuple(names) for moment, names in found.items()}
