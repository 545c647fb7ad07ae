"""What opening a version of a table in place would send, and what follows from it. Pure."""

from backups.restores.actions import RESTORE_KIND
from backups.restores.calls import OpenLog
from changes.plan import ChangePlan, Refusal
from lake.backup.objects import BucketPrefix
from lake.delta.opened_log import READ_ONLY, without_coordinator
from lake.points.reading import KeptPoint, RestorableVersion

OPEN = "@open/"
"""Where what was opened in place lies, below the folder of its table's points, which no backup and no proof reads."""


def opened_at(point: KeptPoint, version: int) -> BucketPrefix:
    """Where the log of a version goes: one place for each version of each point."""
    return point.place.below(f"{point.folder}{OPEN}{version}-{point.document['digest'][:16]}/")


def plan_opening(found: RestorableVersion, encryption_key: str) -> ChangePlan:
    point, state = found.point, found.state
    table = opened_at(point, state.version)
    call = OpenLog(
        source=point.source,
        backup=point.place,
        table=table,
        log=found.log,
        encryption_key=encryption_key,
    )
    return ChangePlan(
        kind=RESTORE_KIND,
        subject=point.document["table"],
        title=title_of(state.version),
        version=state.version,
        calls=(call,),
        consequences=tuple(_consequences(found, table)),
        conditions=(_condition(found),),
        rests_on=(point.uri,),
    )


def refused(table: str, reason: str, version: int | None = None) -> Refusal:
    return Refusal(RESTORE_KIND, table, reason, title=title_of(version), version=version)


def title_of(version: int | None) -> str:
    return "Open in place" if version is None else f"Open version {version:,} in place"


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


def _consequences(found: RestorableVersion, table: BucketPrefix) -> list[str]:
    state = found.state
    files = f"{state.files:,} data file{'' if state.files == 1 else 's'} of {state.bytes:,} bytes"
    said = [
        f"Version {state.version:,} opens at {table.uri}: {files}, which stay where they are in the backup. Nothing "
        "that exists is changed.",
        f"It is read-only: its protocol asks for the writer feature {READ_ONLY}, so that Spark and deltalake refuse to "
        "write to it, to optimize it and to change its properties, and Spark to vacuum it.",
        "It can be read as long as the backup keeps these files. Removing its folder takes none of them along.",
    ]
    properties = dict(found.metadata.get("configuration") or {})
    if without_coordinator(properties) != properties:
        said.append("The properties of its commit coordinator are left out: no engine asks the original's for it.")
    if not state.has_own_time:
        said.append("TIMESTAMP AS OF and the history go by the dates of the new objects, not by those of the source.")
    return said
