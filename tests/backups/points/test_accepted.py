"""Commits that only DynamoDB knows: what of them counts as accepted, and which of them a backup restores."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone

from backups import jobs as jobs_of_runs
from backups.points import jobs
from backups.runs.spark_pipeline import SparkPipeline
from coordinator.models import CommitStore, DeltaTable, TableFinding
from coordinator.observation import accepted
from dashboard.connections.accepted import LeftBehind, StoreItem, tables_ahead
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from lake.aws.access import open_lake
from lake.aws.dynamodb import DynamoDB
from lake.aws.errors import AwsError
from lake.delta.facts import ReadingProblem
from lake.delta.names import commit_name
from lake.delta.uri import TableUri
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run, restored
from tests.backups.points.ended_runs import proven as ended
from tests.backups.points.spread import spread_all
from tests.builders.copies import LOG, appended
from tests.builders.delta import (
    EPOCH_MS,
    UUID,
    add,
    commit_bytes,
    commit_info,
    coordinator_commit,
    coordinator_properties,
    incomplete_item,
    log_store_item,
    metadata,
    protocol,
    registration_item,
)

pytestmark = pytest.mark.django_db

OTHER = "00000000-0000-4000-8000-000000000000"


class Stores:
    """A log store and a coordinator of their own beside a backup, declared for the connection of its plan."""

    def __init__(self, backup: Backup) -> None:
        self._backup = backup
        self._prod = Connection.objects.get(name="prod")
        unique = backup.source.removeprefix("source-")
        self.log_store, self.coordinator = f"log-{unique}", f"commits-{unique}"
        self.create(self.log_store, CommitStore.Kind.LOG_STORE, tablePath="HASH", fileName="RANGE")
        self.create(self.coordinator, CommitStore.Kind.COMMIT_COORDINATOR, tableId="HASH")

    def create(self, name: str, kind: CommitStore.Kind, **keys: str) -> None:
        CommitStore.objects.create(connection=self._prod, name=name, kind=kind)
        self._backup.lake.dynamodb(
            "CreateTable",
            TableName=name,
            KeySchema=[{"AttributeName": key, "KeyType": role} for key, role in keys.items()],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
            BillingMode="PAY_PER_REQUEST",
        )

    @property
    def path(self) -> str:
        return f"s3a://{self._backup.source}/t"

    @property
    def properties(self) -> dict[str, str]:
        return coordinator_properties(self.coordinator, self._backup.lake.origin, UUID)

    def put(self, store: str, item: dict[str, Any]) -> None:
        self._backup.lake.dynamodb("PutItem", TableName=store, Item=item)

    def register(self, version: int, staged: dict[str, bytes], **changed: Any) -> None:
        """The registration of the table, which stands at a version and lists these staged files."""
        listed = []
        for key, data in staged.items():
            name = key.rpartition("/")[2]
            number = int(name.partition(".")[0])
            facts = {"fsName": {"S": name}, "fsLength": {"N": str(len(data))}}
            listed.append(coordinator_commit(number, **facts))
        changes = {"path": {"S": self.path}, "commits": {"L": listed}}
        self.put(self.coordinator, registration_item(version, **(changes | changed)))


@pytest.fixture
def stores(backup) -> Stores:
    return Stores(backup)


@pytest.fixture
def proven(backup, prove) -> Callable[[], Any]:
    """Proves the one table of the backup with its plan."""
    return lambda: prove(backup.uri, "--plan", "warehouse-daily")[0]


def body(version: int) -> bytes:
    info = commit_info(in_commit_timestamp=EPOCH_MS + version, timestamp=EPOCH_MS + version)
    return commit_bytes(info, add(f"part-{version}.parquet"))


def temp(version: int, unique: str = UUID) -> str:
    return f"{LOG}.tmp/{commit_name(version)}.{unique}"


def staged(*versions: int, unique: str = UUID) -> dict[str, bytes]:
    return {f"{LOG}_staged_commits/{version:020d}.{unique}.json": body(version) for version in versions}


def part(version: int) -> dict[str, bytes]:
    return {f"t/part-{version}.parquet": b"x" * 500}


def old(backup: Backup, objects: dict[str, bytes], *, copied: bool = True) -> None:
    """At the source for longer than the plan's objective, and where it was copied in the backup."""
    backup.put(objects, copied=False, hours_ago=40)
    if copied:
        backup.put(objects, copied=True)


