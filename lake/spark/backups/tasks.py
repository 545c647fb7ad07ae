"""Work that tasks do in Python from file to file: each reads its shares of what is stored, and hands Arrow batches on.

A row that crosses from the JVM to Python, or back, costs more than most of what is done with it here. So stages follow
each other within one Python process, and Spark is given what it is needed for: a few rows that tell of the work done.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from gc import collect, freeze
from itertools import islice
from operator import attrgetter
from typing import Any, TypeVar

SHARE_BYTES = 16 * 1024**2
"""A file above this is read in shares, as far as its format allows."""

ROWS = 10_000
"""How many rows a batch holds that is made of single ones."""

Work = TypeVar("Work")
Batches = Iterator[Any]
BatchStep = Callable[[Batches], Batches]
"""From Arrow record batches to Arrow record batches; runs on the executors, so it holds nothing of the session."""


@dataclass(frozen=True, slots=True)
class Share:
    """The `number`-th of `of` shares of a stored file; `bytes` is about the size of this share.

    `etag` is that of the file which was verified, "" where none was; `kind` says of what kind its rows are.
    """

    bucket: str
    key: str
    bytes: int
    number: int = 0
    of: int = 1
    etag: str = ""
    kind: str = ""


def shares_of(bucket: str, key: str, size: int, **more: str) -> list[Share]:
    """As many shares of a file of `size` bytes as hold SHARE_BYTES at most."""
    count = max(1, -(-size // SHARE_BYTES))
    return [Share(bucket, key, size // count, number, count, **more) for number in range(count)]


def balanced(shares: Iterable[Share], tasks: int) -> list[list[Share]]:
    """What each of at most `tasks` tasks reads: the largest shares first, each to the task that has least."""
    held: list[list[Share]] = [[] for _ in range(tasks)]
    least = [(0, number) for number in range(tasks)]
    for share in sorted(shares, key=attrgetter("bytes"), reverse=True):
        given, number = heapq.heappop(least)
        held[number].append(share)
        heapq.heappush(least, (given + share.bytes, number))
    return [one for one in held if one]


def run_tasks(spark: Any, works: Sequence[Work], do: Callable[[Work], Batches], schema: str) -> Any:
    """The rows that `do` makes of each of `works`, a task for each; `works` go to the executors pickled."""

    def each(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from do(works[number])
        keep_modules()

    return spark.range(0, len(works), 1, max(1, len(works))).mapInArrow(each, schema)


def then(first: Callable[[Work], Batches], *stages: BatchStep) -> Callable[[Work], Batches]:
    """One stage after the other, batch by batch, within one process."""

    def run(work: Work) -> Batches:
        batches = first(work)
        for stage in stages:
            batches = stage(batches)
        return batches

    return run


def batches_of(rows: Iterable[tuple[Any, ...]], schema: str) -> Batches:
    """Rows of a schema as Spark writes it, ROWS at a time."""
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "bigint": pa.int64(),
        "boolean": pa.bool_(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "array<string>": pa.list_(pa.string()),
    }
    names, types = zip(*(field.split(" ") for field in schema.split(", ")), strict=True)
    waiting = iter(rows)
    while some := list(islice(waiting, ROWS)):
        columns = zip(zip(*some, strict=True), types, strict=True)
        yield pa.RecordBatch.from_arrays([pa.array(values, kinds[kind]) for values, kind in columns], names=names)


@cache
def keep_modules() -> None:
    """Take what is loaded by now out of all later collections of garbage; ask for it at the end of a task.

    Spark's daemon collects garbage after each task (pyspark/daemon.py), before the worker takes the next one. Where
    botocore, numpy, pyarrow and pandas are loaded that takes 40 ms, a good part of a task's time, and finds nothing.
    """
    collect()
    freeze()
