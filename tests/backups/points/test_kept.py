"""Restore points in the backup: what is kept of a table gives it back, whatever becomes of the backup's own log."""

import gzip
import hashlib
import json
import random
import re
from typing import Any

import pytest
from django.urls import reverse

from backups.contract import PointFileJson
from backups.points import keeping, proving
from backups.points.copies import read_copy
from backups.points.keeping import Keeper, digest_of
from backups.points.proving import ProvenTable, Source, prove_copy
from dashboard.accounts.roles import Role
from lake.aws.access import Access, open_lake
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import POINTS, place_of
from lake.delta.names import commit_name
from sandbox.client import REGION
from tests.backups.points.conftest import Backup, refuse
from tests.backups.points.ended_runs import GAPS, copied_run, document_of, lines_of, proven, restored
from tests.builders.copies import LOG, appended, commit, name
from tests.builders.delta import add, commit_bytes, commit_info
from tests.builders.people import signed_in
from tests.choosing import slowly
from tests.dashboard.web.markup import flat
from tests.json_types import missing
from tests.lake.delta import test_restorable_model as model

pytestmark = pytest.mark.django_db


def points_in(backup: Backup) -> list[str]:
    return [key for key, _ in backup.lake.list(backup.vault, f"pool/{POINTS}")]


def keep(backup: Backup) -> ProvenTable:
    """Prove the one table and keep its point."""
    access = Access(REGION, endpoint_url=backup.lake.origin, static_credentials=("sandbox", "sandbox"))
    place, source = place_of(backup.plan.destination), place_of(backup.plan.source)
    with open_lake(access) as lake:
        keeper = Keeper(lake.s3, place, source.bucket, "", "nightly", "1")
        [table] = prove_copy(lake.s3, place, "", Source(lake.s3, source.bucket), ["t"], keeper)
    return table


@pytest.mark.parametrize("seed", [*range(2), *map(slowly, range(2, 60))])
def test_points_give_back_the_rows_of_the_source_after_all_that_later_runs_copy_over_the_log(backup, tmp_path, seed):
    """Of tables that are changed, compacted, vacuumed, dropped and made anew, copied late and with losses."""
    chance = random.Random(seed)
    source, pool, expected = model.Source(tmp_path / "source", chance), {}, {}
    for _ in range(5):
        stale = source.objects()
        for _ in range(chance.randint(1, 4)):
            source.step()
        model.back_up(pool, source, stale, chance)
        empty(backup, backup.source)
        backup.put(source.objects(), copied=False)
        backup.put(pool, copied=True)

        run = proven(copied_run(backup))

        for point in run.points.exclude(version=None):
            assert (point.not_kept, bool(point.proof)) == ("", True)
            expected[point.proof] = (point.version, source.rows[point.version])
    empty(backup, backup.vault, f"pool/{LOG}")
    for proof, rows in expected.items():
        assert model.opened(restored(backup, proof), tmp_path / "copy") == rows
    assert expected


def empty(backup: Backup, bucket: str, prefix: str = "") -> None:
    for key, _ in list(backup.lake.list(bucket, prefix)):
        backup.lake.delete(bucket, key)


def test_the_document_says_what_the_point_is_and_when_its_commits_were_made(backup):
    backup.put_both(appended(range(3)))
    backup.put(commit(1, add(name(1))), copied=False, hours_ago=7)

    run = proven(copied_run(backup))

    [point] = run.points.all()
    document = document_of(backup, point.proof)
    assert missing(document, PointFileJson) == []
    assert document["digest"] == digest_of(document)
    assert (document["table"], document["version"], document["files"]) == (f"s3a://{backup.source}/t", 2, 2)
    assert (document["plan"], document["run"]) == ("warehouse-daily", str(run.pk))
    times = dict(document["commits"])
    assert times.keys() == {0, 1, 2}
    assert times[1] < min(times[0], times[2])
    assert (document["in_commit_timestamps"], point.in_commit_timestamps) == (False, False)
    for one in lines_of(backup, document):
        body = backup.lake.get(backup.vault, f"pool/{one['key']}")
        assert (one["size"], one["etag"]) == (len(body), hashlib.md5(body).hexdigest())  # noqa: S324 - as S3 has it


def test_a_table_with_in_commit_timestamps_is_told_from_one_without(backup):
    backup.put_both(appended(range(2)))
    info = commit_info(in_commit_timestamp=1_700_000_000_000)
    backup.put_both({LOG + commit_name(2): commit_bytes(info, add(name(1)))})
    [point] = proven(copied_run(backup)).points.all()
    assert (point.version, point.in_commit_timestamps) == (2, True)


def test_a_second_run_that_finds_nothing_new_leaves_the_point_as_it_is(backup):
    backup.put_both(appended(range(3)))
    first, there = keep(backup), points_in(backup)
    document = document_of(backup, first.kept)
    assert keep(backup).kept == first.kept
    assert (points_in(backup), document_of(backup, first.kept)) == (there, document)
    assert len(there) == 5


