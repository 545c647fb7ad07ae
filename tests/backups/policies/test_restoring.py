"""Each way to restore before an IAM that knows the plan's policies alone: they suffice, and none of them is to spare.

Every request of Levee, and of deltalake where Levee lets it read, goes through a recorder, one for each connection.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from backups.models import Plan
from backups.policies import documents
from backups.policies.documents import PolicyDocument, policy_documents
from backups.policies.names import names_of
from backups.restores import path_contents, readers
from coordinator.settings.iam_features import feature_policies
from coordinator.settings.iam_names import names_of as names_of_connection
from dashboard.connections.models import Connection
from lake.points.second_reader import read_by_deltalake
from sandbox.client import REGION
from tests.backups.points.conftest import backup
from tests.backups.points.test_accepted import Stores
from tests.backups.restores.conftest import by_deltalake, table
from tests.backups.restores.restoring import Table, everything, open_by, restore
from tests.backups.restores.test_archived import archive, data_files
from tests.builders.delta import log_store_item
from tests.choosing import slowly
from tests.iam.evaluating import Asked, actions_of, allows, refused, without
from tests.iam.recording import ACCOUNT, Recorder, recording
from tests.sparksession import spark_lake

__all__ = ["backup", "by_deltalake", "spark_lake", "table"]
pytestmark = pytest.mark.django_db

OF_SPARK = {"s3:AbortMultipartUpload", "s3:DeleteObject"}
"""What S3A does beside, which a test with real Spark proves."""
BACKING_UP = {"levee-vault", "levee-source", "source-bucket"}


@dataclass
class Accounts:
    """What the connections of source and vault ask, and what they are allowed."""

    table: Table
    source: Recorder
    vault: Recorder
    policies: dict[str, PolicyDocument]

    @property
    def bucket(self) -> str:
        return f"arn:aws:s3:::{self.table.backup.source}"

    def union(self, *codes: str) -> dict[str, Any]:
        return {"Statement": [one for code in codes for one in self.policies[code].document["Statement"]]}

    def enforce(self, *codes: str) -> None:
        """Let nothing pass but what backing up needs, these policies, and what the source's connection is granted."""
        chosen = BACKING_UP | {*codes}
        source, vault, bucket = (
            self.union(*(code for code in chosen if self.is_of(code, *which)))
            for which in (("source", "identity"), ("vault", "identity"), ("source", "bucket"))
        )
        stores = self.feature("put-back")

        def denied_to_vault(asked: Asked) -> bool:
            crosses = asked.resource.partition("/")[0] == self.bucket
            return not allows(vault, asked) or (crosses and not allows(bucket, asked))

        self.source.denies = lambda asked: not (allows(source, asked) or allows(stores, asked))
        self.vault.denies = denied_to_vault
        self.source.forget()
        self.vault.forget()

    def is_of(self, code: str, account: str, kind: str) -> bool:
        one = self.policies[code]
        return (one.account, one.kind) == (account, kind)

    def feature(self, name: str) -> dict[str, Any]:
        """What the source's connection is granted for a feature."""
        features = feature_policies(names_of_connection(Connection.objects.get(name="prod"), ACCOUNT))
        return next((one.document for one in features if one.feature == name), {"Statement": []})

    def denied(self) -> list[str]:
        return sorted({str(one) for one in (*self.source.denied, *self.vault.denied)})

    def assert_none_to_spare(self, code: str, asked: Iterable[Asked], but: Iterable[str] = ()) -> None:
        """Without any one action, or resource, of a statement something is refused, whatever backing up is granted."""
        policy = self.policies[code]
        others = self.union(*(one for one in BACKING_UP if self.is_of(one, policy.account, policy.kind)))["Statement"]
        spared = set()
        for place, statement in enumerate(policy.document["Statement"]):
            for name in {*statement["Action"], *statement["Resource"]} - {*but}:
                cut = without({"Statement": [statement]}, name)["Statement"]
                own = policy.document["Statement"]
                rest = {"Statement": [*others, *own[:place], *cut, *own[place + 1 :]]}
                of_policy = [one for one in asked if allows({"Statement": [*others, *own]}, one)]
                spared |= set() if refused(rest, of_policy) else {(statement["Sid"], name)}
        assert spared == set()


