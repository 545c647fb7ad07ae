"""What putting a version where its table is, or was, would send, and what is lost by it. Pure."""

import hashlib
from collections.abc import Iterator

import orjson

from backups.restores.calls import WriteLog, objects
from backups.restores.clearing import ClearStores, PutBack, PutLog, RemoveLog, SetAside
from backups.restores.path_contents import PathContents, in_words
from backups.restores.planning import (
    RESTORED_FROM,
    Keys,
    detached,
    files_in_words,
    of_time,
    plan_of,
    require_copyable,
    restored_version,
    title_of,
)
from changes.calls import Call
from changes.plan import ChangePlan
from lake.backup.objects import SET_ASIDE, BucketPrefix, place_of
from lake.delta.detaching import is_coordinated
from lake.delta.uri import TableUri
from lake.points.reading import FileCopy, RestorableVersion


def plan_in_place(found: RestorableVersion, to: TableUri, keys: Keys, stands: PathContents) -> ChangePlan:
    """Raises NotRestorable where a copy of the files would not be this table."""
    require_copyable(found, to)
    table = place_of(to.s3a)
    log = PutLog(
        backup=found.point.place,
        table=table,
        log=found.log,
        own=detached(found),
        encryption_key=keys.restored,
        backup_key=keys.backup,
    )
    files = PutBack(
        files=found.files,
        claim=b"",
        log=log,
        lacks=tuple(one for one in found.files if one.path not in stands.there),
    )
    aside = _aside(to, stands)
    before: tuple[Call, ...] = () if aside is None else (_set_aside(stands, table, aside, keys),)
    calls = (*before, files, *_clear(stands, table, aside), log)
    return plan_of(
        found,
        title_of(found.state.version, "in_place"),
        calls,
        _consequences(found, to, stands, aside),
        danger=_danger(found, stands),
        can_lose=not stands.is_empty,
    )


def _aside(to: TableUri, stands: PathContents) -> BucketPrefix | None:
    """The place beside the table where what stands there goes; what stands there decides its name. In a table that is
    all of its bucket it begins with an underscore, so that VACUUM passes over it."""
    if stands.is_empty:
        return None
    at = max((one.modified_at for one in stands.log.values()), default=None)
    stamp = f"{at:%Y%m%dT%H%M%SZ}-" if at else ""
    digest = hashlib.sha256(_items(stands))
    for one in stands.log.values():
        digest.update(f"{one.key}\0{one.size}\0{one.etag}\n".encode())
    name = f"{to.key}.{SET_ASIDE}" if to.key else f"_{SET_ASIDE}"
    return BucketPrefix(to.bucket, f"{name}{stamp}{digest.hexdigest()[:12]}/")


def _items(stands: PathContents) -> bytes:
    """The items of commit stores as the claim of what is set aside keeps them."""
    said = {
        "format": 1,
        "entries": [one._asdict() for one in stands.stores.entries],
        "registrations": [one._asdict() for one in stands.stores.registrations],
    }
    return orjson.dumps(said, option=orjson.OPT_INDENT_2)


def _set_aside(stands: PathContents, table: BucketPrefix, aside: BucketPrefix, keys: Keys) -> SetAside:
    to_aside = WriteLog(backup=table, table=aside, log=(), encryption_key=keys.restored, backup_key=keys.restored)
    return SetAside(
        files=tuple(FileCopy(f"log/{name}", one.key, one.size, one.etag, "") for name, one in stands.log.items()),
        claim=_items(stands),
        log=to_aside,
    )


def _clear(stands: PathContents, table: BucketPrefix, aside: BucketPrefix | None) -> Iterator[Call]:
    if stands.log and aside is not None:
        yield RemoveLog(table=table, log=tuple(stands.log.values()), aside=aside)
    if stands.stores.entries or stands.open_registrations:
        yield ClearStores(entries=stands.stores.entries, registrations=stands.open_registrations)


def _danger(found: RestorableVersion, stands: PathContents) -> str:
    version, newest = found.state.version, stands.newest
    lost = ""
    if newest > version:
        what = f"version {newest:,}" if newest == version + 1 else f"versions {version + 1:,} to {newest:,}"
        lost = f", and takes {what} out of the table"
    elif stands.log:
        lost = ", in place of the log that is there, which may be another table's"
    return (
        f"This puts version {version:,} where its table is, or was{lost}. To look at old data, restore to a new path; "
        "to undo a change of a table that can be read, RESTORE of Delta keeps its history."
    )


def _consequences(
    found: RestorableVersion, to: TableUri, stands: PathContents, aside: BucketPrefix | None
) -> Iterator[str]:
    yield f"Version {found.state.version:,} is put at {to.s3a}: {files_in_words(found)}. The backup is not changed."
    if stands.by_size:
        yield (
            f"Of the files that are there, {objects(stands.by_size)} have another ETag than in the backup, as those of "
            "parts or under a key do: their names and sizes alone say that they are the same."
        )
    if aside is not None:
        yield (
            f"What is there is kept in {aside.uri}: the log below log/, items of commit stores in the JSON. Data files "
            "of other versions, or of another table, stay where they are until VACUUM takes them. Stopped on the way, "
            "plan it again; what was set aside stays."
        )
    if stands.log:
        last = max(one.modified_at for one in stands.log.values())
        yield (
            f"Writers and VACUUM have to be stopped until it is done; the log was last written to at {in_words(last)}. "
            "Sessions that have a later version open have to be ended, and streams need new checkpoint locations."
        )
    if is_coordinated(found.metadata):
        yield (
            f"It leaves its commit coordinator by one more commit, version {found.state.version + 1:,}. Coordinate it "
            "anew where it is to be written by many."
        )
    stores = stands.stores.log_stores
    through = f" through the log store {stores[0]}" if len(stores) == 1 else ", through no log store"
    if not stores:
        yield "No log store that the table's connection knows has entries of this path."
    if any(not one.item["tablePath"]["S"].startswith("s3a:") for one in stands.stores.entries):
        yield "Entries have another scheme than the s3a that Spark writes as: to a log store these are two tables."
    yield (
        f"Spark then writes to it once{through}: version {restored_version(found) + 1:,} sets the property "
        f"{RESTORED_FROM} and changes no row."
    )
    if stands.newest > found.state.version:
        yield "Once it is verified, Levee no longer reports the loss of what is taken out."
    yield "Only this version is proven: earlier ones that its log still names may lack files."
    yield from of_time(found)


def log_store_of(plan: ChangePlan) -> str:
    """The log store that the table's commits go through, "" where none has entries of it, or several have."""
    stores = {one.store for call in plan.calls if isinstance(call, ClearStores) for one in call.entries}
    return min(stores) if len(stores) == 1 else ""
