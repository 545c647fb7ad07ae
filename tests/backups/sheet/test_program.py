"""The program of the sheet: what it restores, what it refuses, and what a stop at any write leaves.

That its requests are what the AWS CLI takes is shown by test_restored_by_spark, which runs the sheet's own commands.
"""

import ast
import gzip
import json
import sys
from typing import Any

import pytest

from backups.sheet import program
from backups.sheet.text import PROGRAM
from lake.backup.objects import CLAIM
from lake.points.keeping import digest_of
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run, document_of, proven
from tests.backups.restores.restoring import Table, everything
from tests.backups.sheet.by_hand import Cli, run
from tests.builders.copies import LOG, appended, commit, name
from tests.builders.delta import add, commit_bytes, commit_info, coordinator_properties, metadata, protocol
from tests.choosing import slowly

pytestmark = pytest.mark.django_db
NO_TABLE = r"Not a Delta table|No files in log segment|metadata"


def to(backup: Backup, path: str = "restored/t") -> str:
    return f"s3a://{backup.source}/{path}"


def below(backup: Backup, path: str = "restored/t/") -> dict[str, bytes]:
    found = list(backup.lake.list(backup.source, path))
    return {key.removeprefix(path): backup.lake.get(backup.source, key) for key, _ in found}


def document(table: Table) -> str:
    return str(table.point.proof.removeprefix(f"s3a://{table.backup.vault}/pool/"))


def change(table: Table, key: str, data: bytes) -> None:
    table.backup.lake.put(table.backup.vault, f"pool/{key}", data)


def same_size(table: Table) -> bytes:
    return b"x" * len(table.backup.lake.get(table.backup.source, table.data_file))


def of_an_older_release(table: Table) -> bytes:
    said = {one: value for one, value in table.document().items() if one not in ("coordinated", "detaching")}
    return json.dumps({**said, "digest": digest_of(said)}).encode()


def put_coordinated(backup: Backup, **info: Any) -> Any:
    """A table of versions 0 to 2 that names a coordinator, and its restore point."""
    features = protocol(3, 7, readerFeatures=[], writerFeatures=["coordinatedCommits-preview", "inCommitTimestamp"])
    table = metadata(properties=coordinator_properties("commits", "http://127.0.0.1", "id"))
    backup.put_both({f"{LOG}{0:020d}.json": commit_bytes(commit_info(**info), features, table)})
    for version in (1, 2):
        backup.put_both({f"{LOG}{version:020d}.json": commit_bytes(commit_info(**info), add(name(version)))})
        backup.put_both({f"t/{name(version)}": b"x" * 500})
    [point] = proven(copied_run(backup)).points.all()
    return point


@pytest.mark.parametrize("others", [0, 20_000])
def test_it_restores_the_version_and_nothing_else_is_changed(table, monkeypatch, others):
    """One process copies the whole folder, unless that holds much more than the version."""
    backup = table.backup
    backup.put({"t/part-of-another-version.parquet": b"x" * others}, copied=True)
    backup.put({f"t/nested/{key}": data for key, data in appended([0]).items()}, copied=True)
    before = everything(backup.lake, backup.source, backup.vault)
    assert run(monkeypatch, Cli(backup), table.point.proof, to(backup)) == ""
    assert table.rows(to(backup)) == list(range(6))
    after = everything(backup.lake, backup.source, backup.vault)
    assert before.items() <= after.items()
    assert all(key.startswith(f"{backup.source}/restored/t/") for key in after.keys() - before.keys())
    assert CLAIM in below(backup)  # by which a restore of Levee's own knows that the path is taken
    assert ("part-of-another-version.parquet" in below(backup)) == (not others)
    assert not [path for path in below(backup) if "nested" in path]


@pytest.mark.parametrize("every", [4, slowly(1)])
def test_a_stop_at_any_write_leaves_nothing_that_opens_and_the_next_try_ends_it(table, monkeypatch, every):
    backup, writes = table.backup, 1 + 6 + 4
    for most in range(0, writes, every):
        target = to(backup, f"restored/{most}")
        assert run(monkeypatch, Cli(backup, most), table.point.proof, target) == "Stopped"
        with pytest.raises(Exception, match=NO_TABLE):
            table.rows(target)
        # Whoever goes on may have the address from another place, which writes it otherwise.
        assert run(monkeypatch, Cli(backup), table.point.proof.replace("s3a:", "s3:"), target) == ""
        assert table.rows(target) == list(range(6))
    again = Cli(backup)
    assert run(monkeypatch, again, table.point.proof, target) == ""
    assert [key for key in again.written if "_delta_log" in key] == []


