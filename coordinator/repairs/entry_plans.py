"""What plans about entries of S3DynamoDBLogStore share: the calls that publish one, and what forbids it."""

from collections.abc import Iterable, Iterator

from changes.calls import Call
from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import joined, thousands
from coordinator.repairs.item_calls import CompleteEntry, RequireNoEntry
from coordinator.repairs.object_calls import Item, Publish, RequireEqual, SaveAside
from coordinator.repairs.seen_before import doubt, why_contradicted
from coordinator.repairs.table_under_repair import TableUnderRepair, neighbours
from lake.delta.facts import LogStoreEntry


def published_from(table: TableUnderRepair, seen: SeenEntry) -> tuple[Call, ...]:
    source = seen.temp.name if seen.temp else ""
    check = table.check(source)
    if check is None:
        raise ValueError(f"{source} was not checked before it was planned to be copied.")
    bucket, key = table.place.bucket, table.published_key(seen.version)
    return (
        *_not_elsewhere(table, seen),
        Publish(bucket, table.key(source), key, check.etag, check.size),
        RequireEqual(bucket, table.key(source), key),
    )


def completion(table: TableUnderRepair, seen: SeenEntry) -> CompleteEntry:
    ttl = table.given.facts.ttl_seconds
    return CompleteEntry(seen.domain.store, seen.domain.path, seen.entry.file_name, seen.entry.temp_path or "", ttl)


def _not_elsewhere(table: TableUnderRepair, seen: SeenEntry) -> tuple[RequireNoEntry, ...]:
    """No other lock of the table may have given the version away since it was read."""
    others = (domain for domain in table.lock_domains if domain != seen.domain)
    return tuple(RequireNoEntry(one.store, one.path, seen.entry.file_name) for one in others)


def doubt_about(table: TableUnderRepair, seen: SeenEntry) -> str:
    """What publishing the entry's temp file may lose, by what was seen of its version before."""
    check = table.check(seen.temp.name) if seen.temp else None
    return doubt(table.given.facts.provenance.get(seen.version), check, seen.version) if check else ""


def saved_entry(table: TableUnderRepair, seen: SeenEntry, repair: str) -> SaveAside:
    entry = seen.entry
    name = (entry.temp_path or entry.file_name).rpartition("/")[2]
    folder = table.rescue_folder(repair, entry.version)
    key, item = f"{folder}{name}.item.json", wire_entry(entry)
    return SaveAside(table.place.bucket, key, item=item, table=seen.domain.store, copied_from=table.copied_from)


def wire_entry(entry: LogStoreEntry) -> Item:
    """A sound entry as DynamoDB holds it."""
    item = {
        "tablePath": {"S": entry.table_path},
        "fileName": {"S": entry.file_name},
        "tempPath": {"S": entry.temp_path or ""},
        "complete": {"S": "true" if entry.complete else "false"},
    }
    numbers = {"expireTime": entry.expire_time, "commitTime": entry.commit_time}
    return {**item, **{name: {"N": str(value)} for name, value in numbers.items() if value is not None}}


def sole_entry(table: TableUnderRepair, version: int) -> tuple[SeenEntry | None, str]:
    """The one entry of a version, or why there is no such one."""
    found = table.entries_of(version)
    if len(found) > 1:
        paths = joined([f"{one.path} in {one.store}" for one in sorted(seen.domain for seen in found)])
        return None, f"Entries of version {thousands(version)} exist under {paths}; only one of them can be right."
    return (found[0], "") if found else (None, "The entry is gone; look at the table again.")


def incomplete_entry(table: TableUnderRepair, version: int) -> SeenEntry | None:
    """The one incomplete entry of a version, whatever complete ones other lock domains hold."""
    found = [one for one in table.entries_of(version) if one.entry.complete is False]
    return found[0] if len(found) == 1 else None


def why_not_touch(table: TableUnderRepair, version: int, seen: SeenEntry | None) -> Iterator[str]:
    yield table.why_nothing()
    yield table.why_not_alone()
    if seen is None:
        yield sole_entry(table, version)[1] or "No entry of this version is incomplete; look at the table again."
        return
    if seen.entry.problems:
        yield f"The entry is malformed, so nothing rests on it: {seen.entry.problems[0].rstrip('.')}."
    if seen.temp is None:
        yield "The entry names no temp file of its version."


def why_not_publish(
    table: TableUnderRepair, version: int, seen: SeenEntry | None, *, accepted_elsewhere: bool, after: str = ""
) -> Iterator[str]:
    yield from why_not_touch(table, version, seen)
    if seen is None or seen.temp is None:
        return
    yield sole_entry(table, version)[1]
    if seen.file.present is not False:
        yield f"…{version}.json is there; look at the table again."
    if not seen.temp.present:
        yield f"The temp file {seen.temp.name} is gone. Bring it back from versioning or a backup."
    yield _claimed_by_coordinator(table, version, accepted_elsewhere)
    if version == 0 and not seen.entry.complete:
        yield table.why_not_first()
    yield table.why_not_here(seen.temp.name, version, after)
    yield table.why_not_copy(seen.temp.name)
    check = table.check(seen.temp.name)
    yield why_contradicted(table.given.facts.provenance.get(version), check, version) if check else ""


def _claimed_by_coordinator(table: TableUnderRepair, version: int, by_version: bool) -> str:
    """A version that a coordinator accepted too; what it lists counts always, `tableVersion` for pending commits."""
    for one in table.registrations:
        listed = any(commit.version == version for commit in one.commits)
        passed = one.has_accepted_commits is not False and (one.table_version is None or one.table_version >= version)
        if listed or (by_version and passed):
            return f"Registration {one.table_id} has accepted version {thousands(version)} as well."
    return ""


def version_of(finding: Finding) -> int:
    return finding.version if finding.version is not None else -1


def files_of_entries(table: TableUnderRepair, versions: Iterable[int]) -> Iterator[str]:
    """Files that publishing these entries needs in full: their temp files, and the published neighbours."""
    for version in versions:
        yield from (one.temp.name for one in table.entries_of(version) if one.temp and one.temp.present)
        yield from neighbours(table, version)
