"""Each way to restore before an IAM that knows the plan's policies alone: they suffice, and none of them is to spare.

Every request of Levee, and of deltalake where Levee lets it read, goes through a recorder, one for each connection.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from backups.models import Plan
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
from tests.iam.evaluating import Asked, actions_of, allows, refused, resources_of, without
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
        identity = {
            account: self.union(*(code for code in chosen if self.is_of(code, account, "identity")))
            for account in ("source", "vault")
        }
        bucket = self.union(*(code for code in chosen if self.is_of(code, "source", "bucket")))
        stores = self.feature("put-back")

        def denied_to_vault(asked: Asked) -> bool:
            crosses = asked.resource.partition("/")[0] == self.bucket
            return not allows(identity["vault"], asked) or (crosses and not allows(bucket, asked))

        self.source.denies = lambda asked: not (allows(identity["source"], asked) or allows(stores, asked))
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
        """Without any one action, or resource, of the policy something is refused that only this policy allows."""
        document = self.policies[code].document
        own = [one for one in asked if one.action in actions_of(document) and allows(document, one)]
        names = (actions_of(document) | resources_of(document)) - {*but}
        assert {one for one in names if not refused(without(document, one), own)} == set()


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


def test_a_version_is_opened_with_what_backing_up_needs(accounts, capsys):
    accounts.enforce()
    told = restore(capsys, accounts.table.uri, "--instant", "--apply", "--here")
    assert (told["refused"], accounts.denied()) == ("", [])


def test_to_restore_to_a_new_path_its_policies_suffice(accounts, capsys):
    accounts.enforce("levee-restore", "restore-bucket")
    told = restore(capsys, accounts.table.uri, "--apply", "--here")
    assert (told["refused"], accounts.denied()) == ("", [])
    archive(accounts.table, data_files(accounts.table)[0])
    asked = restore(
        capsys, accounts.table.uri, "--to", f"s3a://{accounts.table.backup.source}/restored/t", "--apply", "--here"
    )
    assert (asked["plan"]["archived"], accounts.denied()) == (1, [])
    for code in ("levee-restore", "restore-bucket"):
        but = {*OF_SPARK, f"{accounts.bucket}/restored/*_delta_log/*"}
        accounts.assert_none_to_spare(code, accounts.vault.asks(), but)


def test_to_put_a_table_back_in_place_its_policies_suffice(accounts, capsys):
    table = accounts.table
    table.go_on()
    stores = Stores(table.backup)
    stores.put(stores.log_store, log_store_item(8, table.uri))
    stores.register(8, {})
    archive(table, data_files(table)[0])
    table.backup.lake.delete(table.backup.source, table.data_files[0])
    accounts.enforce("levee-restore-in-place", "restore-in-place-bucket", "levee-put-back")
    words = ("--in-place", "--version=5", "--apply", "--here", "--confirm", "t")
    told = restore(capsys, table.uri, *words)
    assert (told["plan"]["archived"], accounts.denied()) == (1, [])
    told = restore(capsys, table.uri, *words)
    assert (told["refused"], accounts.denied()) == ("", [])
    for code in ("levee-restore-in-place", "restore-in-place-bucket"):
        accounts.assert_none_to_spare(code, accounts.vault.asks(), but={"s3:AbortMultipartUpload"})
    put_back = accounts.feature("put-back")
    asked = [one for one in accounts.source.asks() if allows(put_back, one)]
    spared = {one for one in actions_of(put_back) if not refused(without(put_back, one), asked)}
    # Spark writes by the log store, see test_least_policies; where a writer came between, Levee asks for the item.
    of_log_store = {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:DescribeTable"}
    assert spared == of_log_store


@pytest.mark.parametrize("granted", [(), ("levee-restore",), ("restore-bucket",), ("levee-put-back",)])
def test_without_its_own_policies_nothing_is_written_where_the_source_is(accounts, capsys, granted):
    accounts.enforce(*granted)
    before = everything(accounts.table.backup.lake, accounts.table.backup.source)
    told = restore(capsys, accounts.table.uri, "--apply", "--here")
    assert "the permission s3:GetObject is missing" in told["refusal"]["reason"]
    assert everything(accounts.table.backup.lake, accounts.table.backup.source) == before


@pytest.mark.parametrize("code", ["levee-restore", "levee-restore-in-place", "levee-put-back"])
def test_no_data_file_can_be_deleted_by_what_restores(accounts, code):
    document, source = accounts.policies[code].document, accounts.bucket
    for root in (f"{source}/t", f"{source}/restored/t-5"):
        assert not allows(document, Asked("s3:DeleteObject", f"{root}/part-1.parquet"))
        assert not allows(document, Asked("s3:DeleteObjectVersion", f"{root}/_delta_log/1.json"))
    assert not allows(document, Asked("s3:PutObject", f"{source}/other/part-1.parquet"))


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
    if in_place:
        accounts.table.go_on()
    own = ("levee-restore-in-place", "restore-in-place-bucket", "levee-put-back")
    code, *others = own if in_place else ("levee-restore", "restore-bucket")
    accounts.enforce(code, *others)
    words = ("--in-place", "--version=5", "--confirm", "t") if in_place else ()
    told = restore(capsys, accounts.table.uri, "--apply", "--here", *words)
    assert (told["refused"], accounts.denied()) == ("", [])
    of_spark = "levee-put-back" if in_place else code
    of_archives = {"s3:RestoreObject", f"arn:aws:s3:::{accounts.table.backup.vault}/pool/*"}
    accounts.assert_none_to_spare(of_spark, as_whom.asks(), {"s3:AbortMultipartUpload", *of_archives})