def test_a_table_that_was_restored_before_is_restored_again(table, monkeypatch):
    """Its backup has what claimed its path then."""
    change(table, "t/_levee_restore.json", b"of then")
    assert run(monkeypatch, Cli(table.backup, 9), table.point.proof, to(table.backup)) == "Stopped"
    assert run(monkeypatch, Cli(table.backup), table.point.proof, to(table.backup)) == ""


def test_a_coordinated_copy_leaves_its_coordinator_before_it_has_its_first_commit(backup, monkeypatch):
    point, cli = put_coordinated(backup, in_commit_timestamp=1_700_000_000_000), Cli(backup)
    assert run(monkeypatch, cli, point.proof, to(backup)) == ""
    log = [key.rpartition("/")[2] for key in cli.written if "_delta_log" in key]
    assert (log[-1], sorted(log)) == (f"{0:020d}.json", [f"{version:020d}.json" for version in range(4)])
    info, features, table = map(json.loads, below(backup)[f"_delta_log/{3:020d}.json"].splitlines())
    assert info["commitInfo"]["inCommitTimestamp"] == 1_700_000_000_001
    assert features["protocol"]["writerFeatures"] == ["inCommitTimestamp"]
    assert not [one for one in table["metaData"]["configuration"] if "coordinatedCommits" in one]


def test_a_coordinated_version_that_nothing_can_follow_is_refused(backup, monkeypatch):
    point = put_coordinated(backup)
    document = document_of(backup, point.proof)
    assert (document["coordinated"], document["detaching"]) == (True, "")
    assert "coordinated" in run(monkeypatch, Cli(backup), point.proof, to(backup))
    assert below(backup) == {}


def test_a_commit_that_detaches_is_the_one_that_was_kept(backup, monkeypatch):
    point = put_coordinated(backup, in_commit_timestamp=1_700_000_000_000)
    backup.put({document_of(backup, point.proof)["detaching"]: b"{}"}, copied=True)
    assert "not as it was written" in run(monkeypatch, Cli(backup), point.proof, to(backup))
    assert below(backup) == {}
    [point] = proven(copied_run(backup)).points.all()
    assert ".detaching is not what was written there" in point.not_kept


@pytest.mark.parametrize(
    ("key", "data", "said"),
    [
        (lambda table: table.data_file, lambda _: b"x", "not what was proven"),
        (lambda table: table.data_file, same_size, "not what was proven"),
        (document, lambda table: json.dumps(table.document() | {"version": 4}).encode(), "document is not as it was"),
        (document, of_an_older_release, "An older release"),
        (lambda table: table.document()["objects"], lambda _: gzip.compress(b""), "list of objects is not as it was"),
    ],
)
def test_what_is_not_as_it_was_proven_is_not_restored(table, monkeypatch, key, data, said):
    change(table, key(table), data(table))
    assert said in run(monkeypatch, Cli(table.backup), table.point.proof, to(table.backup))
    assert below(table.backup) == {}


def test_a_document_that_lies_elsewhere_names_no_backup(table, monkeypatch):
    change(table, "moved.json", json.dumps(table.document()).encode())
    elsewhere = f"s3://{table.backup.vault}/pool/moved.json"
    assert "where it was written" in run(monkeypatch, Cli(table.backup), elsewhere, to(table.backup))
    assert below(table.backup) == {}


def test_a_backup_that_changes_while_it_is_copied_gets_no_log(table, monkeypatch):
    def overwrite(key: str) -> None:
        if key.endswith("_levee_restore.json"):
            change(table, table.data_file, same_size(table))

    cli = Cli(table.backup, meanwhile=overwrite)
    assert "not what was proven" in run(monkeypatch, cli, table.point.proof, to(table.backup))
    assert not [path for path in below(table.backup) if "_delta_log" in path]


def test_a_target_where_something_is_stays_as_it_is(table, monkeypatch):
    backup = table.backup
    backup.lake.put(backup.source, "restored/t/", b"")  # as a console makes folders
    backup.lake.put(backup.source, "restored/t/note", b"1")
    assert "not empty" in run(monkeypatch, Cli(backup), table.point.proof, to(backup))
    assert below(backup) == {"": b"", "note": b"1"}
    backup.lake.put(backup.source, "restored/u/", b"")
    newer = table.go_on()
    assert run(monkeypatch, Cli(backup, 3), table.point.proof, to(backup, "restored/u")) == "Stopped"
    there = below(backup, "restored/u/")
    assert len(there) == 4
    assert "another restore" in run(monkeypatch, Cli(backup), newer.proof, to(backup, "restored/u"))
    assert below(backup, "restored/u/") == there


def test_of_two_that_claim_a_target_at_once_one_stops(table, monkeypatch):
    backup = table.backup
    cli = Cli(backup, meanwhile=lambda key: backup.lake.put(backup.source, key, b"of another"))
    assert run(monkeypatch, cli, table.point.proof, to(backup)) == "Stopped"
    assert below(backup) == {"_levee_restore.json": b"of another"}


