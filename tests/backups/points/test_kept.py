"""Restore points in the backup: what is kept of a table gives it back, whatever becomes of the backup's own log."""

import gzip
import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from dashboard.accounts.roles import Role
from lake.aws import copying
from lake.aws.access import Access, Lake, open_lake
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import POINTS, place_of
from lake.delta.names import commit_name
from lake.points import keeping, proving
from lake.points.copies import read_copy
from lake.points.keeping import DIFFERS, Keeper, PointFileJson, digest_of
from lake.points.proven import ProvenTable
from lake.points.proving import Source, prove_copy
from sandbox.client import REGION
from tests.backups.points.conftest import Backup, refuse
from tests.backups.points.ended_runs import GAPS, copied_run, document_of, lines_of, proven, restored
from tests.builders.copies import LOG, appended, commit, name
from tests.builders.delta import add, commit_bytes, commit_info, coordinator_properties, metadata, protocol
from tests.builders.people import signed_in
from tests.choosing import slowly
from tests.dashboard.web.markup import flat
from tests.json_types import missing
from tests.lake.delta import test_restorable_model as model

pytestmark = pytest.mark.django_db


def points_in(backup: Backup) -> list[str]:
    return [key for key, _ in backup.lake.list(backup.vault, f"pool/{POINTS}")]


@pytest.fixture
def copied(backup: Backup) -> Backup:
    """With a table of three versions at the source and in the backup."""
    backup.put_both(appended(range(3)))
    return backup


def opened(backup: Backup) -> Lake:
    return open_lake(Access(REGION, endpoint_url=backup.lake.origin, static_credentials=("sandbox", "sandbox")))


def keep(backup: Backup) -> ProvenTable:
    """Prove the one table and keep its point."""
    place, source = place_of(backup.plan.destination), place_of(backup.plan.source)
    with opened(backup) as lake:
        keeper = Keeper(lake.s3, place, source.bucket, "", "nightly", "1")
        [table] = prove_copy(lake.s3, place, "", Source(lake.s3, source.bucket), ["t"], keeper)
    return table


def before(monkeypatch: pytest.MonkeyPatch, owner: Any, function: str, act: Callable[..., Any]) -> None:
    """Let `act` be called, before the function is, with what that is called with."""
    whole = getattr(owner, function)

    def called(*words: Any, **more: Any) -> Any:
        act(*words, **more)
        return whole(*words, **more)

    monkeypatch.setattr(owner, function, called)


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


def test_the_document_says_what_the_point_is_and_when_its_commits_were_made(copied):
    copied.put(commit(1, add(name(1))), copied=False, hours_ago=7)

    run = proven(copied_run(copied))

    [point] = run.points.all()
    document = document_of(copied, point.proof)
    assert missing(document, PointFileJson) == []
    assert document["digest"] == digest_of(document)
    assert (document["table"], document["version"], document["files"]) == (f"s3a://{copied.source}/t", 2, 2)
    assert (document["plan"], document["run"]) == ("warehouse-daily", str(run.pk))
    times = dict(document["commits"])
    assert times.keys() == {0, 1, 2}
    assert times[1] < min(times[0], times[2])
    assert (document["in_commit_timestamps"], point.in_commit_timestamps) == (False, False)
    for one in lines_of(copied, document):
        body = copied.lake.get(copied.vault, f"pool/{one['key']}")
        assert (one["size"], one["etag"]) == (len(body), hashlib.md5(body).hexdigest())  # noqa: S324 - as S3 has it


def test_the_newest_metadata_says_whether_a_table_is_coordinated(backup):
    """Wherever in the log it stands, and whatever was said before."""
    attached = metadata(properties=coordinator_properties("commits", "http://127.0.0.1", "id"))
    backup.put_both(appended(range(3)))
    said = []
    for version, action in enumerate((attached, add(name(1)), metadata()), start=3):
        backup.put_both({LOG + commit_name(version): commit_bytes(commit_info(in_commit_timestamp=version), action)})
        [point] = proven(copied_run(backup)).points.all()
        document = document_of(backup, point.proof)
        said.append((document["version"], document["coordinated"], bool(document["detaching"])))
    assert said == [(3, True, True), (4, True, True), (5, False, False)]


@pytest.mark.parametrize("configuration", ["text", 1, ["a"]])
def test_metadata_that_nobody_can_read_keeps_no_point_and_ends_no_run(backup, configuration):
    backup.put_both(appended(range(2)), below="u/")
    backup.put_both(commit(0, protocol(), {"metaData": {**metadata()["metaData"], "configuration": configuration}}))
    run = proven(copied_run(backup, ["t", "u/t"]))
    other, sound = run.points.order_by("table")
    assert (run.state, bool(sound.proof), other.proof) == (GAPS, True, "")
    assert "cannot be read" in other.not_kept