@pytest.fixture
def accounts(table: Table, by_deltalake: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Accounts]:
    origin, plan = table.backup.lake.origin, table.backup.plan
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "sandbox")
    monkeypatch.setattr(path_contents, "WRITERS_PAUSE", timedelta(0))
    monkeypatch.setattr(readers, "require_log_store_class", lambda _: None)
    monkeypatch.setattr(readers, "read_by_deltalake", read_by_deltalake)  # in a process of its own
    with recording(origin) as source, recording(origin) as vault:
        settings.ALLOWED_ENDPOINTS = [source.origin, vault.origin]
        Connection.objects.filter(name="prod").update(endpoint_url=source.origin)
        of_vault = Connection.objects.create(name="vault", region=REGION, endpoint_url=vault.origin)
        # A plan of one table, whose log is set aside beside all that the plan reaches.
        Plan.objects.filter(pk=plan.pk).update(vault_connection=of_vault, source=f"{table.uri}/")
        names = replace(names_of(Plan.objects.get(pk=plan.pk)), source_account=ACCOUNT, vault_account=ACCOUNT)
        yield Accounts(table, source, vault, {one.code: one for one in policy_documents(names)})


def test_a_version_is_opened_with_what_backing_up_needs_and_an_archived_one_with_one_right_more(accounts, capsys):
    accounts.enforce()
    told = restore(capsys, accounts.table.uri, "--instant", "--apply", "--here")
    assert (told["refused"], accounts.denied()) == ("", [])
    archive(accounts.table, data_files(accounts.table)[0])
    accounts.enforce("levee-archives")
    told = restore(capsys, accounts.table.uri, "--instant", "--apply", "--here")
    assert (told["plan"]["archived"], accounts.denied()) == (1, [])
    accounts.assert_none_to_spare("levee-archives", accounts.vault.asks())


def declared(told: Any) -> dict[str, Any]:
    """What the plan itself says that it needs."""
    rights = [one.split(" on ") for one in told["plan"]["permissions"]]
    return {"Statement": [{"Effect": "Allow", "Action": action, "Resource": arn} for action, arn in rights]}


def test_to_restore_to_a_new_path_its_policies_suffice(accounts, capsys):
    accounts.enforce("levee-restore", "restore-bucket")
    told = restore(capsys, accounts.table.uri, "--apply", "--here")
    assert (told["refused"], accounts.denied()) == ("", [])
    assert refused(declared(told), accounts.vault.asks()) == []
    for code in ("levee-restore", "restore-bucket"):
        but = {*OF_SPARK, f"{accounts.bucket}/restored/*/_delta_log/*"}
        accounts.assert_none_to_spare(code, accounts.vault.asks(), but)


def test_to_remove_a_restored_copy_one_right_more_suffices(accounts, capsys):
    restoring, copy = ("levee-restore", "restore-bucket"), f"s3a://{accounts.table.backup.source}/restored/t-5"
    accounts.enforce(*restoring)
    restore(capsys, accounts.table.uri, "--apply", "--here")
    told = restore(capsys, copy, "--remove", "--apply")
    assert "s3:DeleteObject" in told["job"]["error"]["text"]
    accounts.enforce(*restoring, "levee-remove", "remove-bucket")
    told = restore(capsys, copy, "--remove", "--apply")
    assert (told["refused"], accounts.denied()) == ("", [])
    assert refused(declared(told), [one for one in accounts.vault.asks() if "/restored/" in one.resource]) == []
    for code in ("levee-remove", "remove-bucket"):
        accounts.assert_none_to_spare(code, accounts.vault.asks())


def gone_on(accounts: Accounts) -> None:
    """The table at version 8, which commit stores know of, and one data file of version 5 gone."""
    table = accounts.table
    table.go_on()
    stores = Stores(table.backup)
    stores.put(stores.log_store, log_store_item(8, table.uri))
    stores.register(8, {})
    table.backup.lake.delete(table.backup.source, table.data_files[0])


IN_PLACE = ("--in-place", "--version=5", "--apply", "--here", "--confirm", "t")


