"""All restorable versions of a table of 200,000 files and 421 versions: one pass over its log against deltalake.

Levee reads it from a checkpoint of the first version, as in a log that was cleaned up, and from the first commit, whose
158,000 files are JSON. deltalake opens the newest version, from a checkpoint of it, and lists its files; and, walking
back, one version after the other, of which a few are timed and counted for all. All read from this machine's disk.
"""

import io
import json
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import deltalake

from benchmarks.harness import compete, ratio_line, tell
from lake.aws.list_page import ObjectSummary
from lake.delta.file_actions import LogUnreadable
from lake.delta.listing import read_listing
from lake.delta.names import commit_name
from lake.delta.proving import Prover
from lake.delta.restorable import TableFiles

FILES, VERSIONS, EACH = 200_000, 421, 100
WALKED = range(0, VERSIONS, 60)
CLEANED, WHOLE, DELTALAKE = "levee: from a checkpoint", "levee: from the first commit", "deltalake: the newest"
_STATS = '{"numRecords":1,"minValues":{"id":1},"maxValues":{"id":9},"nullCount":{"id":0}}'


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        log = Path(home) / "_delta_log"
        sizes = write_log(log, [FILES - EACH * (VERSIONS - 1)] + [EACH] * (VERSIONS - 1), (0, VERSIONS - 1))
        contestants = {
            CLEANED: lambda: _prove(log, sizes, cleaned=True),
            WHOLE: lambda: _prove(log, sizes, cleaned=False),
            DELTALAKE: lambda: _open(home),
        }
        laps = compete(contestants, untimed=1)
        tell(f"{FILES:,} files, {VERSIONS} versions", laps)
        for levee in (CLEANED, WHOLE):
            ratio_line(laps, levee, DELTALAKE, at_most=1.5)
        began = time.perf_counter()
        for version in WALKED:
            deltalake.DeltaTable(home, version=version).file_uris()
        walked = (time.perf_counter() - began) / len(WALKED) * VERSIONS
        print(f"walking back through all of them with deltalake: about {walked / min(laps[WHOLE]):.0f}x")


def write_log(log: Path, added: Sequence[int], checkpoints: Collection[int], size: int | None = None) -> dict[str, int]:
    """Write the log of a table that only grows, by so many files with each version, and checkpoints of some of these.
    Returns the bytes of each data file, which is `size` where that is given."""
    log.mkdir()
    sizes: dict[str, int] = {}
    for version, files in enumerate(added):
        rows: list[object] = [{"commitInfo": {"timestamp": version, "operation": "WRITE"}}]
        if version == 0:
            schema = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}'
            kind = {"format": {"provider": "parquet", "options": {}}, "partitionColumns": [], "configuration": {}}
            rows.append({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}})
            rows.append({"metaData": {"id": "benchmark", "schemaString": schema, "createdTime": 0, **kind}})
        for _ in range(files):
            path = f"part-{len(sizes):05d}-7426a6d4-0b3c-4f6e-9b9a-2f3d4c5b6a71.c000.snappy.parquet"
            sizes[path] = 100_000 + len(sizes) if size is None else size
            add = {"path": path, "size": sizes[path], "partitionValues": {}, "modificationTime": 0, "dataChange": True}
            rows.append({"add": {**add, "stats": _STATS}})
        (log / commit_name(version)).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        if version in checkpoints:
            deltalake.DeltaTable(str(log.parent)).create_checkpoint()
    return sizes


class _OnDisk:
    def __init__(self, log: Path) -> None:
        self.log = log

    def bodies(self, names: Sequence[str]) -> Iterator[bytes | LogUnreadable]:
        return ((self.log / name).read_bytes() for name in names)

    def open(self, name: str) -> BinaryIO:
        return io.BytesIO((self.log / name).read_bytes())


def _prove(log: Path, sizes: dict[str, int], *, cleaned: bool) -> int:
    """How many files the newest restorable version has."""
    names = [one for one in log.iterdir() if not cleaned or one.name != commit_name(0)]
    found = [ObjectSummary(one.name, one.stat().st_size, datetime.now(UTC), "") for one in names]
    listing = read_listing(found, "", folders_listed=True)
    proof = Prover(listing, _OnDisk(log), TableFiles("", "lake", lambda key: key, sizes.get)).prove()
    assert proof.ranges == ((int(cleaned), VERSIONS - 1),), proof.problems
    assert proof.newest is not None
    return proof.newest.files


def _open(home: str) -> int:
    return len(deltalake.DeltaTable(home).file_uris())


if __name__ == "__main__":
    main()
