"""Real writers and readers before an IAM that knows their policy alone: it suffices, and nothing of it is to spare."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from coordinator.coordination.checks import Operation
from coordinator.coordination.least_policies import AccessKind, PolicyPlace, WriterEngine, least_statements
from coordinator.models import Watch
from coordinator.settings.iam import policy_document
from coordinator.settings.iam_features import feature_policies
from coordinator.settings.iam_names import names_of
from dashboard.jobs.models import JobState
from lake.delta.facts import Mechanism
from sandbox.client import REGION, Client, ClientError
from sandbox.ground import DELTA_COMMITS, DELTA_LOG
from sandbox.log_store_writer import LogStoreTable, Step
from sandbox.spark_tables import SparkLake, delta_path
from tests.conformance.console import Console, SparkOfLevee
from tests.conformance.coordinated import Coordinated
from tests.conformance.old_deltalake import OldDeltalake, OldDeltalakeError
from tests.iam.evaluating import Asked, actions_of, allows, refused, resources_of, without
from tests.iam.recording import ACCOUNT, OWN, Recorder, recording

pytestmark = pytest.mark.spark

BUCKET = "least-policies"
MUCH = 400_000
"""Rows of numbers at random: more than one part of an upload in parts of 5 MB, if not by much."""


@dataclass
class Wire:
    """What stands before S3 and DynamoDB, and what it lets through."""

    s3: Recorder
    dynamodb: Recorder
    client: Client

    def enforce(self, document: dict[str, Any]) -> None:
        """From now on nothing passes that the policy does not allow; what was asked until now is forgotten."""
        for one in (self.s3, self.dynamodb):
            one.denies = lambda asked: not allows(document, asked)
            one.forget()

    def relax(self) -> None:
        for one in (self.s3, self.dynamodb):
            one.denies = lambda asked: False

    def asks(self) -> list[Asked]:
        return [*self.s3.asks(), *self.dynamodb.asks()]

    @property
    def denied(self) -> list[str]:
        return sorted({str(one) for one in (*self.s3.denied, *self.dynamodb.denied)})


@pytest.fixture
def wire(stores: Client) -> Iterator[Wire]:
    with ExitStack() as stack:
        s3 = stack.enter_context(recording(stores.origin))
        dynamodb = stack.enter_context(recording(stores.dynamodb_origin))
        yield Wire(s3, dynamodb, Client(s3.origin, dynamodb_origin=dynamodb.origin))


@pytest.fixture
def spark(wire: Wire, lake: SparkLake, ground: Client, key: str) -> SparkLake:
    """The session of Spark, whose S3A goes to a bucket of this test's own by way of the wire."""
    bucket = bucket_of(key)
    ground.create_bucket(bucket)
    conf = lake.spark._jsc.hadoopConfiguration()
    conf.set(f"fs.s3a.bucket.{bucket}.endpoint", wire.s3.origin)
    for name in ("multipart.size", "multipart.threshold"):
        conf.set(f"fs.s3a.bucket.{bucket}.{name}", "5M")
    lake.spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    return SparkLake(lake.spark, wire.client)


def bucket_of(key: str) -> str:
    return f"{BUCKET}-{key.rpartition('/')[2]}"


def policy(
    mechanism: Mechanism, kind: AccessKind, engine: WriterEngine, bucket: str, prefix: str, **more: Any
) -> dict[str, Any]:
    store = {Mechanism.LOG_STORE: DELTA_LOG, Mechanism.COORDINATED_COMMITS: DELTA_COMMITS}.get(mechanism, "")
    place = PolicyPlace("aws", REGION, ACCOUNT, bucket, prefix, store=store, **more)
    return policy_document(least_statements(mechanism, kind, engine, place))


def assert_least(document: dict[str, Any], asked: list[Asked]) -> None:
    """All that was asked is allowed, and without any one action, or any one resource, something of it is not."""
    assert refused(document, asked) == []
    assert {one for one in actions_of(document) if not refused(without(document, one), asked)} == set()
    assert {one for one in resources_of(document) if not refused(without(document, one), asked)} == set()


def do_all_that_a_writer_does(table: Coordinated, wire: Wire) -> None:
    """Commits up to a checkpoint, an upload in parts, one that fails amid its parts, a delete, and a VACUUM."""
    table.append(11)
    spark, where = table.lake.spark, delta_path(table.uri)
    much = f"INSERT INTO {where} SELECT CAST(rand() * 9e18 AS BIGINT) AS id FROM range(0, 4 * {MUCH}, 1, 1)"  # noqa: S608
    spark.sql(much)
    wire.s3.refuse = lambda method, query: method == "PUT" and "partNumber=2" in query
    with pytest.raises(Exception, match="TASK_WRITE_FAILED"):
        spark.sql(much)
    wire.s3.refuse = lambda method, query: False
    spark.sql(f"DELETE FROM {where} WHERE id = 3")  # noqa: S608 - quoted
    spark.range(5).write.format("delta").mode("append").save(table.uri)
    spark.sql(f"VACUUM {where} RETAIN 0 HOURS")


