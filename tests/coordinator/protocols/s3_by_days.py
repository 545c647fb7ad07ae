"""S3 as it works through a bucket's rules, midnight by midnight, over objects: it shares nothing with what is tested.

It knows keys, bytes, tags, classes and ages; it does not know what a table is. From S3's documentation: an object is
expired or moved at the first midnight UTC at which it is as many days old as the rule says; a rule with a date acts at
each midnight from that date on; a move without a size of its own spares what has less than 128 KB where the bucket says
so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

DAY = timedelta(days=1)
UNREADABLE = ("GLACIER", "DEEP_ARCHIVE")


@dataclass
class Thing:
    """An object. `lost_at` is the midnight at which it was deleted or went where nobody can read it."""

    key: str
    size: int
    written_at: datetime
    tags: frozenset[tuple[str, str]] = frozenset()
    lost_at: datetime | None = None


@dataclass
class S3:
    """One bucket: `rules` as the SDK has them."""

    things: list[Thing]
    rules: Sequence[dict[str, Any]]
    small_stay: bool = False
    midnights: list[datetime] = field(default_factory=list)

    def live(self, first: datetime, last: datetime) -> None:
        """Let each midnight from the first moment to the last come, and take what it takes."""
        for midnight in _midnights(first, last):
            for thing in self.things:
                if thing.lost_at is None and any(self._takes(rule, thing, midnight) for rule in self.rules):
                    thing.lost_at = midnight

    def _takes(self, rule: dict[str, Any], thing: Thing, midnight: datetime) -> bool:
        if rule["Status"] != "Enabled" or thing.written_at > midnight:
            return False
        wanted = rule.get("Filter", {})
        everything = [wanted] if "And" not in wanted else [wanted["And"]]
        if not all(_fits(part, thing) for part in everything):
            return False
        if _is_due(rule.get("Expiration", {}), thing, midnight):
            return True
        sized = any(name.startswith("ObjectSize") for part in everything for name in part)
        stays = self.small_stay and not sized and thing.size < 131_072
        moves = [move for move in rule.get("Transitions", ()) if move["StorageClass"] in UNREADABLE]
        return not stays and any(_is_due(move, thing, midnight) for move in moves)


def _midnights(first: datetime, last: datetime) -> Iterator[datetime]:
    midnight = datetime(first.year, first.month, first.day, tzinfo=UTC)
    while midnight <= last:
        if midnight >= first:
            yield midnight
        midnight += DAY


def _fits(part: dict[str, Any], thing: Thing) -> bool:
    tags = part.get("Tags", [part["Tag"]] if "Tag" in part else [])
    return (
        thing.key.startswith(part.get("Prefix", ""))
        and all((tag["Key"], tag["Value"]) in thing.tags for tag in tags)
        and thing.size > part.get("ObjectSizeGreaterThan", -1)
        and thing.size < part.get("ObjectSizeLessThan", 2**60)
    )


def _is_due(act: dict[str, Any], thing: Thing, midnight: datetime) -> bool:
    if "Date" in act:
        return midnight >= datetime.fromisoformat(act["Date"])
    return "Days" in act and (midnight - thing.written_at) // DAY >= act["Days"]
