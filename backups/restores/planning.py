"""What opening a version in the backup would send, or restoring it to a path of its own, and what follows. Pure."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from backups.restores.actions import RESTORE_KIND, RestoreKind
from backups.restores.calls import OpenLog, WriteLog, objects
from backups.restores.copying import CopyFiles
from changes.calls import Call
from changes.plan import ChangePlan, Refusal
from dashboard.connections.accepted import LeftBehind
from lake.backup.objects import BucketPrefix
from lake.delta.detaching import detaching_commit, is_coordinated
from lake.delta.names import commit_name
from lake.delta.opened_log import READ_ONLY
from lake.delta.uri import LONGEST_KEY, TableUri
from lake.points.reading import KeptPoint, NotRestorable, RestorableVersion

OPEN = "@open/"
"""Where what was opened lies, below the folder of its table's points, which no backup and no proof reads."""
RESTORED_FROM = "levee.restoredFrom"
"""The table property by which Spark writes to a restored table once, as s3a://lake/orders@41."""
MOST_FILES = 1_000_000
"""Of one version that is copied: its plan takes about two kilobytes of memory for each."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The KMS keys of the backup and of what is restored; "" for what a bucket encrypts with."""

    backup: str
    restored: str


def opened_at(point: KeptPoint, version: int) -> BucketPrefix:
    """Where the log of a version goes: one place for each version of each point."""
    return point.place.below(f"{point.folder}{OPEN}{version}-{point.document['digest'][:16]}/")


def restored_version(found: RestorableVersion) -> int:
    """The version of a table that was restored to a path of its own, before anybody writes to it."""
    return found.state.version + is_coordinated(found.metadata)


def restored_from(found: RestorableVersion) -> str:
    """The value of RESTORED_FROM."""
    return f"{found.point.document['table']}@{found.state.version}"


def plan_opening(found: RestorableVersion, encryption_key: str) -> ChangePlan:
    point, table = found.point, opened_at(found.point, found.state.version)
    call = OpenLog(
        source=point.source,
        backup=point.place,
        table=table,
        log=found.log,
        encryption_key=encryption_key,
        backup_key=encryption_key,
    )
    return plan_of(found, title_of(found.state.version, "instant"), (call,), _of_opening(found, table))


def plan_restoring(found: RestorableVersion, to: TableUri, keys: Keys, left_behind: LeftBehind) -> ChangePlan:
    """Raises NotRestorable where a copy of the files would not be this table."""
    require_copyable(found, to)
    if left_behind.entries:
        raise NotRestorable(
            f"The log store {left_behind.log_stores[0]} has entries of {to.s3a}, of a table that was there before: its "
            "writers would go by them. Choose another path, or remove the entries first."
        )
    copying = copying_to(found, to, keys)
    title, said = title_of(found.state.version, "full"), _of_restoring(found, to, left_behind)
    return plan_of(found, title, (copying, copying.log), said)


def copying_to(found: RestorableVersion, to: TableUri, keys: Keys) -> CopyFiles:
    """What copies a version's files to a path; its `log` is what leads to them. Raises NotRestorable."""
    log = WriteLog(
        backup=found.point.place,
        table=BucketPrefix(to.bucket, f"{to.key}/"),
        log=found.log,
        own=detached(found),
        after=restored_version(found) + 1,
        encryption_key=keys.restored,
        backup_key=keys.backup,
    )
    return CopyFiles(files=found.files, claim=_claim(found, to), log=log)


def refused(table: str, reason: str, kind: RestoreKind, version: int | None = None) -> Refusal:
    reason = f"Nothing is removed. {reason}" if kind == "remove" else reason
    return Refusal(RESTORE_KIND, table, reason, title=title_of(version, kind), version=version)


def title_of(version: int | None, kind: RestoreKind) -> str:
    what = "it" if version is None else f"version {version:,}"
    titles: dict[RestoreKind, str] = {
        "instant": f"Open {what} in the backup",
        "full": f"Restore {what} to a new path",
        "in_place": f"Put {what} back in place",
        "remove": f"Remove the restored copy{'' if version is None else f' of {what}'}",
    }
    return titles[kind]


def plan_of(
    found: RestorableVersion,
    title: str,
    calls: tuple[Call, ...],
    said: Iterator[str],
    *,
    danger: str = "",
    can_lose: bool = False,
) -> ChangePlan:
    point, version = found.point, found.state.version
    return ChangePlan(
        kind=RESTORE_KIND,
        subject=point.document["table"],
        title=title,
        version=version,
        calls=calls,
        consequences=tuple(said),
        conditions=(_condition(found),),
        danger=danger,
        can_lose=can_lose,
        rests_on=(point.uri,),
    )