def test_to_put_a_table_back_in_place_its_policies_suffice(accounts, capsys):
    gone_on(accounts)
    accounts.enforce("levee-restore-in-place", "restore-in-place-bucket", "restore-spark")
    told = restore(capsys, accounts.table.uri, *IN_PLACE)
    assert (told["refused"], accounts.denied()) == ("", [])
    for code in ("levee-restore-in-place", "restore-in-place-bucket"):
        of_many = f"{accounts.bucket}/t/*/_delta_log/*"
        accounts.assert_none_to_spare(code, accounts.vault.asks(), {"s3:AbortMultipartUpload", of_many})
    put_back = accounts.feature("put-back")
    asked = [one for one in accounts.source.asks() if allows(put_back, one)]
    spared = {one for one in actions_of(put_back) if not refused(without(put_back, one), asked)}
    # Spark writes by the log store, see test_least_policies; where a writer came between, Levee asks for the item.
    assert spared == {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:DescribeTable"}


@pytest.mark.parametrize("taken", ["dynamodb:DeleteItem", slowly("dynamodb:UpdateItem")])
def test_where_commit_stores_may_not_be_cleared_nothing_is_removed_before(accounts, capsys, taken):
    gone_on(accounts)
    accounts.enforce("levee-restore-in-place", "restore-in-place-bucket", "restore-spark")
    whole, before = accounts.source.denies, everything(accounts.table.backup.lake, accounts.table.backup.source)
    accounts.source.denies = lambda asked: asked.action == taken or whole(asked)
    told = restore(capsys, accounts.table.uri, *IN_PLACE)["job"]["error"]["text"]
    assert told.startswith("Stopped before any change: ")
    assert f"the permission {taken} is missing. See Put a backed-up version back in place" in told
    assert everything(accounts.table.backup.lake, accounts.table.backup.source) == before


@pytest.mark.parametrize("granted", [("levee-restore",), ("restore-bucket",)])
def test_one_account_alone_lets_nothing_be_planned_and_the_refusal_says_more(accounts, capsys, granted):
    accounts.enforce(*granted)
    reason = restore(capsys, accounts.table.uri, "--apply", "--here")["refusal"]["reason"]
    assert "the permission s3:GetObject is missing. See the page Policies of the plan warehouse-daily." in reason


@pytest.mark.parametrize("way", ["new path", "in place"])
def test_what_backs_up_writes_nothing_where_the_source_is(accounts, capsys, way):
    in_place = ("levee-restore-in-place", "restore-in-place-bucket")
    codes = in_place if way == "in place" else ("levee-restore", "restore-bucket")
    for one in (accounts.policies[code] for code in codes):
        accounts.policies[one.code] = replace(one, document=without(one.document, "s3:PutObject"))
    accounts.enforce(*codes, "restore-spark")
    before = everything(accounts.table.backup.lake, accounts.table.backup.source)
    restore(capsys, accounts.table.uri, *(IN_PLACE if way == "in place" else ("--apply", "--here")))
    assert {one.partition(" ")[0] for one in accounts.denied()} == {"s3:PutObject"}
    assert everything(accounts.table.backup.lake, accounts.table.backup.source) == before


def test_no_data_file_can_be_deleted_by_what_restores(accounts):
    source, log = accounts.bucket, "_delta_log/1.json"
    names = ("part-1.parquet", "change_delta_log/part-1.parquet", "x=a_delta_log/part-1.parquet")
    roots = [f"{source}/{root}" for root in ("t", "t/of_many", "restored/t-5", "restored/warehouse/t-5")]
    ways = (documents.NEW_PATH, documents.IN_PLACE)
    which = [one.document for one in accounts.policies.values() if one.purpose in ways]
    assert len(which) == 5
    for document in which:
        for asked in (f"{root}/{name}" for root in roots for name in names):
            assert not allows(document, Asked("s3:DeleteObject", asked))
        assert not allows(document, Asked("s3:DeleteObjectVersion", f"{roots[0]}/{log}"))
        assert not allows(document, Asked("s3:PutObject", f"{source}/other/part-1.parquet"))
        assert any(allows(document, Asked("s3:DeleteObject", f"{root}/{log}")) for root in roots)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("way", ["new path", "in place"])
def test_they_suffice_for_real_spark_and_nothing_of_them_is_to_spare(accounts, capsys, monkeypatch, spark_lake, way):
    in_place = way == "in place"
    as_whom = accounts.source if in_place else accounts.vault
    conf = spark_lake.spark._jsc.hadoopConfiguration()
    for bucket in (accounts.table.backup.source, accounts.table.backup.vault):
        conf.set(f"fs.s3a.bucket.{bucket}.endpoint", as_whom.origin)
    open_by(monkeypatch, spark_lake)
    codes, words = ("restore-bucket", "levee-restore"), ("--apply", "--here")
    if in_place:
        accounts.table.go_on()
        codes, words = ("levee-restore-in-place", "restore-in-place-bucket", "restore-spark"), IN_PLACE
    accounts.enforce(*codes)
    told = restore(capsys, accounts.table.uri, *words)
    assert (told["refused"], accounts.denied()) == ("", [])
    assert refused(declared(told), as_whom.asks()) == []
    of_many = f"{accounts.bucket}/t/*/_delta_log/*"
    accounts.assert_none_to_spare(codes[-1], as_whom.asks(), {"s3:AbortMultipartUpload", of_many})
