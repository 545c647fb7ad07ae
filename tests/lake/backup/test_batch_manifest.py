import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.backup.batch_manifest import FIELDS_WITH_VERSIONS, read_lines
from lake.backup.objects import FileUnreadable, ManifestObject
from tests.builders.batch import write_lines

KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(st.lists(KEYS))
def test_all_keys_come_back_from_a_manifest(keys: list[str]) -> None:
    objects = [ManifestObject("lake", key) for key in keys]
    text = "".join(write_lines(objects))
    assert text.isascii()
    assert text.count("\n") == len(objects)
    assert list(read_lines(text.splitlines(keepends=True))) == objects


def test_a_line_is_written_as_s3_reads_it() -> None:
    assert list(write_lines([ManifestObject("lake", 'dt=1/a b+c%"\nä')])) == ["lake,dt%3D1/a%20b%2Bc%25%22%0A%C3%A4\n"]


def test_a_plus_sign_is_a_blank_as_inventories_write_it() -> None:
    assert list(read_lines(['"lake","a+b%2Bc"\n'])) == [ManifestObject("lake", "a b+c")]


def test_an_object_without_a_version_is_the_null_version() -> None:
    lines = list(write_lines([ManifestObject("lake", "a"), ManifestObject("lake", "b", "v1")], with_versions=True))
    assert lines == ["lake,a,null\n", "lake,b,v1\n"]
    assert [one.version_id for one in read_lines(lines, FIELDS_WITH_VERSIONS)] == ["null", "v1"]


def test_ignored_columns_are_passed_over() -> None:
    assert list(read_lines(["7,lake,a\n"], ("Ignore", "Bucket", "Key"))) == [ManifestObject("lake", "a")]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("lake\n", "1 columns"),
        ("lake,a,b\n", "3 columns"),
        ('lake,"a\n', "no CSV"),
        ("lake,%ff\n", "UTF-8"),
        (",a\n", "no bucket"),
        ("lake,\n", "no key"),
    ],
)
def test_a_line_that_is_none_is_refused(line: str, words: str) -> None:
    with pytest.raises(FileUnreadable, match=words):
        list(read_lines([line]))


@pytest.mark.parametrize("fields", [(), ("Key",), ("Bucket", "Key", "Key"), ("Bucket", "Key", "Size")])
def test_fields_that_s3_does_not_know_are_refused(fields: tuple[str, ...]) -> None:
    with pytest.raises(FileUnreadable, match="fields"):
        list(read_lines([], fields))
