"""Restoring what lies in an archive of S3: asked for first, restored when it is there, and called neither before."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from django.urls import reverse

from backups.restores import archived, path_contents
from backups.restores.many import plan_restores, restore_many
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.jobs.context import JobCancelled
from dashboard.jobs.models import Job
from lake.aws import copying
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from tests.backups.restores.restoring import Table, apply, everything, restore
from tests.backups.restores.test_many import Shop, shop
from tests.backups.restores.test_pages import done, start
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

__all__ = ["shop"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("by_deltalake")]
NOT_YET = "Nothing is restored yet: plan again when S3 has what is archived."


def data_files(table: Table) -> list[str]:
    return [f"pool/{key}" for key in table.data_files]


def archive(table: Table | Shop, *keys: str, storage_class: str = "GLACIER", bucket: str = "") -> None:
    bucket = bucket or table.backup.vault
    for key in keys:
        data = table.backup.lake.get(bucket, key)
        table.backup.boto().put_object(Bucket=bucket, Key=key, Body=data, StorageClass=storage_class)


def restorations(table: Table) -> dict[str, str]:
    """What S3 itself says of each archived data file, "" where it was not asked."""
    heads = {key: table.backup.boto().head_object(Bucket=table.backup.vault, Key=key) for key in data_files(table)}
    return {key: head.get("Restore", "") for key, head in heads.items() if "StorageClass" in head}


def let_s3_answer(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], str]) -> None:
    """Let S3 refuse to restore objects by the code that `answer` gives for a key; "" lets it."""
    whole = S3.ask

    def asked(self: S3, operation: str, bucket: str, key: str, **more: Any) -> Any:
        if operation == "s3:RestoreObject" and (code := answer(key)):
            raise AwsError(code, "it said", "", operation, operation, f"s3://{bucket}/{key}")
        return whole(self, operation, bucket, key, **more)

    monkeypatch.setattr(S3, "ask", asked)


def let_s3_say(monkeypatch: pytest.MonkeyPatch, said: str | None, *, asked_by_somebody: bool = False) -> None:
    """Let S3 say this of what it was asked for, as while it is at it; None once it has taken its copy back."""
    whole = S3.ask

    def asked(self: S3, operation: str, bucket: str, key: str, **more: Any) -> Any:
        answer = whole(self, operation, bucket, key, **more)
        if operation != "s3:HeadObject" or not (asked_by_somebody or "x-amz-restore" in answer.headers):
            return answer
        headers = {name: value for name, value in answer.headers.items() if name.lower() != "x-amz-restore"}
        return replace(answer, headers=headers if said is None else {**headers, "x-amz-restore": said})

    monkeypatch.setattr(S3, "ask", asked)


def let_s3_keep(monkeypatch: pytest.MonkeyPatch, left: timedelta) -> None:
    ends = format_datetime(datetime.now(UTC) + left, usegmt=True)
    let_s3_say(monkeypatch, f'ongoing-request="false", expiry-date="{ends}"')


def test_what_is_archived_is_asked_for_and_restored_by_the_next_plan(table, capsys, monkeypatch):
    first, second, *_ = data_files(table)
    archive(table, first)
    archive(table, second, storage_class="DEEP_ARCHIVE")
    before = everything(table.backup.lake, table.backup.source)
    told = restore(capsys, table.uri)
    assert (told["refused"], told["plan"]["archived"], told["plan"]["objects"]) == ("", 2, 2)
    assert told["plan"]["title"] == "Ask S3 for the archived objects of version 5"
    assert [call["operation"] for call in told["plan"]["calls"]] == ["s3:RestoreObject", "s3:RestoreObject"]
    assert "Of 6 objects that are needed S3 is asked for 2" in told["plan"]["consequences"][0]
    assert "within 12 hours" in told["plan"]["consequences"][1]
    assert set(restorations(table).values()) == {""}
    asked = apply(capsys, table)
    assert (asked["refused"], asked["job"]["state"], asked["job"]["verified"]) == (NOT_YET, "succeeded", None)
    assert (asked["job"]["kind"], len(asked["job"]["aws_request_ids"])) == ("ask-archive", 2)
    assert all("expiry-date" in said for said in restorations(table).values())
    assert everything(table.backup.lake, table.backup.source) == before
    restored = apply(capsys, table)
    assert (restored["refused"], restored["plan"]["archived"]) == ("", 0)
    assert table.rows(f"s3a://{table.backup.source}/restored/t-5") == list(range(6))
    let_s3_say(monkeypatch, None)
    assert apply(capsys, table)["refused"] == "", "what was copied is not asked for again"


def test_while_s3_is_at_it_nothing_is_asked_or_copied(table, capsys, monkeypatch):
    first, second, *_ = data_files(table)
    archive(table, first)
    assert apply(capsys, table)["refused"] == NOT_YET
    with monkeypatch.context() as patched:
        let_s3_say(patched, 'ongoing-request="true"')
        told = apply(capsys, table)
        assert (told["refused"], told["job"]) == ("Nothing was restored: see above.", None)
        says = f"not restored 1 of 1 object yet, such as s3a://{table.backup.vault}/{first}"
        assert says in told["refusal"]["reason"]
        archive(table, second)
        assert "It is still at 1 more." in restore(capsys, table.uri)["plan"]["consequences"][0]
    assert apply(capsys, table)["refused"] == NOT_YET
    assert apply(capsys, table)["refused"] == ""


def test_a_version_is_opened_only_when_all_of_it_can_be_read_and_says_until_when(table, capsys, monkeypatch):
    archive(table, *data_files(table)[:2])
    assert apply(capsys, table, "--instant")["refused"] == NOT_YET
    for minutes, asked in ((-180, 2), (59, 2), (61, 0)):
        with monkeypatch.context() as patched:
            let_s3_keep(patched, timedelta(minutes=minutes))
            assert restore(capsys, table.uri, "--instant")["plan"]["archived"] == asked
    ask = {"Bucket": table.backup.vault, "Key": data_files(table)[1], "RestoreRequest": {"Days": 3}}
    table.backup.boto().restore_object(**ask)
    told = apply(capsys, table, "--instant")
    assert told["refused"] == ""
    says = f"2 objects, can be read until {datetime.now(UTC) + timedelta(days=3):%Y-%m-%d}"
    assert says in told["plan"]["consequences"][-1]
    page = signed_in(Role.VIEWER).get(Job.objects.get(kind="restore-table").result["shown_at"])
    assert says in flat(page)


def test_in_place_only_what_is_not_there_is_asked_for_and_nobody_has_to_pause(table, capsys, monkeypatch):
    there, gone, *_ = data_files(table)
    archive(table, there, gone)
    table.backup.lake.delete(table.backup.source, gone.removeprefix("pool/"))
    before = everything(table.backup.lake, table.backup.source)
    asked = apply(capsys, table, "--in-place")
    assert (asked["refused"], asked["plan"]["archived"], asked["plan"]["danger"]) == (NOT_YET, 1, "")
    assert restorations(table)[there] == ""
    assert everything(table.backup.lake, table.backup.source) == before
    assert "stop the table's writers" in restore(capsys, table.uri, "--in-place")["refusal"]["reason"]
    monkeypatch.setattr(path_contents, "WRITERS_PAUSE", timedelta(0))
    assert apply(capsys, table, "--in-place", "--confirm", "t")["refused"] == ""
    assert table.rows(table.uri) == list(range(6))


def test_what_s3_is_at_already_is_no_failure_and_what_it_denies_is_one(table, capsys, monkeypatch):
    first, second, *_ = data_files(table)
    archive(table, first, second)
    let_s3_answer(monkeypatch, lambda key: "RestoreAlreadyInProgress" if key == first else "")
    told = apply(capsys, table)
    assert (told["refused"], told["job"]["state"]) == (NOT_YET, "succeeded")
    assert told["job"]["calls"][0]["sentence"] == "S3 was asked for 1 object of GLACIER."
    assert told["job"]["message"].startswith("Nothing is restored yet: S3 was asked for 2 objects in an archive.")
    let_s3_answer(monkeypatch, lambda _: "RestoreAlreadyInProgress")
    archive(table, second)
    told = apply(capsys, table)
    assert (told["refused"], told["job"]["calls"][0]["outcome"]) == (NOT_YET, "already")
    let_s3_answer(monkeypatch, lambda key: "AccessDenied" if key == first else "")
    assert "s3:RestoreObject" in apply(capsys, table)["refused"]


def test_an_object_that_left_its_archive_after_the_plan_stops_it(table, capsys, monkeypatch):
    archive(table, data_files(table)[0])
    for code in ("InvalidObjectState", "NoSuchKey"):
        let_s3_answer(monkeypatch, lambda _, code=code: code)
        assert "is not in GLACIER any more, or its endpoint has no archive." in apply(capsys, table)["refused"]
        monkeypatch.undo()


def test_what_s3_has_archived_again_meanwhile_stops_the_copy(table, capsys, monkeypatch):
    def late(s3: S3, one: copying.Copy) -> str:
        archive(table, one.source_key)
        return copy(s3, one)

    copy = copying.copy_object
    monkeypatch.setattr("lake.aws.copying.copy_object", late)
    assert "lies in an archive now, or in an archive tier" in apply(capsys, table)["refused"]


def test_a_restore_point_that_is_archived_itself_says_what_to_have_restored(table, capsys):
    archive(table, table.point.proof.removeprefix(f"s3a://{table.backup.vault}/"))
    reason = restore(capsys, table.uri)["refusal"]["reason"]
    assert reason.startswith(f"{table.point.proof.replace('s3a', 's3')} lies in an archive")
    many = restore(capsys, "--plan", "warehouse-daily")["restores"][0]
    assert many["refusal"]["reason"] == reason


def test_a_log_that_is_archived_itself_says_so(table, capsys):
    archive(table, *(key for key, _ in list(table.backup.lake.list(table.backup.vault, "pool/")) if "@log/" in key))
    assert "lies in an archive: have S3 restore it first" in restore(capsys, table.uri)["refusal"]["reason"]


def test_only_so_many_objects_are_asked_for(table, capsys, monkeypatch):
    archive(table, *data_files(table)[:2])
    monkeypatch.setattr(archived, "MOST_FILES", 1)
    assert "has 2 objects in an archive, and at most 1 are" in restore(capsys, table.uri)["refusal"]["reason"]
    let_s3_say(monkeypatch, 'ongoing-request="false"', asked_by_somebody=True)
    assert restore(capsys, table.uri)["refusal"] is None


def test_of_many_tables_those_that_are_archived_wait_and_the_others_are_restored(shop, capsys):
    archive(shop, next(key for key, _ in shop.backup.lake.list(shop.backup.vault, "pool/stock/part")))
    told = restore(capsys, "--plan", "warehouse-daily", "--apply", "--here")
    assert told["refused"] == "1 of 3 tables that fit were not restored: see above."
    assert told["plan"]["title"].endswith("2 tables to paths of their own and ask S3 for what is archived of 1 table")
    assert told["plan"]["calls"][2]["says"].endswith("at version 1, for which S3 is asked for 1 object first")
    assert "of which nothing is restored yet" in told["plan"]["consequences"][2]
    assert [one["state"] for one in told["job"]["outcomes"]] == ["asked", "done", "done"]
    assert AuditEntry.objects.get(target_label=shop.uri("stock"), target_type="restore-point").outcome == "done"
    assert restore(capsys, "--plan", "warehouse-daily", "--apply", "--here")["refused"] == ""


def test_the_pages_say_that_nothing_is_restored_yet(table):
    archive(table, data_files(table)[0])
    operator, many = signed_in(Role.OPERATOR), reverse("backup-plan-restore", args=["warehouse-daily"])
    of_many = operator.post(many, {"which": "newest"})["Location"]
    planned = done("plan-restores")
    page = flat(operator.get(of_many))
    assert "0 tables can be restored now, 1 when S3 has what is archived." in page
    assert "opened by Spark" not in page
    for one in planned.result["restores"]:
        del one["archived"]  # as releases before had it
    planned.save()
    assert "1 table can be restored now." in flat(operator.get(of_many))
    plan = operator.post(start(table), {"which": "own", "where": "path"})["Location"]
    digest = done("plan-restore").result["plan"]["digest"]
    page = flat(operator.get(plan))
    assert "It can be restored once S3 has restored 1 archived object." in page
    assert ("Retrieval costs" in page, "It can be restored now" in page) == (True, False)
    operator.post(plan, {"digest": digest})
    assert "Plan again then" in flat(operator.get(reverse("job", args=[done("ask-archive").pk])))
    page = flat(operator.get(plan))
    assert ("This plan has led to" in page, "can be written to" in page) == (True, False)


@pytest.mark.parametrize(("hours", "asked"), [(6, 1), (4, 3)])
def test_what_ends_before_the_rest_can_be_there_is_asked_for_again_with_it(table, capsys, monkeypatch, hours, asked):
    *restored, lacking = data_files(table)[:3]
    archive(table, *restored)
    assert apply(capsys, table)["refused"] == NOT_YET
    let_s3_keep(monkeypatch, timedelta(hours=hours))
    plan = restore(capsys, table.uri)["plan"]
    assert (plan["archived"], "can be read until" in plan["consequences"][-1]) == (0, True)
    archive(table, lacking)
    assert restore(capsys, table.uri)["plan"]["archived"] == asked


def test_a_stop_while_s3_is_asked_says_so(table, monkeypatch):
    archive(table, *data_files(table)[:3])
    plan = table.backup.plan
    job = plan_restores(Actor.command(), plan, "", to="", here=True)

    def stopped(*_: Any) -> None:
        raise JobCancelled

    monkeypatch.setattr(archived, "ask_restoration", stopped)
    ended = restore_many(Actor.command(), plan, job, job.result["plan"]["digest"], here=True)
    assert ended.state == "cancelled"
    assert "S3 may have been asked for some of what is archived" in ended.result["outcomes"][0]["sentence"]


def test_a_file_that_goes_while_s3_is_asked_leaves_its_table_out(table, capsys, monkeypatch):
    archive(table, data_files(table)[0])
    read = archived.read_restoration

    def late(s3: S3, bucket: str, key: str) -> Any:
        table.backup.lake.delete(bucket, key)
        return read(s3, bucket, key)

    monkeypatch.setattr(archived, "read_restoration", late)
    assert "NotFound" in restore(capsys, "--plan", "warehouse-daily")["restores"][0]["refusal"]["reason"]


def test_a_file_at_the_target_that_was_archived_there_is_copied_again(table, capsys):
    assert apply(capsys, table)["refused"] == ""
    there = {"Bucket": table.backup.source, "Key": data_files(table)[0].replace("pool/t/", "restored/t-5/", 1)}
    archive(table, there["Key"], bucket=there["Bucket"])
    assert apply(capsys, table)["refused"] == ""
    assert "StorageClass" not in table.backup.boto().head_object(**there)


def test_of_an_archive_tier_it_is_said_that_nobody_knows(table, capsys):
    archive(table, data_files(table)[0], storage_class="INTELLIGENT_TIERING")
    plan = restore(capsys, table.uri, "--instant")["plan"]
    assert (plan["archived"], plan["consequences"][-1].endswith("is not known: no listing tells.")) == (0, True)


def test_the_permissions_to_ask_are_those_that_s3_wants(table, capsys):
    archive(table, data_files(table)[0])
    type(table.backup.plan).objects.update(encryption_key="arn:aws:kms:us-east-1:111122223333:key/k")
    permissions = restore(capsys, table.uri)["plan"]["permissions"]
    actions = [one.split(" on ")[0] for one in permissions]
    assert actions == ["kms:Decrypt", "s3:GetObject", "s3:ListBucket", "s3:RestoreObject"]
    assert permissions[-1].endswith(f" on arn:aws:s3:::{table.backup.vault}/pool/*")