def test_a_table_with_in_commit_timestamps_is_told_from_one_without(backup):
    backup.put_both(appended(range(2)))
    info = commit_info(in_commit_timestamp=1_700_000_000_000)
    backup.put_both({LOG + commit_name(2): commit_bytes(info, add(name(1)))})
    [point] = proven(copied_run(backup)).points.all()
    assert (point.version, point.in_commit_timestamps) == (2, True)


def test_a_second_run_that_finds_nothing_new_leaves_the_point_as_it_is(copied):
    first, there = keep(copied), points_in(copied)
    document = document_of(copied, first.kept)
    assert keep(copied).kept == first.kept
    assert (points_in(copied), document_of(copied, first.kept)) == (there, document)
    assert len(there) == 5


def test_a_later_point_copies_what_is_new_in_the_log_and_no_more(copied):
    first, there = keep(copied), set(points_in(copied))
    copied.put_both(appended(range(4)))
    later = keep(copied)
    new = [key.rpartition("/")[2].partition("-")[0].partition(".json.")[0] for key in set(points_in(copied)) - there]
    assert sorted(new) == [f"{3:020d}", "@3", "@3"]
    assert restored(copied, first.kept) == appended(range(3))
    assert restored(copied, later.kept) == appended(range(4))


def test_a_release_that_writes_other_documents_writes_its_own_beside_the_earlier_one(copied, monkeypatch):
    first, there = keep(copied).kept, set(points_in(copied))
    monkeypatch.setattr(keeping, "FORMAT", 2)
    second = keep(copied).kept
    assert [f"s3a://{copied.vault}/{key}" for key in set(points_in(copied)) - there] == [second]
    assert (document_of(copied, first)["format"], document_of(copied, second)["format"]) == (1, 2)


def test_an_interruption_leaves_no_document_that_is_not_true_and_the_next_try_ends(copied, monkeypatch):
    left = [0]

    def interrupt(_: S3, operation: str, *words: Any, **more: Any) -> None:
        left[0] -= operation in {"s3:PutObject", "s3:CopyObject"}
        if left[0] < 0:
            raise AwsError("SlowDown", "it said", "", operation, "", "")

    before(monkeypatch, S3, "ask", interrupt)
    for allowed in range(5):
        left[0] = 99
        empty(copied, copied.vault, f"pool/{POINTS}")
        left[0] = allowed
        with pytest.raises(AwsError):
            keep(copied)
        assert not [key for key in points_in(copied) if key.endswith(".json")]
        left[0] = 99
        assert restored(copied, keep(copied).kept).keys() == appended(range(3)).keys()


def with_digest(document: dict[str, Any]) -> bytes:
    return json.dumps(document | {"digest": digest_of(document)}).encode()


@pytest.mark.parametrize(
    ("end", "change"),
    [
        (commit_name(1), lambda body: body.replace(b"part-1", b"part-2")),
        (commit_name(1), lambda body: b""),
        (".jsonl.gz", lambda body: gzip.compress(gzip.decompress(body).replace(b"part-1", b"part-2"))),
        (".jsonl.gz", lambda body: body[:40]),
        ("{document}", lambda body: body.replace(b'"version": 2', b'"version": 1')),
        ("{document}", lambda body: with_digest(json.loads(body) | {"hash": "0"})),
        ("{document}", lambda body: with_digest(json.loads(body) | {"version": 1})),
        ("{document}", lambda body: body.replace(b'"run": "1"', b'"run": "2"')),
        ("{document}", lambda body: b"{}"),
        ("{document}", lambda body: b"no JSON"),
    ],
)
def test_a_point_that_somebody_changed_is_not_called_kept(copied, end, change):
    kept = keep(copied).kept
    end = end.format(document=kept.rpartition("/")[2])
    [key] = [key for key in points_in(copied) if key.endswith(end) or f"/{end}." in key]
    copied.lake.put(copied.vault, key, change(copied.lake.get(copied.vault, key)))
    table = keep(copied)
    assert (table.kept, table.not_kept) == ("", DIFFERS.format(f"s3a://{copied.vault}/{key}"))
    copied.lake.delete(copied.vault, key)
    assert keep(copied).kept == kept


@pytest.mark.parametrize(
    "change",
    [
        lambda backup, key: backup.put({key: b"y" * 400}, copied=True),
        lambda backup, key: backup.lake.delete(backup.vault, f"pool/{key}"),
    ],
)
def test_a_file_that_changes_while_its_table_is_proven_leaves_it_without_a_point(copied, monkeypatch, change):
    before(monkeypatch, Keeper, "_log", lambda *_: change(copied, f"t/{name(1)}"))
    table = keep(copied)
    assert (table.kept, f"t/{name(1)} changed while" in table.not_kept) == ("", True)


def test_a_log_that_is_copied_over_while_it_is_copied_leaves_its_table_without_a_point(copied, monkeypatch):
    before(monkeypatch, keeping, "copied", lambda *_: copied.put(commit(1, add(name(2))), copied=True))
    assert keep(copied).kept == ""


