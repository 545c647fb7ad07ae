"""Random tables, copied at random moments with random losses: what is claimed opens with the rows that the source had.

The oracle knows the rows of every version at the source and opens copies with deltalake, which shares no code with
the proof.
"""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from lake.delta.names import commit_name
from lake.delta.replay import usable_checkpoints
from tests.builders.copies import LOG, log_listing, proof_of, same_etag
from tests.choosing import slowly
from tests.lazily import lazily

deltalake = lazily("deltalake")
pa = lazily("pyarrow")

Objects = dict[str, bytes]
STEPS = 12


class Source:
    """A table that deltalake writes, with the rows of each version of its present life."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder / "t", chance
        self.rows: dict[int, list[int]] = {}
        self.next_id = 0
        self._create()

    def step(self) -> None:
        """One change that people make to tables, and now and then what time and drops do to logs and files."""
        changes = (self._append, self._append, self._overwrite, self._delete, self._compact, self._restore)
        others = (self._vacuum, self._checkpoint, self._clean_up_log, self._recreate)
        self.chance.choices((*changes, *others), (4, 4, 2, 4, 3, 1, 2, 3, 2, 1))[0]()

    def objects(self) -> Objects:
        return objects_of(self.folder.parent)

    def _table(self) -> Any:
        return deltalake.DeltaTable(str(self.folder))

    def _create(self) -> None:
        self.rows = {}
        self._append()

    def _append(self, mode: str = "append") -> None:
        count = self.chance.randint(1, 4)
        ids = list(range(self.next_id, self.next_id + count))
        self.next_id += count
        deltalake.write_deltalake(str(self.folder), pa.table({"id": pa.array(ids, pa.int64())}), mode=mode)
        self._note()

    def _overwrite(self) -> None:
        self._append("overwrite")

    def _delete(self) -> None:
        self._table().delete(f"id % 3 = {self.chance.randint(0, 2)}")
        self._note()

    def _compact(self) -> None:
        self._table().optimize.compact()
        self._note()

    def _restore(self) -> None:
        table = self._table()
        versions = [version for version in self.rows if commit_exists(self.folder, version)]
        try:
            table.restore(self.chance.choice(versions), ignore_missing_files=False)
        except Exception:  # noqa: BLE001 - its files may be vacuumed
            return
        self._note()

    def _vacuum(self) -> None:
        self._table().vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
        self._note()

    def _checkpoint(self) -> None:
        self._table().create_checkpoint()

    def _clean_up_log(self) -> None:
        """What Delta deletes of a log after some time: everything before a checkpoint."""
        checkpoints = sorted(usable_checkpoints(log_listing(self.objects())))
        if checkpoints:
            for version in range(self.chance.choice(checkpoints)):
                for suffix in (".json", ".checkpoint.parquet"):
                    (self.folder / "_delta_log" / f"{version:020d}{suffix}").unlink(missing_ok=True)

    def _recreate(self) -> None:
        shutil.rmtree(self.folder)
        self._create()

    def _note(self) -> None:
        """Keep what the newest version holds. VACUUM makes two that change nothing; what changes nothing makes none."""
        table = self._table()
        for version in range(max(self.rows, default=-1) + 1, table.version() + 1):
            self.rows[version] = ids_of(table)


def objects_of(folder: Path) -> Objects:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def commit_exists(folder: Path, version: int) -> bool:
    return (folder / "_delta_log" / commit_name(version)).exists()


def ids_of(table: Any) -> list[int]:
    return sorted(table.to_pyarrow_table()["id"].to_pylist())


def back_up(pool: Objects, source: Source, stale: Objects, chance: random.Random) -> None:
    """Copy what the source still has of an older listing into the pool, but for some copies that fail."""
    now = source.objects()
    for key in stale:
        if key in now and chance.random() > 0.12 and not key.endswith("_last_checkpoint"):
            pool[key] = now[key]


def lay_out(objects: Objects, folder: Path) -> None:
    """Let the folder hold these objects and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    for key, data in objects.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(data)


def opened(objects: Objects, folder: Path) -> tuple[int, list[int]] | None:
    """Version and rows of a table of these objects, None where it does not open."""
    lay_out(objects, folder)
    try:
        table = deltalake.DeltaTable(str(folder / "t"))
        return table.version(), ids_of(table)
    except Exception:  # noqa: BLE001 - whatever it raises, it does not open
        return None


def restored(pool: Objects, run_base: int, version: int) -> Objects:
    """The pool's data, and of its log what the proof read for this version."""
    listing = log_listing(pool)
    parts = usable_checkpoints(listing).get(run_base, ())
    names = {one.name for one in parts} | {commit_name(one) for one in range(max(run_base, 0), version + 1)}
    return {key: data for key, data in pool.items() if not key.startswith(LOG) or key[len(LOG) :] in names}


def at_its_best(pool: Objects, source: Objects, version: int) -> Objects:
    """The pool's data, and all of its log up to a version that is as the source has it."""
    there, copied = log_listing(source), log_listing(pool)
    names = {
        one.name
        for number, one in copied.commits.items()
        if number <= version and number in there.commits and same_etag(one, there.commits[number])
    }
    originals = {one.name: one for of in there.checkpoints.values() for one in of}
    for number, of in copied.checkpoints.items():
        same = [one for one in of if one.name in originals and same_etag(one, originals[one.name])]
        names |= {one.name for one in same if number <= version}
    return {key: data for key, data in pool.items() if not key.startswith(LOG) or key[len(LOG) :] in names}


@pytest.mark.parametrize("seed", [*range(6), *map(slowly, range(6, 400))])
def test_what_is_claimed_opens_with_the_rows_of_the_source_and_nothing_else_does(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    source, pool = Source(tmp_path / "source", chance), {}
    stale = source.objects()
    for _ in range(STEPS):
        source.step()
        if chance.random() < 0.3:
            back_up(pool, source, stale, chance)
        if chance.random() < 0.5:
            stale = source.objects()
    back_up(pool, source, stale, chance)
    there = source.objects()

    proof = proof_of(pool, there)

    claimed = {version: segment.base for segment in proof.segments for version in segment.good}
    for version, base in claimed.items():
        assert opened(restored(pool, base, version), tmp_path / "copy") == (version, source.rows[version])
    # Spark refuses a checkpoint without the commit of its version, which deltalake opens.
    for version in log_listing(pool).commits.keys() & log_listing(there).commits.keys() - claimed.keys():
        assert opened(at_its_best(pool, there, version), tmp_path / "copy") != (version, source.rows[version])
    assert proof.newest is None or proof.newest.version == max(claimed)