def test_a_later_point_copies_what_is_new_in_the_log_and_no_more(backup):
    backup.put_both(appended(range(3)))
    first, there = keep(backup), set(points_in(backup))
    backup.put_both(appended(range(4)))
    later = keep(backup)
    new = [key.rpartition("/")[2].partition("-")[0].partition(".json.")[0] for key in set(points_in(backup)) - there]
    assert sorted(new) == [f"{3:020d}", "@3", "@3"]
    assert restored(backup, first.kept) == appended(range(3))
    assert restored(backup, later.kept) == appended(range(4))


def test_a_release_that_writes_other_documents_writes_its_own_beside_the_earlier_one(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    first, there = keep(backup).kept, set(points_in(backup))
    monkeypatch.setattr(keeping, "FORMAT", 2)
    second = keep(backup).kept
    assert [f"s3a://{backup.vault}/{key}" for key in set(points_in(backup)) - there] == [second]
    assert (document_of(backup, first)["format"], document_of(backup, second)["format"]) == (1, 2)


def test_an_interruption_leaves_no_document_that_is_not_true_and_the_next_try_ends(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    whole, made = S3.ask, [0]

    def asked(self: S3, operation: str, *words: Any, **more: Any) -> Any:
        is_write = operation in {"s3:PutObject", "s3:CopyObject"}
        made[0] -= is_write
        if is_write and made[0] < 0:
            raise AwsError("SlowDown", "it said", "", operation, "", "")
        return whole(self, operation, *words, **more)

    monkeypatch.setattr(S3, "ask", asked)
    for allowed in range(5):
        empty(backup, backup.vault, f"pool/{POINTS}")
        made[0] = allowed
        with pytest.raises(AwsError):
            keep(backup)
        assert not [key for key in points_in(backup) if key.endswith(".json")]
        made[0] = 99
        assert restored(backup, keep(backup).kept).keys() == appended(range(3)).keys()


def with_digest(document: dict[str, Any]) -> bytes:
    return json.dumps(document | {"digest": digest_of(document)}).encode()


def tampered(backup: Backup, end: str, change: Any) -> None:
    [key] = [key for key in points_in(backup) if key.endswith(end) or f"/{end}." in key]
    backup.lake.put(backup.vault, key, change(backup.lake.get(backup.vault, key)))


def lose_meanwhile(monkeypatch: pytest.MonkeyPatch, backup: Backup, key: str) -> None:
    whole = Keeper._log

    def log(self: Keeper, *words: Any) -> Any:
        backup.lake.delete(backup.vault, f"pool/{key}")
        return whole(self, *words)

    monkeypatch.setattr(Keeper, "_log", log)


@pytest.mark.parametrize(
    ("end", "change"),
    [
        (commit_name(1), lambda body: body.replace(b"part-1", b"part-2")),
        (commit_name(1), lambda body: b""),
        (".jsonl.gz", lambda body: gzip.compress(gzip.decompress(body).replace(b"part-1", b"part-2"))),
        (".jsonl.gz", lambda body: body[:40]),
        ("{digest}.json", lambda body: body.replace(b'"version": 2', b'"version": 1')),
        ("{digest}.json", lambda body: with_digest(json.loads(body) | {"hash": "0"})),
        ("{digest}.json", lambda body: with_digest(json.loads(body) | {"version": 1})),
        ("{digest}.json", lambda body: b"{}"),
        ("{digest}.json", lambda body: b"no JSON"),
    ],
)
def test_a_point_that_somebody_changed_is_not_called_kept(backup, end, change):
    backup.put_both(appended(range(3)))
    kept = keep(backup).kept
    tampered(backup, kept.rpartition("/")[2] if "{" in end else end, change)
    table = keep(backup)
    assert table.kept == ""
    said = re.match(rf"s3a://{backup.vault}/(.*) is not what was written there\. Move it away", table.not_kept)
    assert said is not None
    backup.lake.delete(backup.vault, said[1])
    assert keep(backup).kept == kept


def test_a_file_that_changes_while_its_table_is_proven_leaves_it_without_a_point(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    whole = Keeper._log

    def log(self: Keeper, *words: Any) -> Any:
        backup.put({f"t/{name(1)}": b"y" * 400}, copied=True)
        return whole(self, *words)

    monkeypatch.setattr(Keeper, "_log", log)
    table = keep(backup)
    assert (table.kept, f"t/{name(1)} changed while" in table.not_kept) == ("", True)


def test_a_log_that_is_copied_over_while_it_is_copied_leaves_its_table_without_a_point(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    whole = keeping.copy_object

    def copy(s3: S3, ordered: Any) -> str:
        backup.put(commit(1, add(name(2))), copied=True)
        return whole(s3, ordered)

    monkeypatch.setattr(keeping, "copy_object", copy)
    assert keep(backup).kept == ""


def refuse_copies(monkeypatch: pytest.MonkeyPatch, code: str, *buckets: str) -> None:
    whole = keeping.copy_object

    def copy(s3: S3, ordered: Any) -> str:
        if ordered.source_bucket in buckets:
            raise AwsError(code, "it said", "", "s3:CopyObject", "", "")
        return whole(s3, ordered)

    monkeypatch.setattr(keeping, "copy_object", copy)


def test_what_lies_in_an_archive_is_copied_from_the_source(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    refuse_copies(monkeypatch, "InvalidObjectState", backup.vault)
    assert restored(backup, keep(backup).kept) == appended(range(3))


@pytest.mark.parametrize(
    "code", ["InvalidObjectState", "PreconditionFailed", "XMinioInvalidObjectName", "AccessDenied"]
)
def test_what_cannot_be_copied_leaves_its_table_without_a_point_and_the_run_goes_on(backup, monkeypatch, code):
    backup.put_both(appended(range(3)))
    refuse_copies(monkeypatch, code, backup.vault, backup.source)
    assert code in keep(backup).not_kept


def test_a_file_that_goes_while_its_table_is_proven_leaves_it_without_a_point(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    lose_meanwhile(monkeypatch, backup, f"t/{name(2)}")
    table = keep(backup)
    assert (table.kept, f"t/{name(2)} changed while" in table.not_kept) == ("", True)


def test_a_file_that_the_log_names_in_full_is_an_object_without_a_path(backup):
    elsewhere = commit(3, add(f"s3a://{backup.source}/other/a%20b.parquet"))
    backup.put_both(appended(range(3)) | elsewhere | {"other/a b.parquet": b"x" * 500})
    lines = lines_of(backup, document_of(backup, keep(backup).kept))
    assert [(one["path"], one["size"]) for one in lines if one["key"] == "other/a b.parquet"] == [(None, 500)]
    assert [one["key"] for one in lines] == sorted(one["key"] for one in lines)


def test_what_one_copy_cannot_take_is_copied_in_parts(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    monkeypatch.setattr(keeping, "COPY_LIMIT", 10)
    assert restored(backup, keep(backup).kept) == appended(range(3))


def test_copies_of_the_same_log_under_other_etags_make_no_other_point(backup):
    """As under KMS, where each copy has an ETag of its own."""
    objects = appended(range(3))
    backup.put_both(objects)
    kept, there = keep(backup).kept, points_in(backup)
    for version in range(3):
        backup.put_in_one_part(LOG + commit_name(version), objects[LOG + commit_name(version)])
    assert keep(backup).kept == kept
    assert points_in(backup) == there


def test_what_is_written_anew_after_the_log_was_listed_is_not_read_as_what_was_listed(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    whole = proving.read_copy

    def read(*words: Any) -> Any:
        copy = whole(*words)
        backup.put(commit(1, add(name(2))), copied=True)
        return copy

    monkeypatch.setattr(proving, "read_copy", read)
    table = keep(backup)
    assert (table.proof.ranges, len(table.proof.problems)) == (((0, 0),), 1)


def test_points_are_no_part_of_the_backup_that_is_proven(backup):
    backup.put_both(appended(range(3)))
    keep(backup)
    access = Access(REGION, endpoint_url=backup.lake.origin, static_credentials=("sandbox", "sandbox"))
    with open_lake(access) as lake:
        assert read_copy(lake.s3, place_of(backup.plan.destination), "").sizes.keys() == {
            f"t/{name(1)}",
            f"t/{name(2)}",
        }


def test_without_leave_to_write_points_a_run_is_not_complete_and_says_why(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    refuse(monkeypatch, "put", "AccessDenied")

    run = proven(copied_run(backup))

    [point] = run.points.all()
    assert (run.state, point.state, point.proof) == (GAPS, "proven", "")
    assert "1 without a restore point in the backup" in run.sentence
    page = flat(signed_in(Role.VIEWER).get(reverse("backup-run", args=[run.pk])))
    assert f"Its restore point is not in the backup: {point.not_kept}" in page


def test_what_is_kept_is_pinned_and_encrypted_with_the_key_of_the_copies(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    sent: list[Any] = []
    whole = S3.ask

    def asked(self: S3, operation: str, *words: Any, **more: Any) -> Any:
        if operation in {"s3:PutObject", "s3:CopyObject"}:
            sent.append(more["headers"].get("x-amz-server-side-encryption-aws-kms-key-id"))
            is_copy = operation == "s3:CopyObject"
            assert ("x-amz-copy-source-if-match" if is_copy else "If-None-Match") in more["headers"]
            assert more["headers"].get("x-amz-tagging-directive") == ("REPLACE" if is_copy else None)
        return whole(self, operation, *words, **more)

    monkeypatch.setattr(S3, "ask", asked)
    key = f"arn:aws:kms:{REGION}:123456789012:key/a"
    type(backup.plan).objects.update(encryption_key=key)
    proven(copied_run(backup))
    assert sent == [key] * 5