@pytest.mark.parametrize("when", ["_levee_restore.json", f"{3:020d}.checkpoint.parquet"])
def test_who_writes_to_the_log_of_the_target_stops_it(table, monkeypatch, when):
    backup, foreign = table.backup, f"restored/t/_delta_log/{9:020d}.json"

    def write(key: str) -> None:
        if key.endswith(when):
            backup.lake.put(backup.source, foreign, b"{}")

    said = run(monkeypatch, Cli(backup, meanwhile=write), table.point.proof, to(backup))
    assert f"{foreign} is of another writer" in said
    assert f"{foreign} is of another writer" in run(monkeypatch, Cli(backup), table.point.proof, to(backup))


@pytest.mark.parametrize("which", ["a data file", "the log"])
def test_what_is_gone_after_it_was_copied_is_not_called_restored(table, monkeypatch, which):
    path = table.data_file.removeprefix("t/") if which == "a data file" else f"_delta_log/{5:020d}.json"
    cli = Cli(table.backup, lost=[f"restored/t/{path}"])
    assert "somebody changes the target" in run(monkeypatch, cli, table.point.proof, to(table.backup))
    if which == "a data file":
        assert not [path for path in below(table.backup) if "_delta_log" in path]


@pytest.mark.parametrize(
    ("bucket", "path", "said"),
    [("vault", "pool/t", "the backup"), ("source", "t", "the table itself"), ("source", "t/u", "the table itself")],
)
def test_a_target_in_the_backup_or_at_the_table_s_own_path_is_refused(table, monkeypatch, bucket, path, said):
    backup = table.backup
    before = everything(backup.lake, backup.source, backup.vault)
    target = f"s3://{getattr(backup, bucket)}/{path}/"
    assert said in run(monkeypatch, Cli(backup), table.point.proof, target)
    assert everything(backup.lake, backup.source, backup.vault) == before


def test_a_log_that_names_files_in_full_is_refused(backup, monkeypatch):
    full = f"s3://{backup.source}/t/{name(1)}"
    backup.put_both({f"t/{name(1)}": b"x" * 500})
    backup.put_both(commit(0, protocol(), metadata(), {"add": {**add()["add"], "path": full}}))
    [point] = proven(copied_run(backup)).points.all()
    assert "names files in full" in run(monkeypatch, Cli(backup), point.proof, to(backup))
    assert below(backup) == {}


@pytest.mark.parametrize("root", ["t[1]", "", "a b%20/ü+'"])
def test_a_table_of_any_path_is_restored_with_nothing_of_others(backup, monkeypatch, root):
    """One that reads as a pattern of the AWS CLI would bring its log along, and the bucket's root all other tables."""
    backup.put_both({f"{root}/{key[2:]}".lstrip("/"): data for key, data in appended(range(3)).items()})
    backup.put_both(appended(range(2)), below="other/")
    [point] = proven(copied_run(backup, [root])).points.all()
    monkeypatch.setattr(program, "MOST_TIMES", 1_000)  # or the root would be copied file by file for its size
    cli, elsewhere = Cli(backup), f"restored-{backup.source}"
    backup.lake.create_bucket(elsewhere)
    assert run(monkeypatch, cli, point.proof, f"s3://{elsewhere}/t") == ""
    files = {f"t/{name(version)}" for version in (1, 2)}
    assert cli.written[0] == "t/_levee_restore.json"
    assert set(cli.written[1:3]) == files
    assert sorted(cli.written[3:]) == [f"t/_delta_log/{version:020d}.json" for version in range(3)]


def test_what_an_archive_holds_stops_only_the_version_that_needs_it(table, monkeypatch):
    backup = table.backup
    backup.put({"t/old.parquet": b"x"}, copied=True)
    needed = Cli(backup, archived=["pool/t/old.parquet", f"pool/{table.data_file}"])
    assert run(monkeypatch, needed, table.point.proof, to(backup)) == "Stopped"
    with pytest.raises(Exception, match=NO_TABLE):
        table.rows(to(backup))
    assert run(monkeypatch, Cli(backup, archived=["pool/t/old.parquet"]), table.point.proof, to(backup)) == ""
    assert table.rows(to(backup)) == list(range(6))


def test_it_needs_python_3_9_and_its_own_library_alone():
    imported = {
        name.partition(".")[0]
        for one in ast.walk(ast.parse(PROGRAM, feature_version=(3, 9)))
        for name in ([one.module] if isinstance(one, ast.ImportFrom) else [of.name for of in getattr(one, "names", ())])
    }
    assert "subprocess" in imported
    assert imported <= sys.stdlib_module_names