def reads(table: Coordinated) -> int:
    table.forget()
    assert table.lake.spark.read.format("delta").load(table.uri).where("id < 20").count() > 0
    table.forget()
    return int(table.lake.sql(f"SELECT count(*) FROM {delta_path(table.uri)} WHERE id < 20")[0][0])  # noqa: S608


def test_spark_writes_and_reads_a_coordinated_table_with_its_least_policy(
    spark: SparkLake, wire: Wire, key: str
) -> None:
    table = Coordinated(spark, bucket_of(key), f"dir/{key}")
    table.create()
    ids = (table.item()["tableId"]["S"],)
    of = (Mechanism.COORDINATED_COMMITS, WriterEngine.SPARK)
    writer = policy(of[0], AccessKind.WRITER, of[1], table.bucket, table.key, lock_keys=ids)
    table.forget()

    wire.enforce(writer)
    do_all_that_a_writer_does(table, wire)
    assert_least(writer, wire.asks())
    assert wire.denied == []

    reader = policy(of[0], AccessKind.READER, of[1], table.bucket, table.key, lock_keys=ids)
    versions = len(table.published())
    wire.enforce(reader)
    assert reads(table) == 11 * 19 + 5
    assert_least(reader, wire.asks())
    assert wire.denied == []
    with pytest.raises(Exception, match=r"(?i)access"):
        table.append()
    wire.relax()
    assert int(table.item()["tableVersion"]["N"]) == versions - 1


def test_spark_makes_new_tables_in_a_folder_with_the_least_policy_of_the_folder(
    spark: SparkLake, wire: Wire, key: str
) -> None:
    of = (AccessKind.WRITER, WriterEngine.SPARK, bucket_of(key), "dir/folder")
    coordinated = policy(Mechanism.COORDINATED_COMMITS, *of, is_table=False)
    plain = policy(Mechanism.SINGLE_DRIVER, *of, is_table=False)
    spark.client.put(of[2], "dir/folder/other/_delta_log/0.json", b"{}")

    for name, document in (("new", coordinated), ("plain", plain)):
        wire.enforce(document)
        table = Coordinated(spark, bucket_of(key), f"dir/folder/{name}")
        table.create(coordinated=document is coordinated)
        table.append()
        assert wire.denied == []
        asked = wire.asks()
        assert refused(document, asked) == []
        of_items = {one for one in actions_of(document) if one.startswith("dynamodb:")}
        assert {one for one in of_items if not refused(without(document, one), asked)} == set()


@pytest.mark.parametrize("mechanism", [Mechanism.LOG_STORE, Mechanism.SINGLE_DRIVER])
def test_delta_rs_writes_and_reads_with_its_least_policy(wire: Wire, key: str, mechanism: Mechanism) -> None:
    uri, of = f"s3a://conformance/rs/{key}", (WriterEngine.DELTA_RS, "conformance", f"rs/{key}")
    locks = {"lock_keys": (uri,)} if mechanism is Mechanism.LOG_STORE else {}
    writer = policy(mechanism, AccessKind.WRITER, *of, **locks)
    reader = policy(mechanism, AccessKind.READER, *of, **locks)
    old = OldDeltalake(wire.client, locks=mechanism is Mechanism.LOG_STORE)
    wire.enforce(writer)
    for rows in (5, 5, 3_000_000):
        old.append(uri, rows)
    old.conflict(uri)
    old.vacuum(uri)
    wire.s3.refuse = lambda method, query: method == "PUT" and "partNumber=2" in query
    with pytest.raises(OldDeltalakeError):
        old.append(uri, 3_000_000)
    wire.s3.refuse = lambda method, query: False
    assert wire.denied == []
    assert_least(writer, wire.asks())

    wire.enforce(reader)
    assert old.read(uri).rows > 0
    assert wire.denied == []
    assert_least(reader, wire.asks())
    with pytest.raises(OldDeltalakeError):
        old.append(uri, 1)


