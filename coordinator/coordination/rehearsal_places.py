"""Where a rehearsal has its copy of a table's log, and which places those are. Pure."""

import hashlib
from collections.abc import Iterable
from uuid import UUID

from coordinator.scratch import ScratchFolder
from lake.delta.uri import TableUri

FOLDER = "_levee_rehearsal"
"""Discovery passes over folders whose name begins so, and so does VACUUM of a table around it."""
LONGEST_SCRATCH_KEY = 850
"""Bytes of a key that leave room for the names of the log."""

Place = tuple[str, str]
"""Bucket and key of a table."""


def folder_of(bucket: str, key: str) -> ScratchFolder:
    """The folder of a table's rehearsals, beside the table: who may write there may write here."""
    parent = f"{key.rpartition('/')[0]}/" if "/" in key else ""
    digest = hashlib.sha256(f"{bucket}/{key}".encode()).hexdigest()[:32]
    return ScratchFolder(bucket, f"{parent}{FOLDER}/{digest}/")


def scratch_of(location: str, job: UUID) -> TableUri:
    """The copy that one job makes of a table, in the scheme of the table's writers."""
    uri = TableUri.parse(location)
    return folder_of(uri.bucket, uri.key).table(uri.scheme, job.hex)


def spelled(scratch: TableUri) -> str:
    """As Spark is given it."""
    return f"{scratch.scheme}://{scratch.bucket}/{scratch.key}"


def why_no_room(scratch: TableUri) -> str:
    """Why a copy cannot be made there; "" where it can."""
    size = len(scratch.key.encode())
    return f"The copy's path would be {size:,} bytes long, which leaves no room." if size > LONGEST_SCRATCH_KEY else ""


def rehearsal_places(named: Iterable[Place], known: Iterable[Place]) -> frozenset[Place]:
    """Those of the named places that are a copy of a known table: items of a rehearsal that runs, or was cut short."""
    possible = [(bucket, key) for bucket, key in named if f"{FOLDER}/" in key]
    if not possible:
        return frozenset()
    folders = {(one.bucket, one.prefix) for one in (folder_of(*place) for place in known)}
    return frozenset((bucket, key) for bucket, key in possible if (bucket, f"{key.rpartition('/')[0]}/") in folders)
