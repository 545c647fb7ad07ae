"""Random buckets and rules, judged, and lived through midnight by midnight by an S3 that shares no code with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from coordinator.protocols.bucket_tables import TableInBucket, WaitingFile, ranges_of
from coordinator.protocols.buckets import BucketVerdict, judge_bucket
from coordinator.protocols.deadlines import AtRisk
from coordinator.protocols.verdict import State
from lake.delta.listing import read_listing
from tests.builders.delta import listed_object
from tests.builders.facts import commit_name, staged_name, temp_name
from tests.coordinator.protocols.s3_by_days import DAY, S3, Thing

NOW = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
HORIZON = 120
SIZES = st.sampled_from([1, 900, 1_024, 40_000, 131_071, 131_072, 500_000, 9_000_000])
LIMITS = st.sampled_from([0, 899, 900, 1_024, 50_000, 131_072, 1_000_000])
ROOTS = ("orders/", "sales/orders/", "")
TAG = {"Key": "k", "Value": "v"}


@dataclass(frozen=True)
class World:
    """One table in a bucket, its objects, and the rules; `waiting` are keys by version."""

    things: tuple[Thing, ...]
    table: TableInBucket
    waiting: dict[int, str]
    rules: tuple[dict[str, Any], ...]
    small_stay: bool

    def judged(self, now: datetime = NOW) -> BucketVerdict:
        facts = {"name": "lake", "versioning": "Enabled", "lifecycle_rules": list(self.rules), "tiering": []}
        least = "all_storage_classes_128K" if self.small_stay else "varies_by_storage_class"
        return judge_bucket({**facts, "least_size_moved": least}, [self.table], now=now)

    def lived(self, days: int = HORIZON) -> dict[str, datetime | None]:
        """When each object was lost, by key."""
        things = [Thing(one.key, one.size, one.written_at, one.tags) for one in self.things]
        S3(things, self.rules, self.small_stay).live(NOW, NOW + days * DAY)
        return {one.key: one.lost_at for one in things}


def ages() -> st.SearchStrategy[datetime]:
    """Moments within the last 40 days, midnights among them."""
    seconds = st.integers(61, 40 * 86_400)
    midnights = st.integers(0, 40).map(lambda day: NOW.replace(hour=0) - day * DAY)
    return st.one_of(seconds.map(lambda age: NOW - timedelta(seconds=age)), midnights)


@st.composite
def rules(draw, root: str, *, tags: bool, both_sizes: bool = True) -> dict[str, Any]:
    log = f"{root}_delta_log/"
    prefix = draw(
        st.sampled_from(
            ["", root, log, f"{log}.tmp", f"{log}.tmp/", f"{log}_staged_commits/", f"{log}_co", f"{log}0000", "other/",
             f"/{log}.tmp/", f"{root}part", root[:2]]
        )
    )  # fmt: skip
    terms: dict[str, Any] = {"Prefix": prefix} if draw(st.booleans()) or prefix else {}
    sizes = draw(st.sets(st.sampled_from(["ObjectSizeGreaterThan", "ObjectSizeLessThan"]), max_size=1 + both_sizes))
    terms |= {name: draw(LIMITS) for name in sizes}
    if tags and draw(st.integers(0, 3)) == 0:
        terms["Tags"] = [TAG]
    chosen = {"And": terms} if len(terms) > 1 else terms
    return {"ID": f"r{draw(st.integers(0, 99))}", "Status": draw(st.sampled_from(["Enabled"] * 4 + ["Disabled"])),
            "Filter": chosen, **draw(acts())}  # fmt: skip


@st.composite
def acts(draw) -> dict[str, Any]:
    days, date = draw(st.integers(1, 60)), (NOW.replace(hour=0) + draw(st.integers(-20, 30)) * DAY).isoformat()
    when = draw(st.sampled_from([{"Days": days}, {"Days": days}, {"Date": date}]))
    storage = draw(st.sampled_from(["GLACIER", "DEEP_ARCHIVE", "STANDARD_IA", "GLACIER_IR", "INTELLIGENT_TIERING"]))
    return draw(
        st.sampled_from(
            [
                {"Expiration": when},
                {"Transitions": [{**when, "StorageClass": storage}]},
                {"Expiration": {"Days": days + 5}, "Transitions": [{"Days": days, "StorageClass": storage}]},
                {"Expiration": {"ExpiredObjectDeleteMarker": True}},
                {"NoncurrentVersionExpiration": {"NoncurrentDays": days}},
                {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": days}},
            ]
        )
    )


@st.composite
def worlds(draw, *, tags: bool = False, both_sizes: bool = True) -> World:
    root = draw(st.sampled_from(ROOTS))
    log = f"{root}_delta_log/"
    carried = frozenset({("k", "v")}) if tags and draw(st.booleans()) else frozenset()
    written = [draw(ages()) for _ in range(draw(st.integers(1, 4)))]
    published = [Thing(f"{log}{commit_name(v)}", draw(SIZES), at, carried) for v, at in enumerate(sorted(written))]
    published.append(Thing(f"{log}{0:020d}.checkpoint.parquet", draw(SIZES), draw(ages()), carried))
    data = [
        Thing(f"{root}part-{number}.parquet", draw(SIZES), one.written_at, carried)
        for number, one in enumerate(published)
    ]
    made = []
    for version in range(10, 10 + draw(st.integers(0, 2))):
        name = draw(
            st.sampled_from([temp_name(version), staged_name(version), staged_name(version, folder="_commits")])
        )
        made.append((version, name, Thing(log + name, draw(SIZES), draw(ages()), carried)))
    waiting = tuple(
        WaitingFile(version, name, one.written_at, one.size if draw(st.booleans()) else None)
        for version, name, one in made
    )
    listing = read_listing(
        [listed_object(one.key, one.size, one.written_at) for one in published], log, folders_listed=True
    )
    table = TableInBucket(root.strip("/"), waiting, (), min(written), ranges_of(listing))
    wanted = tuple(draw(st.lists(rules(root, tags=tags, both_sizes=both_sizes), max_size=3)))
    things = (*published, *data, *(one for *_, one in made))
    return World(things, table, {version: one.key for version, _, one in made}, wanted, draw(st.booleans()))


def midnight_from(moment: datetime) -> datetime:
    """The first midnight at which S3 can act on what is due at a moment, with rules that are there now."""
    day = max(moment, NOW)
    floor = day.replace(hour=0, minute=0, second=0, microsecond=0)
    return floor if floor == day else floor + DAY


def of_commit(verdict: BucketVerdict, version: int) -> Iterator[datetime]:
    for one in verdict.deadlines:
        if one.what is AtRisk.UNPUBLISHED and one.version == version and one.at is not None:
            yield midnight_from(one.at)


@given(worlds())
def test_each_waiting_file_goes_at_the_midnight_that_was_told(world: World) -> None:
    verdict, lost = world.judged(), world.lived()

    for held in world.table.waiting:
        told = min(of_commit(verdict, held.version), default=None)
        if held.size is not None:
            assert told == lost[world.waiting[held.version]] or (told and told > NOW + HORIZON * DAY)
        elif (at := lost[world.waiting[held.version]]) is not None:
            assert told is not None
            assert told <= at


@given(worlds(tags=True))
def test_no_needed_file_goes_within_14_days_of_a_green_verdict_nor_ever_a_published_one(world: World) -> None:
    verdict, lost = world.judged(), world.lived()
    assume(verdict.assessment.state is State.HEALTHY)

    waiting = set(world.waiting.values())
    assert [key for key, at in lost.items() if at is not None and key not in waiting] == []
    assert [key for key in waiting if (at := lost[key]) is not None and at - NOW <= 14 * DAY] == []


@given(worlds(tags=True))
def test_whatever_goes_within_a_day_stands_below_unsafe(world: World) -> None:
    verdict, lost = world.judged(), world.lived(2)

    soon = [key for key in world.waiting.values() if (at := lost[key]) is not None and at - NOW <= DAY]
    assert not soon or verdict.assessment.state is State.UNSAFE


@given(worlds(), st.integers(0, 40 * 86_400))
def test_a_verdict_is_judged_again_before_the_clock_makes_it_wrong(world: World, later: int) -> None:
    moment, judged_at = NOW + timedelta(seconds=later), NOW
    while (again := world.judged(judged_at).judge_again_at) is not None and again <= moment:
        assert again > judged_at
        judged_at = again

    kept, fresh = world.judged(judged_at), world.judged(moment)
    assert kept.assessment == fresh.assessment
    assert kept.deadlines == fresh.deadlines


@given(worlds(both_sizes=False))
def test_a_log_that_is_called_reached_does_lose_a_file_by_then_and_not_before(world: World) -> None:
    verdict, lost = world.judged(), world.lived(200)
    told = [one for one in verdict.deadlines if one.what is AtRisk.LOG and one.at is not None]
    log = f"{world.table.log}0"
    gone = [at for key, at in lost.items() if key.startswith(log) and at is not None]

    assert bool(told) == bool(gone)
    if gone:
        assert min(midnight_from(one.at) for one in told if one.at) <= min(gone)
