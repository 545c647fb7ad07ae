"""One bucket seen by connections of two regions, each with a DynamoDB of its own."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import boto3
import pytest

from changes.plan import ChangePlan
from coordinator.models import CommitStore, DeltaTable, ProvenanceRow, Watch
from coordinator.observation.elsewhere import held_elsewhere
from coordinator.observation.passes import observe_connection, survey_for_one_table, target_of
from coordinator.repairs.planning import plan_repairs
from coordinator.repairs.reading import read_for_repair
from dashboard.connections.models import Connection
from lake.aws.access import Access, Lake, open_lake
from lake.delta.facts import LockDomain
from lake.delta.uri import TableUri
from tests.builders.delta import add, commit_bytes, commit_info
from tests.builders.lake import NOW, make_connection, make_entry, make_store, make_table, store_facts
from tests.builders.moto_lake import MotoLake
from tests.lake.aws.conftest import KEYS

ROOT = "sales/orders"
OTHER_REGION = "eu-west-1"


@dataclass
class Region:
    """A connection to another region: the same S3, and a log store of the same name in another DynamoDB."""

    connection: Connection
    lake: Lake
    written: MotoLake

    def observe(self) -> DeltaTable:
        observe_connection(self.connection, self.lake, threads=2, in_full=True)
        return DeltaTable.objects.get(connection=self.connection)

    def plans(self) -> list[ChangePlan]:
        uri = TableUri.parse(self.written.uri(ROOT))
        facts = read_for_repair(
            self.lake,
            survey_for_one_table(self.connection, self.lake),
            target_of(self.connection, uri),
            datetime.now(UTC),
        )
        return [one for one in plan_repairs(facts) if isinstance(one, ChangePlan)]


@pytest.fixture
def here(connection, lake, written) -> Region:
    return Region(connection, lake, written)


@pytest.fixture
def there(endpoint, written, here) -> Iterator[Region]:
    connection = Connection.objects.create(name="prod-eu", region=OTHER_REGION, endpoint_url=endpoint)
    Watch.objects.create(connection=connection, uri=f"s3a://{written.bucket}/")
    CommitStore.objects.create(connection=connection, name=written.log_store, kind=CommitStore.Kind.LOG_STORE)
    dynamodb = boto3.client("dynamodb", endpoint_url=endpoint, **{**KEYS, "region_name": OTHER_REGION})
    access = Access(OTHER_REGION, endpoint_url=endpoint, static_credentials=("sandbox", "sandbox"))
    with open_lake(access) as opened:
        yield Region(connection, opened, MotoLake(written.s3, dynamodb, written.bucket))


def codes(table: DeltaTable) -> set[str]:
    return set(table.findings.filter(resolved_at=None).values_list("code", flat=True))


def test_an_entry_of_another_region_is_noticed_although_nothing_here_has_changed(here, there):
    here.written.table(ROOT, 3, log_store=True)
    here.observe()
    there.written.pending(ROOT, 3)
    there.observe()

    observe_connection(here.connection, here.lake, threads=2)

    assert DeltaTable.objects.get(connection=here.connection).state == "unsafe"


def test_nothing_is_done_about_a_log_store_while_another_region_holds_entries(here, there):
    here.written.table(ROOT, 3, log_store=True)
    here.written.pending(ROOT, 3)
    assert here.observe().findings.get(code="C2").repairs == ["publish-commit"]
    assert [plan.kind for plan in here.plans()] == ["publish-commit"]
    there.written.entry(ROOT, 1)
    there.observe()

    assert here.plans() == []
    assert here.observe().findings.get(code="C2", resolved_at=None).repairs == []


def test_a_table_that_another_region_guards_is_not_called_safe_for_one_driver(here, there):
    here.written.table(ROOT, 3, log_store=True)
    here.observe()

    table = there.observe()

    assert (table.mechanism, table.state, codes(table)) == ("single_driver", "not_checked", {"guarded-elsewhere"})


OWN_ARN = "arn:aws:dynamodb:eu-west-1:111122223333:table/delta_log"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("other", "arn", "is_elsewhere"),
    [
        pytest.param({"region": "us-east-1"}, OWN_ARN.replace("eu-west", "us-east"), True, id="region"),
        pytest.param({"region": "us-east-1"}, "", True, id="region by name"),
        pytest.param({}, OWN_ARN.replace("111122223333", "444455556666"), True, id="account"),
        pytest.param({}, OWN_ARN, False, id="the same"),
        pytest.param({}, "", False, id="the same by name"),
        pytest.param({"region": "cn-north-1"}, "arn:aws-cn:dynamodb:cn-north-1:1:table/x", False, id="another AWS"),
        pytest.param({"endpoint_url": "http://127.0.0.1:1"}, "arn:aws:dynamodb:x:1:table/x", False, id="another S3"),
        pytest.param({"dynamodb_endpoint_url": "http://127.0.0.1:1"}, OWN_ARN, True, id="DynamoDB"),
    ],
)
def test_another_store_of_the_same_s3_is_elsewhere(other, arn, is_elsewhere):
    own = make_connection("own")
    make_table(connection=own, store=make_store(connection=own))
    connection = make_connection("other", **other)
    store = make_store(connection=connection, facts=store_facts(arn=arn))
    table = make_table(connection=connection)
    make_entry(table, 7, store=store)
    make_entry(make_table("s3a://lake/gone", connection=connection, gone_at=NOW), 7, store=store)

    found = held_elsewhere(own)

    uri = TableUri.parse(table.uri)
    assert held_elsewhere(own, uri) == found
    held = {place: [(one.connection, one.domain, one.newest) for one in all_of] for place, all_of in found.items()}
    domain = LockDomain("delta_log", table.uri)
    assert held == ({("lake", "sales/orders"): [("other", domain, 7)]} if is_elsewhere else {})


@pytest.mark.django_db
def test_entries_elsewhere_are_as_old_as_the_last_look_at_their_table():
    own, other = make_connection("own"), make_connection("other", region="us-east-1")
    make_table(connection=own, store=make_store(connection=own))
    store = make_store(connection=other, facts={})
    looked, later = NOW - timedelta(minutes=1), int(NOW.timestamp()) + 60
    table = make_table(connection=other, observed_at=looked)
    make_entry(table, 6, store=store, observed_at=NOW - timedelta(days=30), expire_time=later)
    make_entry(table, 7, store=store, observed_at=NOW - timedelta(days=20), expire_time=None, complete=False)

    [held] = held_elsewhere(own)["lake", "sales/orders"]

    assert (held.newest, held.read_at, held.expires_at) == (7, looked, later)


HERE, THERE = "arn:aws:iam::111122223333:role/levee", "arn:aws:iam::444455556666:role/levee"
DESCRIBED = store_facts(arn=OWN_ARN)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("own_role", "own_facts", "role", "is_elsewhere"),
    [
        pytest.param(HERE, {}, THERE, True, id="two accounts"),
        pytest.param(HERE, {}, HERE, False, id="one account"),
        pytest.param("", {}, THERE, False, id="own account unknown"),
        pytest.param("", DESCRIBED, THERE, True, id="another account than the one described"),
        pytest.param(THERE, DESCRIBED, THERE, True, id="a description goes before a role"),
        pytest.param("levee", {}, "role", False, id="roles that name no account"),
    ],
)
def test_a_store_that_could_not_be_described_is_told_by_the_account_of_its_role(
    own_role, own_facts, role, is_elsewhere
):
    own, other = make_connection("own", role_arn=own_role), make_connection("other", role_arn=role)
    make_store(connection=own, facts=own_facts)
    make_entry(make_table(connection=other), 7, store=make_store(connection=other, facts={}))

    assert bool(held_elsewhere(own)) is is_elsewhere


def accepted_in_both_regions(here: Region, there: Region) -> None:
    """3.json is the commit that `here` accepted; `there` accepted another. Both looked; TTL took the other entry."""
    bodies = {name: commit_bytes(commit_info(name), add(f"{name}.parquet")) for name in ("here", "there")}
    for version in range(3):
        here.written.commit(ROOT, version)
    here.written.commit(ROOT, 3, bodies["here"])
    for name, region in (("here", here), ("there", there)):
        here.written.put(f"{ROOT}/_delta_log/{temp(name)}", bodies[name])
        region.written.entry(ROOT, 3, tempPath={"S": temp(name)}, expireTime={"N": str(int(time.time()) + 86_400)})
    here.observe(), there.observe()
    expire(there)


def temp(name: str) -> str:
    return f".tmp/{3:020d}.json.{name}"


def expire(region: Region, version: int = 3) -> None:
    region.written.drop_entries(ROOT, version)


def test_a_version_that_two_regions_gave_away_is_unsafe_in_both_after_ttl_has_taken_the_entries(here, there):
    accepted_in_both_regions(here, there)
    expire(here)

    seen = [region.observe() for region in (here, there, here)]

    assert [table.state for table in seen] == ["unsafe"] * 3
    assert all("accepted-twice" in codes(table) for table in seen)
    rows = ProvenanceRow.objects.filter(version=3).order_by("region")
    assert [(row.region, row.file_name, row.rivals) for row in rows] == [
        (OTHER_REGION, temp("there"), None),
        ("us-east-1", temp("here"), None),
    ]


def test_a_table_is_read_again_for_what_another_region_has_learned_since(here, there):
    accepted_in_both_regions(here, there)
    expire(here)
    there.observe()
    target = target_of(here.connection, TableUri.parse(here.written.uri(ROOT)))
    alone = replace(target, rows_elsewhere=())
    DeltaTable.objects.filter(connection=there.connection).update(accepted_version=4)
    later = target_of(here.connection, TableUri.parse(here.written.uri(ROOT)))

    assert alone.marked("seen") == "seen"
    assert len({one.marked("seen") for one in (alone, target, later)}) == 3


@pytest.mark.usefixtures("young_count_as_old")
def test_a_temp_file_that_another_region_was_seen_to_accept_is_not_removed(here, there):
    accepted_in_both_regions(here, there)
    there.observe(), here.observe()
    DeltaTable.objects.filter(connection=there.connection).update(lock_domains=[])

    assert [plan for plan in here.plans() if plan.kind == "remove-orphans"] == []
