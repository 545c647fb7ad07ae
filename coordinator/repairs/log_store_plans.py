"""Plans for S3DynamoDBLogStore: what may be done in the states C2 to C11, and what may not."""

from collections.abc import Iterator, Sequence

from changes.calls import Call
from coordinator.protocols.lock_domains import domains_in_use
from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import counted, joined, thousands, verb, version_list
from coordinator.repairs.facts import RepairName
from coordinator.repairs.following import why_not_following
from coordinator.repairs.item_calls import CompleteEntry, DeleteEntry, RequireNoEntry
from coordinator.repairs.object_calls import Item, Publish, RequireAbsent, RequireEmpty, RequireEqual, SaveAside
from coordinator.repairs.seen_before import doubt, why_contradicted
from coordinator.repairs.table_under_repair import Outcome, TableUnderRepair, first_reason
from lake.delta.facts import LogStoreEntry

MOST_REPUBLISHED = 100
"""Lost files that one plan puts back; each is read in full before."""

MOST_COMPLETED = 200
"""Stale entries that one plan completes; the next plan takes the rest."""


def publish_commit(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """C2 and leftovers above a gap: publish from the temp file, then complete. The entry is never deleted."""
    version = _version(finding)
    title = f"Publish commit {thousands(version)}"
    seen = _incomplete(table, version)
    reason = first_reason(_why_not_publish(table, version, seen, accepted_elsewhere=True))
    if reason or seen is None or seen.temp is None:
        yield table.refuse(finding, RepairName.PUBLISH_COMMIT, title, reason)
    else:
        loses = _doubt(table, seen)
        kept = (_saved_entry(table, seen.entry, RepairName.PUBLISH_COMMIT),) if loses else ()
        yield table.plan(
            finding,
            RepairName.PUBLISH_COMMIT,
            title,
            (*kept, *_copy(table, seen), _completion(table, seen)),
            (
                f"Every reader sees commit {thousands(version)} from then on.",
                "Deletes nothing. If a reader gets there first, the bytes are compared and nothing is written.",
            ),
            loses,
        )
    yield table.refuse(
        finding,
        RepairName.ABANDON_COMMIT,
        f"Delete entry {thousands(version)}",
        "The commit is accepted and its writer may have reported it as done; deleting the entry or the temp file "
        "would lose it.",
    )


def complete_entry(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """C4: mark the entry complete after both files were compared."""
    version = _version(finding)
    title = f"Complete entry {thousands(version)}"
    seen = _incomplete(table, version)
    reason = first_reason(_why_not_complete(table, version, seen))
    if reason or seen is None or seen.temp is None:
        yield table.refuse(finding, RepairName.COMPLETE_ENTRY, title, reason)
        return
    yield table.plan(
        finding,
        RepairName.COMPLETE_ENTRY,
        title,
        _compare_and_complete(table, seen),
        (
            "No reader sees a difference. The entry gets its expireTime, so that it leaves in time.",
            "Deletes nothing. An entry that changed meanwhile is left as it is.",
        ),
    )


def complete_stale_entries(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """C9: the same for incomplete entries below the newest, each after its own comparison."""
    title = "Complete stale entries"
    stale = [one for one in table.entries if one.entry.complete is False and not one.newest and not _is_pending(one)]
    sound = [one for one in stale if not first_reason(_why_not_complete(table, one.version, one))]
    reason = (table.why_nothing() or table.why_not_alone()) or (
        "None of these entries has both its temp file and a published file of equal bytes, so nothing proves which "
        "commit was accepted. They stay as they are."
        if not sound
        else ""
    )
    if reason:
        yield table.refuse(finding, RepairName.COMPLETE_ENTRY, title, reason)
        return
    taken = sound[:MOST_COMPLETED]
    left = len(stale) - len(taken)
    consequences = [f"Completes {version_list(one.version for one in taken)}; each gets its expireTime."]
    if left:
        consequences.append(
            f"{counted(left, 'entry stays', 'entries stay')}: not comparable, or left for the next time."
        )
    calls = [call for one in taken for call in _compare_and_complete(table, one)]
    yield table.plan(finding, RepairName.COMPLETE_ENTRY, title, calls, consequences)


def republish_file(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """C6: put the lost files back from the temp files that the entries name, oldest first. C7 has none left."""
    taken = republished(finding)
    title = f"Republish {taken[0]}.json" + (f" to {taken[-1]}.json" if len(taken) > 1 else "")
    chosen: list[SeenEntry] = []
    reason = ""
    for version in taken:
        seen, reason = _sole(table, version)
        after = chosen[-1].temp.name if chosen and chosen[-1].temp else ""
        reason = reason or first_reason(_why_not_publish(table, version, seen, accepted_elsewhere=False, after=after))
        if reason or seen is None:
            break
        chosen.append(seen)
    if reason or not chosen:
        yield table.refuse(finding, RepairName.REPUBLISH_FILE, title, reason)
    else:
        doubts = [(one, told) for one, told in zip(chosen, _doubts(table, chosen), strict=True) if told]
        kept = [_saved_entry(table, one.entry, RepairName.REPUBLISH_FILE) for one, _ in doubts]
        calls = [call for one in chosen for call in _copy(table, one)]
        loses = joined([told for _, told in doubts])
        consequences = _after_republishing(finding, taken)
        yield table.plan(finding, RepairName.REPUBLISH_FILE, title, (*kept, *calls), consequences, loses)
    yield _no_deletion_of_complete_entry(table, finding, _version(finding))


def _doubts(table: TableUnderRepair, chosen: Sequence[SeenEntry]) -> Iterator[str]:
    """What each of these files may lose: another commit of its version, or the order where it is another table's."""
    for before, one in zip((None, *chosen), chosen, strict=False):
        yield _doubt(table, one) or why_not_following(table, one, before)


def republished(finding: Finding) -> range:
    """The versions whose files one plan puts back: the oldest of a run."""
    return finding.versions[:MOST_REPUBLISHED]


def _after_republishing(finding: Finding, taken: range) -> tuple[str, ...]:
    named = f"{verb(len(taken), 'version', 'versions')} {version_list(taken)}"
    sentences = [
        f"Readers see {named} again, and writers stop retrying.",
        "Deletes nothing and changes no entry.",
    ]
    if len(taken) < len(finding.versions):
        sentences.append(f"{thousands(len(finding.versions) - len(taken))} more are left for the next time.")
    return tuple(sentences)


def lost_for_good(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """C7: neither file is left."""
    version = _version(finding)
    yield table.refuse(
        finding,
        RepairName.REPUBLISH_FILE,
        f"Republish {version}.json",
        f"Both copies of commit {thousands(version)} are gone. Bring {version}.json or its temp file back from "
        "versioning or a backup; nothing that is left here holds its actions.",
    )
    yield _no_deletion_of_complete_entry(table, finding, version)


def abandon_commit(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """C11 and C10: remove an entry that cannot be recovered. The commit is lost by it."""
    version = _version(finding)
    title = f"Abandon commit {thousands(version)}"
    seen = _incomplete(table, version)
    reason = first_reason(_why_not_abandon(table, finding, version, seen))
    if reason or seen is None or seen.temp is None:
        yield table.refuse(finding, RepairName.ABANDON_COMMIT, title, reason)
    else:
        names = (seen.temp.name, seen.file.name)
        absent = RequireAbsent(table.place.bucket, tuple(table.key(name) for name in names))
        empty = RequireEmpty(table.place.bucket, table.place.log_key)
        yield table.plan(
            finding,
            RepairName.ABANDON_COMMIT,
            title,
            (
                _saved_entry(table, seen.entry, RepairName.ABANDON_COMMIT),
                empty if finding.code == "C10" else absent,
                _deletion(seen),
            ),
            (
                _after_abandoning(version),
                "Stop the writers of this table first. The entry is kept under _levee_rescue/.",
            ),
            loses=f"commit {thousands(version)}, which its writer may have reported as done",
        )
    yield table.refuse(
        finding,
        RepairName.COMPLETE_ENTRY,
        f"Complete entry {thousands(version)}",
        "Neither its file nor its temp file exists. A complete entry without a file makes readers silently see an "
        "older table while writers retry without end.",
    )


def bytes_differ(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """Two writers won one version."""
    version = _version(finding)
    yield table.refuse(
        finding,
        RepairName.COMPLETE_ENTRY,
        f"Complete entry {thousands(version)}",
        f"{version}.json holds other bytes than the accepted temp file. Completing the entry would hide that rows of "
        "an accepted commit are missing; compare both files and write the missing rows again.",
    )


def _copy(table: TableUnderRepair, seen: SeenEntry) -> tuple[Call, ...]:
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


def _compare_and_complete(table: TableUnderRepair, seen: SeenEntry) -> tuple[Call, ...]:
    source = table.key(seen.temp.name if seen.temp else "")
    return (
        RequireEqual(table.place.bucket, source, table.published_key(seen.version)),
        _completion(table, seen),
    )


def _completion(table: TableUnderRepair, seen: SeenEntry) -> CompleteEntry:
    ttl = table.given.facts.ttl_seconds
    return CompleteEntry(seen.domain.store, seen.domain.path, seen.entry.file_name, seen.entry.temp_path or "", ttl)


def _deletion(seen: SeenEntry) -> DeleteEntry:
    return DeleteEntry(seen.domain.store, seen.domain.path, seen.entry.file_name, seen.entry.temp_path or "")


def _not_elsewhere(table: TableUnderRepair, seen: SeenEntry) -> tuple[RequireNoEntry, ...]:
    """No other lock of the table may have given the version away since it was read."""
    others = (domain for domain in table.lock_domains if domain != seen.domain)
    return tuple(RequireNoEntry(one.store, one.path, seen.entry.file_name) for one in others)


def _doubt(table: TableUnderRepair, seen: SeenEntry) -> str:
    """What publishing the entry's temp file may lose, by what was seen of its version before."""
    check = table.check(seen.temp.name) if seen.temp else None
    return doubt(table.given.facts.provenance.get(seen.version), check, seen.version) if check else ""


def _saved_entry(table: TableUnderRepair, entry: LogStoreEntry, repair: RepairName) -> SaveAside:
    name = (entry.temp_path or entry.file_name).rpartition("/")[2]
    folder = table.rescue_folder(repair, entry.version)
    return SaveAside(table.place.bucket, f"{folder}{name}.item.json", item=wire_entry(entry))


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


def _sole(table: TableUnderRepair, version: int) -> tuple[SeenEntry | None, str]:
    """The one entry of a version, or why there is no such one."""
    found = table.entries_of(version)
    if len(found) > 1:
        paths = joined([f"{one.path} in {one.store}" for one in sorted(seen.domain for seen in found)])
        return None, f"Entries of version {thousands(version)} exist under {paths}; only one of them can be right."
    return (found[0], "") if found else (None, "The entry is gone; look at the table again.")


def _incomplete(table: TableUnderRepair, version: int) -> SeenEntry | None:
    """The one incomplete entry of a version, whatever complete ones other lock domains hold."""
    found = [one for one in table.entries_of(version) if one.entry.complete is False]
    return found[0] if len(found) == 1 else None


def _is_pending(seen: SeenEntry) -> bool:
    return seen.file.present is not True


def _why_not_touch(table: TableUnderRepair, version: int, seen: SeenEntry | None) -> Iterator[str]:
    yield table.why_nothing()
    yield table.why_not_alone()
    if seen is None:
        yield _sole(table, version)[1] or "No entry of this version is incomplete; look at the table again."
        return
    if seen.entry.problems:
        yield f"The entry is malformed, so nothing rests on it: {seen.entry.problems[0].rstrip('.')}."
    if seen.temp is None:
        yield "The entry names no temp file of its version."


def _why_not_publish(
    table: TableUnderRepair, version: int, seen: SeenEntry | None, *, accepted_elsewhere: bool, after: str = ""
) -> Iterator[str]:
    yield from _why_not_touch(table, version, seen)
    if seen is None or seen.temp is None:
        return
    yield _sole(table, version)[1]
    if seen.file.present is not False:
        yield f"{version}.json is there; look at the table again."
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


def _why_not_complete(table: TableUnderRepair, version: int, seen: SeenEntry | None) -> Iterator[str]:
    yield from _why_not_touch(table, version, seen)
    if seen is None or seen.temp is None:
        return
    if not seen.file.present:
        yield f"{version}.json does not exist; an entry without its file must not be completed."
    if not seen.temp.present:
        yield (
            "Its temp file is gone, so the bytes cannot be compared, and nothing tells whether the published file is "
            "the accepted one."
        )
    if table.view.equal(version, seen.file, seen.temp) is False:
        yield f"{version}.json holds other bytes than the temp file; completing the entry would hide that."


def _why_not_abandon(table: TableUnderRepair, finding: Finding, version: int, seen: SeenEntry | None) -> Iterator[str]:
    yield from _why_not_touch(table, version, seen)
    if seen is None or seen.temp is None:
        return
    yield _sole(table, version)[1]
    if len(domains := domains_in_use(table.view)) > 1:
        named = joined([f"{one.path} in {one.store}" for one in domains])
        yield f"Entries exist under {named}; which writers hold the version is not certain."
    if not seen.newest:
        yield "Newer entries exist, so the table would miss this version. Bring its temp file back."
    if seen.file.present is not False or seen.temp.present is not False:
        yield "One of its files is there; look at the table again."
    if finding.code == "C10" and table.view.is_empty is not True:
        yield "_delta_log/ is not empty. The entry may go only while nothing at all lies there."
    if finding.code != "C10" and table.view.base != version - 1:
        yield f"The published log does not end at {thousands(max(0, version - 1))}. Bring the missing files back first."


def _after_abandoning(version: int) -> str:
    if version == 0:
        return "A table can be created at this path again."
    return f"The table can be read and written again at version {thousands(version - 1)}."


def _no_deletion_of_complete_entry(table: TableUnderRepair, finding: Finding, version: int) -> Outcome:
    return table.refuse(
        finding,
        RepairName.ABANDON_COMMIT,
        f"Delete entry {thousands(version)}",
        f"The entry is what keeps version {thousands(version)} taken. Without it the next writer commits other rows "
        "as that version, and readers that saw the first one are wrong.",
    )


def _version(finding: Finding) -> int:
    return finding.version if finding.version is not None else -1