def coordinated(stores: Stores) -> dict[str, bytes]:
    """A table of versions 0 to 2 whose commits go through the coordinator."""
    features = protocol(3, 7, readerFeatures=[], writerFeatures=["coordinatedCommits-preview", "inCommitTimestamp"])
    first = commit_bytes(commit_info("CREATE TABLE"), features, metadata(properties=stores.properties))
    return appended(range(1, 3)) | {LOG + commit_name(0): first}


def shape(point: Any) -> tuple[Any, ...]:
    return point["state"], point["version"], point["accepted_version"], [one["version"] for one in point["unpublished"]]


@pytest.mark.parametrize(("is_copied", "shown"), [(True, ("proven", 3, 3, [3])), (False, ("behind", 2, 3, []))])
def test_an_accepted_commit_that_is_not_published_counts_from_its_temp_file(backup, stores, proven, is_copied, shown):
    old(backup, appended(range(3)))
    old(backup, {temp(3): body(3)} | part(3), copied=is_copied)
    stores.put(stores.log_store, incomplete_item(3, stores.path))

    point = proven()

    assert shape(point) == shown
    assert point["accepted_at"] is not None
    assert ("accepted and not published" in point["sentence"]) is is_copied
    if is_copied:
        assert point["unpublished"][0]["key"] == temp(3)


def test_an_accepted_commit_is_published_in_its_restore_point(backup, stores):
    old(backup, appended(range(3)))
    old(backup, {temp(3): body(3)} | part(3))
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    [point] = ended(copied_run(backup)).points.all()
    kept = restored(backup, point.proof)
    assert {key: kept[key] for key in kept if LOG in key}.keys() == {LOG + commit_name(version) for version in range(4)}
    assert kept[LOG + commit_name(3)] == body(3)


def test_the_temp_file_of_another_writer_is_not_what_was_accepted(backup, stores, proven):
    old(backup, appended(range(3)))
    old(backup, {temp(3, OTHER): body(3)} | part(3))
    old(backup, {temp(3): body(3)}, copied=False)
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    assert shape(proven()) == ("behind", 2, 3, [])


def test_a_temp_file_that_no_entry_names_was_not_accepted(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    assert shape(proven()) == ("proven", 2, 2, [])


def test_an_accepted_commit_whose_file_is_gone_leaves_the_newest_version_unknown(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3, OTHER): body(3)})
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "its temp file is gone" in point["sentence"]


