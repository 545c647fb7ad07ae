"""Tables of keys in Arrow against the definition, one key after another."""

import random

import pytest

from tests.lake.spark.backupground import HOSTILE
from tests.lazily import lazily

pa = lazily("pyarrow")
tables = lazily("lake.spark.backups.tables")


def innermost(key: str, roots: set[str]) -> str | None:
    """The deepest root that is a folder above the key."""
    parts = key.split("/")
    above = ["/".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)]
    return next((root for root in [*above, ""] if root in roots), None)


def roots_and_counts(keys: list[str], size: int = 7) -> dict[str | None, int]:
    batches = pa.table({"key": pa.array(keys, pa.string())}).to_batches(max_chunksize=size)
    (told,) = tables.count_roots(iter(batches))
    return dict(zip(told["root"].to_pylist(), told["objects"].to_pylist(), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_each_key_has_the_innermost_root_above_it(seed: int) -> None:
    drawn = random.Random(seed)
    parts = ["a", "b", "_delta_log", "", "d ü", "x\ny", "=%+"]
    keys = ["/".join(drawn.choices(parts, k=drawn.randint(1, 6))) for _ in range(300)]
    roots = {"/".join(drawn.choices(parts, k=drawn.randint(1, 4))) for _ in range(drawn.randint(0, 20))}
    roots |= {""} if seed % 3 == 0 else set()
    found = tables.tables_of(pa.array(keys), tables.by_depth(sorted(roots))).to_pylist()
    assert found == [innermost(key, roots) for key in keys]


def test_without_roots_no_key_has_a_table() -> None:
    assert tables.tables_of(pa.array(["a/b", "c"]), tables.by_depth([])).to_pylist() == [None, None]


def test_roots_are_what_lies_before_the_first_log_in_a_key() -> None:
    keys = [
        "_delta_log/0.json",
        "t/_delta_log/0.json",
        "t/_delta_log/1.json",
        "t/x_delta_log/1.json",
        "t/in/_delta_log/line\nbreak",
        "t/_delta_log/_delta_log/0.json",
        "t/_delta_log",
        "plain",
    ]
    assert roots_and_counts(keys) == {"": 1, "t": 3, "t/in": 1, None: 3}


def test_counts_are_of_all_batches_of_a_task() -> None:
    keys = [*HOSTILE, *(f"t/_delta_log/{number}" for number in range(50))]
    assert sum(roots_and_counts(keys, size=3).values()) == len(keys)
    assert roots_and_counts([]) == {}