def require_copyable(found: RestorableVersion, to: TableUri) -> None:
    files, version = found.files, found.state.version
    elsewhere = sum(1 for one in files if not one.path)
    if elsewhere:
        raise NotRestorable(
            f"The log of version {version:,} names {objects(elsewhere)} in full, as that of a shallow clone does: in a "
            "copy it would lead to the original's. Open it in the backup, and copy it by an engine."
        )
    if len(files) > MOST_FILES:
        raise NotRestorable(
            f"Version {version:,} has {objects(len(files))}, and at most {MOST_FILES:,} are copied. Open it in the "
            "backup, and copy it by an engine."
        )
    longest = max((len(one.path.encode()) for one in files), default=0)
    if len(f"{to.key}/".encode()) + longest > LONGEST_KEY:
        raise NotRestorable(f"{to.s3a} is too long for the names below it: a key has at most {LONGEST_KEY:,} bytes.")


def detached(found: RestorableVersion) -> tuple[tuple[str, bytes], ...]:
    """The commit by which it leaves its coordinator, where it has one, with its name. Raises NotRestorable."""
    state = found.state
    if not is_coordinated(found.metadata):
        return ()
    if state.in_commit_timestamp is None:
        raise NotRestorable(
            f"Version {state.version:,} is of a coordinated table, and no in-commit timestamp of it is in the restore "
            "point's log: what comes after it cannot be dated. Open it in the backup."
        )
    commit = detaching_commit(found.protocol, found.metadata, state.in_commit_timestamp)
    return ((commit_name(state.version + 1), commit),)


def _claim(found: RestorableVersion, to: TableUri) -> bytes:
    """What claims the path, the same for the same restore: which version of which table, by which files."""
    lines = b"".join(f"{one.path}\0{one.size}\0{one.etag}\n".encode() for one in sorted(found.files))
    said = {
        "format": 1,
        "table": found.point.document["table"],
        "version": found.state.version,
        "to": to.s3a,
        "files": len(found.files),
        "hash": hashlib.sha256(lines).hexdigest(),
    }
    return orjson.dumps(said, option=orjson.OPT_INDENT_2)


def _condition(found: RestorableVersion) -> str:
    version = found.state.version
    if version == found.point.document["version"]:
        return (
            f"Each object of version {version:,} is in the backup with the size and the ETag that it was proven with."
        )
    return (
        f"Each object of version {version:,} is in the backup with the size that the log says, and with its ETag where "
        "the restore point lists it."
    )


def files_in_words(found: RestorableVersion) -> str:
    state = found.state
    return f"{state.files:,} data file{'' if state.files == 1 else 's'} of {state.bytes:,} bytes"


def _of_opening(found: RestorableVersion, table: BucketPrefix) -> Iterator[str]:
    yield (
        f"Version {found.state.version:,} opens at {table.uri}: {files_in_words(found)}, which stay where they are in "
        "the backup. Nothing that exists is changed."
    )
    yield (
        f"It is read-only: its protocol asks for the writer feature {READ_ONLY}, so that Spark and deltalake refuse to "
        "write to it, to optimize it and to change its properties, and Spark to vacuum it."
    )
    yield "It can be read as long as the backup keeps these files. Removing its folder takes none of them along."
    if is_coordinated(found.metadata):
        yield "The properties of its commit coordinator are left out: no engine asks the original's for it."
    yield from of_time(found)


def _of_restoring(found: RestorableVersion, to: TableUri, left_behind: LeftBehind) -> Iterator[str]:
    yield (
        f"Version {found.state.version:,} is restored to {to.s3a}: {files_in_words(found)}, as a table of its own. "
        "Nothing that exists is changed, neither the original nor the backup, and no catalog."
    )
    if is_coordinated(found.metadata):
        yield (
            f"It leaves its commit coordinator by one more commit, version {found.state.version + 1:,}, which is there "
            "before any engine can open it: the original's registration is never asked. Coordinate it anew where it is "
            "to be written by many."
        )
    yield (
        f"Spark then writes to it once: version {restored_version(found) + 1:,} sets the property {RESTORED_FROM} and "
        "changes no row."
    )
    if left_behind.not_known:
        yield from left_behind.not_known
    else:
        yield "No log store that the plan's connections know has entries of this path, and none are written."
    yield "Only this version is proven: earlier ones that its log still names may lack files."
    yield from of_time(found)


def of_time(found: RestorableVersion) -> Iterator[str]:
    if dict(found.metadata.get("configuration") or {}).get("delta.enableInCommitTimestamps") != "true":
        yield "TIMESTAMP AS OF and the history go by the dates of the new objects, not by those of the source."
