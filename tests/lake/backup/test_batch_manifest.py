import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.backup.batch_manifest import read_lines
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


def test_a_plus_sign_is_a_blank_as_inventories_write_it() -> None:
    assert list(read_lines(['"lake","a+b%2Bc"\n'])) == [ManifestObject("lake", "a b+c")]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("lake\n", "no bucket with a key"),
        ("lake,a,b\n", "no bucket with a key"),
        ("lake,\n", "no bucket with a key"),
        ('lake,"a\n', "no CSV"),
        ("lake,%ff\n", "UTF-8"),
    ],
)
def test_a_line_that_is_none_is_refused(line: str, words: str) -> None:
    with pytest.raises(FileUnreadable, match=words):
        list(read_lines([line]))