def test_where_no_store_knows_the_table_it_is_not_known_whether_a_file_waits(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "no DynamoDB table that Levee asks holds an entry of this table" in point["sentence"]


def refuse_store(monkeypatch: pytest.MonkeyPatch, store: str) -> None:
    ask = DynamoDB.ask

    def refuse(self: DynamoDB, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("TableName") == store:
            raise AwsError("AccessDeniedException", "it said", operation=operation, target=given["TableName"])
        return ask(self, operation, given)

    monkeypatch.setattr(DynamoDB, "ask", refuse)


@pytest.mark.parametrize(("store", "state"), [("log_store", "unprovable"), ("other", "unprovable"), ("none", "proven")])
def test_a_log_store_that_may_not_be_read_leaves_it_unknown(backup, stores, proven, monkeypatch, store, state):
    other = Connection.objects.get(name="prod").stores.create(name="other", kind=CommitStore.Kind.LOG_STORE)
    old(backup, appended(range(3)) | {temp(3): body(3)} | part(3))
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    refuse_store(monkeypatch, {"log_store": stores.log_store, "other": other.name, "none": ""}[store])
    assert shape(proven())[0] == state


def test_a_coordinator_that_may_not_be_read_leaves_it_unknown(backup, stores, proven, monkeypatch):
    old(backup, coordinated(stores) | staged(3) | part(3))
    stores.register(3, staged(3))
    refuse_store(monkeypatch, stores.coordinator)
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "AccessDenied" in point["sentence"]


def test_a_file_of_another_size_than_was_accepted_is_not_it(backup, stores, proven):
    old(backup, coordinated(stores) | staged(3) | part(3))
    stores.register(3, {name: data + b" " for name, data in staged(3).items()})
    assert shape(proven()) == ("unprovable", 2, None, [])


def test_of_two_stores_that_accepted_one_version_neither_is_believed(backup, stores, proven):
    second = f"second-{stores.log_store}"
    stores.create(second, CommitStore.Kind.LOG_STORE, tablePath="HASH", fileName="RANGE")
    old(backup, appended(range(3)) | {temp(3): body(3), temp(3, OTHER): body(3)} | part(3))
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    name = f".tmp/{commit_name(3)}.{OTHER}"
    stores.put(second, incomplete_item(3, stores.path, tempPath={"S": name}))
    assert shape(proven()) == ("unprovable", 2, None, [])


def without(reading: Any, **facts: Any) -> Any:
    return replace(reading, facts=replace(reading.facts, **facts))


@pytest.mark.parametrize(
    "changed",
    [
        lambda reading: replace(reading, has_moved=True),
        lambda reading: without(reading, protocol=None),
        lambda reading: without(reading, problems=(ReadingProblem("2.json", "It is cut."),)),
    ],
)
def test_a_reading_that_is_not_whole_leaves_it_unknown(backup, stores, proven, monkeypatch, changed):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    look = accepted.read_table
    monkeypatch.setattr(accepted, "read_table", lambda *asked, **how: changed(look(*asked, **how)))
    assert shape(proven()) == ("unprovable", 2, None, [])


def test_what_a_dropped_table_left_in_a_store_is_no_commit_of_what_lies_there_now(backup, stores, proven):
    old(backup, {temp(0): body(0), temp(1): body(1)})
    for version in (0, 1):
        stores.put(stores.log_store, log_store_item(version, stores.path))
    point = proven()
    assert (point["state"], point["unpublished"]) == ("unprovable", [])


@pytest.mark.parametrize(("copied", "shown"), [([3, 4], ("proven", 4, 4, [3, 4])), ([3], ("behind", 3, 4, [3]))])
def test_commits_that_wait_to_be_backfilled_count_from_their_staged_files(backup, stores, proven, copied, shown):
    old(backup, coordinated(stores) | part(3) | part(4))
    for version in (3, 4):
        old(backup, staged(version), copied=version in copied)
    stores.register(4, staged(3, 4))

    assert shape(proven()) == shown


def test_what_is_claimed_of_staged_files_opens_once_they_are_put_into_the_log(backup, stores, proven, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    old(backup, coordinated(stores) | part(3) | part(4) | staged(3, 4) | staged(5, unique=OTHER))
    stores.register(4, staged(3, 4))
    point = proven()

    for key, _ in backup.lake.list(backup.vault, "pool/"):
        file = tmp_path / key.removeprefix("pool/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(backup.lake.get(backup.vault, key))
    for one in point["unpublished"]:
        (tmp_path / LOG / commit_name(one["version"])).write_bytes((tmp_path / one["key"]).read_bytes())

    table = deltalake.DeltaTable(tmp_path / "t")
    assert (table.version(), point["version"], point["state"]) == (4, 4, "proven")
    assert {one.rpartition("/")[2] for one in table.file_uris()} == {
        f"part-{version}.parquet" for version in range(1, 5)
    }


def test_a_staged_file_that_the_registration_does_not_list_was_not_accepted(backup, stores, proven):
    old(backup, coordinated(stores) | staged(3))
    stores.register(2, {})
    assert shape(proven()) == ("proven", 2, 2, [])


def test_without_its_registration_it_is_not_known_what_a_table_has_accepted(backup, stores, proven):
    old(backup, coordinated(stores) | staged(3))
    assert shape(proven())[0] == "unprovable"


@pytest.mark.parametrize(
    ("version", "listed", "changed"),
    [
        (4, [3, 4], {"schemaVersion": {"N": "2"}}),
        (4, [3, 4], {"hasAcceptedCommits": {"S": "true"}}),
        (4, [3, 4], {"hasAcceptedCommits": {"BOOL": False}}),
        (4, [3, 4], {"tableVersion": {"S": "4"}}),
        (5, [3, 4], {}),  # it has accepted a version that it does not list
        (5, [3, 4, 5], {}),  # the file of the last one is gone
        (4, [], {}),  # its list was cleared too early
        (1, [], {}),  # it was put back from an older copy
    ],
)
def test_a_registration_that_does_not_tell_all_is_believed_in_nothing(backup, stores, proven, version, listed, changed):
    old(backup, coordinated(stores) | staged(3, 4) | part(3) | part(4))
    stores.register(version, staged(*listed), **changed)
    assert shape(proven()) == ("unprovable", 2, None, [])


def test_entries_of_old_alone_do_not_tell_where_new_ones_are(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(1, stores.path))
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "No entry of version 2 was found" in point["sentence"]


def test_what_an_earlier_table_left_in_its_place_is_not_claimed(backup, stores, proven):
    old(backup, {temp(version): body(version) for version in range(4)} | part(2) | part(3))
    for version in range(4):
        stores.put(stores.log_store, log_store_item(version, stores.path))
    old(backup, appended(range(2)))
    assert shape(proven()) == ("unprovable", 1, None, [])


def test_a_temp_file_that_is_older_than_the_version_before_it_is_not_claimed(backup, stores, proven):
    backup.put_both({temp(2): body(2)} | part(2))
    backup.put({temp(2): body(2)}, copied=False, hours_ago=50)
    old(backup, appended(range(2)))
    stores.put(stores.log_store, incomplete_item(2, stores.path))
    assert shape(proven()) == ("unprovable", 1, None, [])


@pytest.mark.parametrize(
    ("connection", "fields", "said"),
    [
        ("prod", {"state": "unsafe", "summary": "Version 3 has vanished."}, "Version 3 has vanished."),
        ("prod", {"state": "blocked"}, "Something is wrong"),
        ("prod", {"state": "pending", "published_version": 2, "accepted_version": 3}, "An earlier look saw"),
        ("elsewhere", {"state": "healthy"}, "Another connection holds the table too"),
    ],
)
def test_what_earlier_looks_know_of_the_table_counts(backup, stores, proven, connection, fields, said):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    of_its_s3 = {"region": "eu-west-1", "endpoint_url": backup.lake.origin}
    row, _ = Connection.objects.get_or_create(name=connection, defaults=of_its_s3)
    DeltaTable.objects.create(connection=row, bucket=backup.source, prefix="t", uri=stores.path, name="t", **fields)
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert said in point["sentence"]


def seen(backup: Backup, published: int, accepted: int, connection: str = "prod", endpoint: str = "") -> DeltaTable:
    """What the last look of a connection saw of the table."""
    of, _ = Connection.objects.get_or_create(
        name=connection, defaults={"region": "eu-west-1", "endpoint_url": endpoint or backup.lake.origin}
    )
    versions = {"published_version": published, "accepted_version": accepted, "state": "blocked", "summary": "Lost."}
    place = {"bucket": backup.source, "prefix": "t", "uri": f"s3a://{backup.source}/t", "name": "t"}
    return DeltaTable.objects.create(connection=of, **place, **versions)


def vanished(table: DeltaTable, version: int) -> None:
    """As a look tells it that finds neither files nor an entry of what was seen accepted."""
    facts = {"state": "unsafe", "state_rank": 1, "severity": "critical", "opened_at": timezone.now()}
    TableFinding.objects.create(table=table, code="vanished", version=version, seen_at=timezone.now(), **facts)


@pytest.mark.parametrize("connection", ["prod", "elsewhere"])
@pytest.mark.parametrize(("hours_ago", "state"), [(40, "unprovable"), (1, "proven")])
def test_a_commit_whose_files_are_all_gone_is_missed(backup, stores, proven, connection, hours_ago, state):
    """Of a version that nothing in S3 names, it is known only that it came after the one before it."""
    backup.put(appended(range(3)), copied=True)
    backup.put(appended(range(3)), copied=False, hours_ago=hours_ago)
    stores.put(stores.log_store, log_store_item(3, stores.path))
    assert shape(proven()) == ("proven", 2, 2, []), "nobody has looked at its stores"
    seen(backup, 2, 3, connection)
    last = backup.boto().head_object(Bucket=backup.source, Key=f"{LOG}{commit_name(2)}")["LastModified"]
    point = proven()
    assert shape(point) == (state, 2, None, [])
    assert "More was accepted, or may have been" in point["sentence"]
    assert datetime.fromisoformat(point["holds_until"]) == last
    [kept] = ended(copied_run(backup)).points.all()
    assert (kept.state, kept.accepted_version, kept.holds_until) == (state, None, last)
    assert datetime.fromisoformat(kept.moments[-1][1]) == last


def test_a_commit_that_was_seen_to_vanish_is_missed_when_its_entry_has_expired(backup, stores, proven):
    old(backup, appended(range(3)))
    stores.put(stores.log_store, log_store_item(2, stores.path))
    table = seen(backup, 2, 2)
    assert shape(proven()) == ("proven", 2, 2, [])
    vanished(table, 3)
    assert shape(proven()) == ("unprovable", 2, None, [])
    TableFinding.objects.update(resolved_at=timezone.now())
    assert shape(proven()) == ("proven", 2, 2, [])


def test_what_is_lost_may_have_been_accepted_when_the_version_before_it_was(backup, stores, proven):
    """That one was published long after it was accepted."""
    backup.put(appended(range(3)), copied=True)
    backup.put(appended(range(3)), copied=False, hours_ago=1)
    backup.put({temp(2): body(2)}, copied=False, hours_ago=60)
    backup.put({f"{LOG}_commit_{UUID}.json.tmp": b"{}"}, copied=False, hours_ago=90)  # deltalake's, of any version
    seen(backup, 2, 3)
    point = proven()
    waited = backup.boto().head_object(Bucket=backup.source, Key=temp(2))["LastModified"]
    assert shape(point) == ("unprovable", 2, None, [])
    assert datetime.fromisoformat(point["holds_until"]) == waited


@pytest.mark.parametrize("looked", [(3, "prod"), (3, "elsewhere"), (9, "in another S3")])
def test_what_a_look_saw_counts_as_long_as_the_log_does_not_show_it(backup, stores, proven, looked):
    """The entry of version 3 has expired."""
    old(backup, appended(range(4)))
    endpoint = "http://127.0.0.1:9" if looked[1] == "in another S3" else ""
    vanished(seen(backup, 2, looked[0], looked[1], endpoint), looked[0])
    assert shape(proven()) == ("proven", 3, 3, [])


def test_a_table_of_that_name_in_another_s3_is_another_table(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)} | part(3))
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    seen(backup, 2, 3, "in another S3", "http://127.0.0.1:9")
    assert shape(proven()) == ("proven", 3, 3, [3])


def test_stores_are_asked_of_no_other_table(backup, stores):
    prod = Connection.objects.get(name="prod")
    of = {"connection": prod, "bucket": backup.source}
    for name, published, is_accepted in (("behind", 2, 3), ("level", 3, 3), ("never", None, 0), ("empty", None, None)):
        versions = {"published_version": published, "accepted_version": is_accepted}
        DeltaTable.objects.create(**of, prefix=name, uri=f"s3a://{backup.source}/{name}", name=name, **versions)
    assert tables_ahead(prod, backup.source) == {"behind": 3, "never": 0}
    assert tables_ahead(prod, backup.vault) == {}


def test_of_many_tables_those_that_were_seen_ahead_are_not_left_to_spark(backup, stores, monkeypatch):
    for below in ("", "a/", "z/"):
        backup.put_both(appended(range(3)), below=below)
    backup.put(appended(range(3)), copied=False, hours_ago=40)
    seen(backup, 2, 3)
    spread_all(monkeypatch, backup)
    prove, by_spark = SparkPipeline.prove, list[str]()

    def noting(self: SparkPipeline, wanted: Any, roots: Any) -> Any:
        by_spark.extend(roots)
        return prove(self, wanted, roots)

    monkeypatch.setattr(SparkPipeline, "prove", noting)
    run = ended(copied_run(backup, ["t", "a/t", "z/t"]))
    told = {point.table.removeprefix(f"s3a://{backup.source}/"): point.state for point in run.points.all()}
    assert told == {"t": "unprovable", "a/t": "proven", "z/t": "proven"}
    assert (run.state, by_spark) == ("complete_with_gaps", ["a/t", "z/t"])


def test_a_store_that_is_declared_as_what_it_is_not_leaves_it_unknown(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    keys = {"key_schema": [["tablePath", "HASH", "S"], ["fileName", "RANGE", "S"]]}
    CommitStore.objects.filter(name=stores.coordinator).update(facts=keys)
    assert shape(proven()) == ("unprovable", 2, None, [])


def test_a_table_whose_path_ends_in_a_slash_is_not_asked_for_under_its_neighbour_s(backup, stores):
    old(backup, {key.replace("t/", "t//", 1): data for key, data in (appended(range(3)) | {temp(3): body(3)}).items()})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    [point] = ended(copied_run(backup, ["t/"])).points.all()
    assert (point.state, point.version) == ("unprovable", 2)


def test_a_commit_of_an_earlier_table_in_the_pool_is_not_taken_for_what_was_accepted(backup, stores, proven):
    old(backup, appended(range(3)))
    old(backup, {temp(3): body(3)} | part(3), copied=False)
    backup.put({LOG + commit_name(3): body(3)}, copied=True)
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    assert shape(proven()) == ("behind", 2, 3, [])


def test_a_commit_that_is_published_between_the_two_looks_leaves_it_unknown(backup, stores, proven, monkeypatch):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    whole = jobs.accepted_reader

    def reader(*given: Any) -> Any:
        read = whole(*given)

        def late(uri: Any) -> Any:
            backup.put({LOG + commit_name(3): body(3)}, copied=False)
            stores.put(stores.log_store, log_store_item(3, stores.path))
            return read(uri)

        return late

    monkeypatch.setattr(jobs, "accepted_reader", reader)
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert "Its log was read twice, and differed." in point["sentence"]


def test_a_run_keeps_what_is_accepted_and_not_published_with_its_point(backup, stores):
    old(backup, coordinated(stores) | staged(3) | part(3))
    stores.register(3, staged(3))
    [point] = ended(copied_run(backup)).points.all()
    assert (point.state, point.version, point.unpublished) == (
        "proven",
        3,
        [{"version": 3, "key": f"{LOG}_staged_commits/{3:020d}.{UUID}.json"}],
    )


def test_a_run_whose_plan_may_not_ask_the_stores_ends_and_says_why(backup, stores, monkeypatch):
    old(backup, coordinated(stores) | staged(3) | part(3))
    stores.register(3, staged(3))
    opened = iter([jobs_of_runs.open_lake])

    def open_once(*given: Any, **more: Any) -> Any:
        try:
            return next(opened)(*given, **more)
        except StopIteration:
            raise AwsError("AccessDenied", "no role", operation="sts:AssumeRole", target="levee") from None

    monkeypatch.setattr(jobs_of_runs, "open_lake", open_once)
    run = ended(copied_run(backup))
    [point] = run.points.all()
    assert (run.state, point.state) == ("complete_with_gaps", "unprovable")
    assert "AccessDenied" in point.sentence


def test_what_stores_have_of_a_path_is_found_in_each_spelling(backup: Backup) -> None:
    stores = Stores(backup)
    prod, uri = Connection.objects.get(name="prod"), TableUri.parse(f"s3a://{backup.source}/new t")
    with open_lake(lake_access(prod)) as lake:
        assert accepted.left_at(prod, lake, uri) == LeftBehind()
        item = log_store_item(0, table_path=f"s3://{backup.source}/new%20t/")
        stores.put(stores.log_store, item)
        assert accepted.left_at(prod, lake, uri) == LeftBehind((StoreItem(stores.log_store, item),))
        backup.lake.dynamodb("DeleteTable", TableName=stores.log_store)
        [said] = accepted.left_at(prod, lake, uri).not_known
        assert said.startswith(f"What {stores.log_store} has of this path is not known: ")
