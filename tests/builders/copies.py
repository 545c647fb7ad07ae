"""Copies of a table as bytes by key, and their proof. The table lies at `t/` of the bucket `lake`."""

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from lake.aws.list_page import ObjectSummary
from lake.delta.facts import LogListing, LogObject
from lake.delta.file_actions import LogUnreadable
from lake.delta.listing import read_listing
from lake.delta.names import commit_name
from lake.delta.proving import Prover, TableProof
from lake.delta.restorable import TableFiles, as_the_source_has_it
from tests.builders.delta import EPOCH_MS, WRITTEN_AT, add, commit_bytes, commit_info, first_commit_bytes

LOG = "t/_delta_log/"


@dataclass(frozen=True)
class LogInMemory:
    objects: Mapping[str, bytes]

    def bodies(self, names: Sequence[str]) -> Iterator[bytes | LogUnreadable]:
        for name in names:
            yield self.objects.get(LOG + name, LogUnreadable(f"{name} is not there."))

    def open(self, name: str) -> BinaryIO:
        if LOG + name not in self.objects:
            raise LogUnreadable(f"{name} is not there.")
        return io.BytesIO(self.objects[LOG + name])


def log_listing(objects: Mapping[str, bytes]) -> LogListing:
    found = [
        ObjectSummary(key, len(data), WRITTEN_AT, hashlib.md5(data).hexdigest())  # noqa: S324 - as S3 has it
        for key, data in sorted(objects.items())
    ]
    return read_listing(found, LOG, folders_listed=True)


def same_etag(found: LogObject, there: LogObject) -> bool:
    return (found.size, found.etag) == (there.size, there.etag)


def proof_of(copy: Mapping[str, bytes], source: Mapping[str, bytes] | None = None) -> TableProof:
    """What of the table can be restored from a copy, whose log has to be the source's where that is given."""
    listing = log_listing(copy)
    if source is not None:
        listing, _ = as_the_source_has_it(listing, log_listing(source), same_etag)
    sizes = {key: len(data) for key, data in copy.items()}
    return Prover(listing, LogInMemory(copy), TableFiles("t", "lake", lambda key: key, sizes.get)).prove()


def name(version: int) -> str:
    return f"part-{version}.parquet"


def appended(versions: Iterable[int]) -> dict[str, bytes]:
    """A table of one file of 500 bytes for each version above the first."""
    objects = {}
    for version in versions:
        is_first = version == 0
        body = first_commit_bytes() if is_first else commit_bytes(commit_info(), add(name(version)))
        objects[LOG + commit_name(version)] = body
        if not is_first:
            objects[f"t/{name(version)}"] = b"x" * 500
    return objects


def without(objects: dict[str, bytes], *keys: str) -> dict[str, bytes]:
    return {key: data for key, data in objects.items() if key not in keys}


def commit(version: int, *actions: Any, timestamp: int = EPOCH_MS) -> dict[str, bytes]:
    return {LOG + commit_name(version): commit_bytes(commit_info(timestamp=timestamp), *actions)}