def test_levee_rehearses_enables_and_drops_with_the_policies_of_its_features(
    wire: Wire, lake: SparkLake, spark_of_levee: SparkOfLevee, settings: Any, db: None, key: str
) -> None:
    """Its own requests and those of its Spark, through an IAM that knows observing and the one feature."""
    table = Coordinated(lake, "conformance", key)
    table.create(coordinated=False)
    settings.ALLOWED_ENDPOINTS = [wire.s3.origin, wire.dynamodb.origin]
    console = Console(wire.client)
    Watch.objects.create(connection=console.connection, uri="s3a://conformance/tables/")
    console.observe(table.uri)

    acts = (
        (lambda uri: console.rehearse(Operation.ENABLE, uri), "rehearse-coordination"),
        (console.enable, "enable-coordination"),
        (lambda uri: console.rehearse(Operation.DROP, uri), "rehearse-coordination"),
        (console.drop, "drop-coordination"),
    )
    for act, feature in acts:
        policies = {one.feature: one for one in feature_policies(names_of(console.connection, ACCOUNT))}
        document = policy_document((*policies["observe"].grants, *policies[feature].grants))
        wire.enforce(document)
        assert act(table.uri).state == JobState.SUCCEEDED
        # Above a new table Delta looks for one around it, up to the bucket's root; a refusal counts as none.
        around = "s3:GetObject on arn:aws:s3:::conformance/_delta_log " if feature.startswith("rehearse") else "-"
        assert [one for one in wire.denied if not str(one).startswith(around)] == []
        assert {"dynamodb:UpdateItem", "dynamodb:PutItem"} & {one.action for one in wire.asks()}


def described(store: str) -> Asked:
    """`tryEnsureTableExists` of `S3DynamoDBLogStore` asks so before anything else; its jar is not to be had here."""
    return Asked("dynamodb:DescribeTable", f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{store}", OWN)


def test_the_log_stores_protocol_step_by_step_needs_the_least_policy_of_spark(wire: Wire, key: str) -> None:
    """Commits, a repair of another's commit by a writer and by a reader; S3A's own part is proven with Spark above."""
    table = LogStoreTable(wire.client, DELTA_LOG, "conformance", key)
    lock = {"lock_keys": (table.table_path,)}
    writer = policy(Mechanism.LOG_STORE, AccessKind.WRITER, WriterEngine.SPARK, "conformance", key, **lock)
    reader = policy(Mechanism.LOG_STORE, AccessKind.READER, WriterEngine.SPARK, "conformance", key, **lock)

    wire.enforce(writer)
    table.commit(0, b"{}")
    table.commit(1, b"{}", stop_after=Step.ENTRY_PREPARED)
    table.commit(2, b"{}", stop_after=Step.ENTRY_PREPARED)
    table.refresh()
    assert wire.denied == []
    of_items = [*wire.dynamodb.asks(), described(DELTA_LOG)]
    granted = {one for one in actions_of(writer) if one.startswith("dynamodb:")}
    spare = {one for one in granted if not refused(without(writer, one), of_items)}
    assert (refused(writer, wire.asks()), spare) == ([], set())

    wire.enforce(reader)
    table.refresh()
    assert {one.action for one in wire.dynamodb.asks()} == {one for one in actions_of(reader) if "Query" in one}
    with pytest.raises(ClientError, match="AccessDenied"):
        table.commit(3, b"{}")


@pytest.mark.parametrize("mechanism", [Mechanism.LOG_STORE, Mechanism.COORDINATED_COMMITS])
@pytest.mark.parametrize("engine", WriterEngine)
@pytest.mark.parametrize("kind", AccessKind)
def test_nobody_may_delete_an_entry_touch_ttl_or_reach_the_items_of_another_table(
    mechanism: Mechanism, engine: WriterEngine, kind: AccessKind
) -> None:
    document = policy(mechanism, kind, engine, "lake", "sales/orders", lock_keys=("mine",))
    store = DELTA_LOG if mechanism is Mechanism.LOG_STORE else DELTA_COMMITS
    table = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{store}"
    mine, others = ({**OWN, "dynamodb:LeadingKeys": (one,)} for one in ("mine", "theirs"))
    dangerous = ("DeleteItem", "UpdateTimeToLive", "UpdateTable", "DeleteTable", "CreateTable", "BatchWriteItem")
    asked = [Asked(f"dynamodb:{one}", table, mine) for one in dangerous]
    asked += [Asked(f"dynamodb:{one}", table, others) for one in ("GetItem", "PutItem", "UpdateItem", "Query")]
    asked += [Asked("s3:GetObject", "arn:aws:s3:::lake/sales/orders_2/part", OWN)]
    asked += [Asked("s3:GetObject", "arn:aws:s3:::lake/sales/orders/part", {**OWN, "aws:ResourceAccount": "9" * 12})]
    asked += [Asked("s3:ListBucket", "arn:aws:s3:::lake", {**OWN, "s3:prefix": "sales/"})]

    assert [one for one in asked if allows(document, one)] == []
    assert "*" not in json.dumps([one["Action"] for one in document["Statement"]])