def refuse_copies(monkeypatch: pytest.MonkeyPatch, code: str, *buckets: str) -> None:
    def refused(_: S3, ordered: Any) -> None:
        if ordered.source_bucket in buckets:
            raise AwsError(code, "it said", "", "s3:CopyObject", "", "")

    before(monkeypatch, keeping, "copied", refused)


def test_what_lies_in_an_archive_is_copied_from_the_source(copied, monkeypatch):
    refuse_copies(monkeypatch, "InvalidObjectState", copied.vault)
    assert restored(copied, keep(copied).kept) == appended(range(3))


@pytest.mark.parametrize("code", ["InvalidObjectState", "PreconditionFailed", "InvalidTag", "AccessDenied"])
def test_what_cannot_be_copied_leaves_its_table_without_a_point_and_the_run_goes_on(copied, monkeypatch, code):
    refuse_copies(monkeypatch, code, copied.vault, copied.source)
    assert code in keep(copied).not_kept


def test_a_file_that_the_log_names_in_full_is_an_object_without_a_path(backup):
    elsewhere = commit(3, add(f"s3a://{backup.source}/other/a%20b.parquet"))
    backup.put_both(appended(range(3)) | elsewhere | {"other/a b.parquet": b"x" * 500})
    lines = lines_of(backup, document_of(backup, keep(backup).kept))
    assert [(one["path"], one["size"]) for one in lines if one["key"] == "other/a b.parquet"] == [(None, 500)]
    assert [one["key"] for one in lines] == sorted(one["key"] for one in lines)


def test_what_one_copy_cannot_take_is_copied_in_parts(copied, monkeypatch):
    monkeypatch.setattr(copying, "COPY_LIMIT", 10)
    assert restored(copied, keep(copied).kept) == appended(range(3))


def test_copies_of_the_same_log_under_other_etags_make_no_other_point(backup):
    """As under KMS, where each copy has an ETag of its own."""
    objects = appended(range(3))
    backup.put_both(objects)
    kept, there = keep(backup).kept, points_in(backup)
    for version in range(3):
        backup.put_in_one_part(LOG + commit_name(version), objects[LOG + commit_name(version)])
    assert keep(backup).kept == kept
    assert points_in(backup) == there


def test_a_copy_that_can_neither_be_told_by_its_etag_nor_be_read_is_no_copy(backup, monkeypatch):
    objects = appended(range(3))
    backup.put_both(objects)
    backup.put_in_one_part(LOG + commit_name(1), objects[LOG + commit_name(1)])
    refuse(monkeypatch, "get", "AccessDenied", lambda _, key: f"@log/{commit_name(1)}" in key)
    table = keep(backup)
    assert (table.kept, "AccessDenied" in table.not_kept) == ("", True)


def test_what_is_written_anew_after_the_log_was_listed_is_not_read_as_what_was_listed(copied, monkeypatch):
    before(monkeypatch, proving, "with_accepted", lambda *_: copied.put(commit(1, add(name(2))), copied=True))
    table = keep(copied)
    assert (table.proof.ranges, len(table.proof.problems)) == (((0, 0),), 1)


def test_points_are_no_part_of_the_backup_that_is_proven(copied):
    keep(copied)
    with opened(copied) as lake:
        copy = read_copy(lake.s3, place_of(copied.plan.destination), "")
    assert copy.sizes.keys() == {f"t/{name(1)}", f"t/{name(2)}"}


def test_without_leave_to_write_points_a_run_is_not_complete_and_says_why(copied, monkeypatch):
    refuse(monkeypatch, "put", "AccessDenied")

    run = proven(copied_run(copied))

    [point] = run.points.all()
    assert (run.state, point.state, point.proof) == (GAPS, "proven", "")
    assert "1 without a restore point in the backup" in run.sentence
    page = flat(signed_in(Role.VIEWER).get(reverse("backup-run", args=[run.pk])))
    assert f"Its restore point is not in the backup: {point.not_kept}" in page


def test_what_is_kept_is_pinned_and_encrypted_with_the_key_of_the_copies(copied, monkeypatch):
    sent: list[Any] = []

    def look(_: S3, operation: str, *words: Any, **more: Any) -> None:
        if operation in {"s3:PutObject", "s3:CopyObject"}:
            sent.append(more["headers"].get("x-amz-server-side-encryption-aws-kms-key-id"))
            is_copy = operation == "s3:CopyObject"
            assert ("x-amz-copy-source-if-match" if is_copy else "If-None-Match") in more["headers"]
            assert more["headers"].get("x-amz-tagging-directive") == ("REPLACE" if is_copy else None)

    before(monkeypatch, S3, "ask", look)
    key = f"arn:aws:kms:{REGION}:123456789012:key/a"
    type(copied.plan).objects.update(encryption_key=key)
    proven(copied_run(copied))
    assert sent == [key] * 6  # two commits, a list, a document, the sheet
