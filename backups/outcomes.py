"""What can become of an object of the source. Pure."""

from enum import StrEnum


class Outcome(StrEnum):
    """LISTED counts all objects; each of them has exactly one of the others. COPIED and ALREADY_THERE are safe."""

    LISTED = "listed"
    COPIED = "copied"
    ALREADY_THERE = "already_there"
    CHANGED = "changed"
    VANISHED = "vanished"
    DENIED = "denied"
    TOO_NEW = "too_new"
    ARCHIVED = "archived"
    FAILED = "failed"


SAFE = frozenset({Outcome.COPIED, Outcome.ALREADY_THERE})
GAPS = frozenset(set(Outcome) - SAFE - {Outcome.LISTED})
WORTH_RETRY = frozenset({Outcome.CHANGED, Outcome.DENIED, Outcome.FAILED})
OVER = frozenset({"Complete", "Failed", "Cancelled"})
"""The states at which a job of S3 Batch Operations ends (S3 User Guide, "Job status")."""
