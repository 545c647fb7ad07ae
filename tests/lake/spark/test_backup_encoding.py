"""Keys in URL-encoded form, many at once, against the standard library's one by one."""

import random
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.lake.spark.backupground import HOSTILE
from tests.lazily import lazily

pa = lazily("pyarrow")
percent_decoded = lazily("lake.spark.backups.encoding", "percent_decoded")
percent_encoded = lazily("lake.spark.backups.encoding", "percent_encoded")


def keys(seed: int) -> list[str]:
    """Keys of all kinds of bytes, empty ones among them."""
    drawn = random.Random(seed)
    return ["".join(drawn.choices("az09/%+ =é雪😀\n\"'&~-_.,\x00\x7f", k=drawn.randint(0, 20))) for _ in range(500)]


@pytest.mark.parametrize("seed", range(10))
def test_keys_are_encoded_as_the_standard_library_does_and_back(seed: int) -> None:
    some = keys(seed) + list(HOSTILE)
    encoded = percent_encoded(pa.array(["ü", *some, "%"]).slice(1, len(some)))
    assert encoded.to_pylist() == [quote(key, safe="/") for key in some]
    assert percent_decoded(encoded.slice(seed, 500)).to_pylist() == some[seed : seed + 500]


def test_a_plus_sign_is_a_blank_hexadecimal_digits_are_of_either_case_and_a_null_stays() -> None:
    assert percent_decoded(pa.array(["a+b%2b%E9%9b%aa", None, ""])).to_pylist() == ["a b+雪", None, ""]


@pytest.mark.parametrize("function", [percent_encoded, percent_decoded])
def test_of_nothing_comes_nothing(function: Callable[[Any], Any]) -> None:
    assert function(pa.array([], pa.string())).to_pylist() == []
    assert function(pa.array(["", ""])).to_pylist() == ["", ""]


@pytest.mark.parametrize("text", ["%", "a%2", "%zz", "%2g", "%%41", "%ff", "%C3"])
def test_what_encodes_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"percent sign|UTF8"):
        percent_decoded(pa.array(["x", text, "41"]))
