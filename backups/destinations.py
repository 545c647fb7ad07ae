"""Where plans copy to: which of their destinations overlap, and which are pools."""

import re

from backups.models import Plan
from lake.backup.objects import place_of

DATE = "{date}"
"""In the name of a destination's bucket: one for each snapshot."""
_ANY_DATE = r"\d{4}-\d{2}-\d{2}"


def is_pool(destination: str) -> bool:
    """Whether the copies of a plan lie in one place and share what has not changed between them."""
    return DATE not in destination


def overlap(one: str, other: str) -> bool:
    """Whether two destinations can hold the same key: of one bucket, the one place within the other."""
    first, second = place_of(one), place_of(other)
    prefixes = (first.prefix, second.prefix)
    is_within = prefixes[0].startswith(prefixes[1]) or prefixes[1].startswith(prefixes[0])
    return is_within and (can_be(first.bucket, second.bucket) or can_be(second.bucket, first.bucket))


def is_copy_of(destination: str, copy: str) -> bool:
    """Whether a copy lies where a plan of that destination puts one, at some date."""
    planned, there = place_of(destination), place_of(copy)
    return planned.prefix == there.prefix and can_be(planned.bucket, there.bucket)


def why_overlapping(name: str, destination: str) -> str:
    """The sentence that refuses a destination of the plan of that name, "" where no other plan's overlaps.

    It does not name the other plan, which the reader may not be allowed to see.
    """
    others = Plan.objects.exclude(name=name).values_list("destination", flat=True)
    if not any(overlap(destination, other) for other in others):
        return ""
    return (
        f"{destination} overlaps the destination of another plan: each would take the other's copies for its own. "
        "Give each plan a place of its own."
    )


def can_be(bucket: str, other: str) -> bool:
    """Whether a bucket's name, at some date, is the other's."""
    pattern = _ANY_DATE.join(re.escape(part) for part in bucket.split(DATE))
    return bucket == other or re.fullmatch(pattern, other.replace(DATE, "2000-01-01")) is not None
