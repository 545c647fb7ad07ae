"""What a whole file of the log says of itself, before a repair rests on it."""

import hashlib

from coordinator.repairs.plan import FileCheck
from lake.delta.actions import read_commit, read_commit_head
from lake.delta.coordinator_properties import coordinator_table_id
from lake.delta.names import parse_name


def check_file(name: str, data: bytes, etag: str) -> FileCheck:
    """Check the bytes of a commit; `name` is relative to `_delta_log/`. Never raises."""
    version = parse_name(name).version or 0
    commit = read_commit(version, data, name=name)
    first = read_commit_head(version, data, name=name)
    problems = dict.fromkeys(f"{p.place}: {p.reason}" for p in (*first.problems, *commit.problems))
    return FileCheck(
        name=name,
        size=len(data),
        etag=etag,
        sha256=hashlib.sha256(data).hexdigest(),
        lines=commit.info.lines,
        in_commit_timestamp=first.info.in_commit_timestamp,
        problems=tuple(problems),
        registration=coordinator_table_id(commit.metadata.properties) if commit.metadata else "",
    )
