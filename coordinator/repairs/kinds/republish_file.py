"""C6: put lost files back from the temp files that complete entries name.

A table that is dropped by hand leaves entries and temp files behind, and one made again at the same place grows up to
them. Its log then lacks what a complete entry names, as where a file was lost (C6), and the temp file is a commit of
another table. By the protocol the file of a version is written after the one below it was published, which a commit of
the dropped table never is; S3 renews the time of whatever is put again, so a time is one witness among several. A
commit's own time is its writer's clock at the first try: it speaks only where it lies more than a day too early.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from coordinator.protocols.judgement import QUIET_SECONDS
from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.names import temp_file_version
from coordinator.protocols.provenance import is_same_file
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import joined, named_versions, thousands
from coordinator.repairs.declaration import Draft, NoPlan, Planned, Repair
from coordinator.repairs.entry_plans import (
    doubt_about,
    files_of_entries,
    published_from,
    saved_entry,
    sole_entry,
    why_not_publish,
)
from coordinator.repairs.seen_before import was_published
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason, moment_of
from lake.delta.facts import LogObject
from lake.delta.names import commit_name

NAME = "republish-file"

MOST_REPUBLISHED = 100
"""Lost files that one plan puts back; each is read in full before."""


def republish_file(table: TableUnderRepair, finding: Finding) -> Planned:
    """Put the lost files back from the temp files that the entries name, oldest first."""
    taken = republished(finding)
    title = f"Republish …{taken[0]}.json" + (f" to …{taken[-1]}.json" if len(taken) > 1 else "")
    chosen: list[SeenEntry] = []
    reason = ""
    for version in taken:
        seen, reason = sole_entry(table, version)
        after = chosen[-1].temp.name if chosen and chosen[-1].temp else ""
        reason = reason or first_reason(why_not_publish(table, version, seen, accepted_elsewhere=False, after=after))
        if reason or seen is None:
            break
        chosen.append(seen)
    if reason or not chosen:
        return NoPlan(title, reason)
    doubts = [(one, told) for one, told in zip(chosen, _doubts(table, chosen), strict=True) if told]
    kept = [saved_entry(table, one, NAME) for one, _ in doubts]
    calls = [call for one in chosen for call in published_from(table, one)]
    loses = joined([told for _, told in doubts])
    return Draft(title, (*kept, *calls), _after_republishing(finding, taken), loses)


def _doubts(table: TableUnderRepair, chosen: Sequence[SeenEntry]) -> Iterator[str]:
    """What each of these files may lose: another commit of its version, or the order where it is another table's."""
    for before, one in zip((None, *chosen), chosen, strict=False):
        yield doubt_about(table, one) or _why_not_following(table, one, before)


def _why_not_following(table: TableUnderRepair, seen: SeenEntry, before: SeenEntry | None) -> str:
    """What publishing the entry's file may break, as part of a sentence; "" where it is shown to be of this table.

    `before` is the entry whose file the same plan publishes as the version below, None where that one is published.
    """
    file, version = seen.temp.object if seen.temp else None, seen.version
    if file is None or version == 0 or _by_its_own_word(table, file, version, before):
        return ""
    if _was_seen_published(table, file, version, before):
        return ""
    missing = _why_not_by_time(table, file, seen, before)
    return (
        f"the order of the commits: {missing}, and no in-commit timestamps tell which came first. "
        f"{file.name} may be of a table that was dropped here before"
        if missing
        else ""
    )


def _by_its_own_word(table: TableUnderRepair, file: LogObject, version: int, before: SeenEntry | None) -> bool:
    """In-commit timestamps rise strictly within a table."""
    checks = (table.check(_name_below(version, before)), table.check(file.name))
    times = [check.in_commit_timestamp if check else None for check in checks]
    return times[0] is not None and times[1] is not None and times[0] < times[1]


def _was_seen_published(table: TableUnderRepair, file: LogObject, version: int, before: SeenEntry | None) -> bool:
    """Whether these bytes were seen as this version of the table whose version below was seen as it is now."""
    known, check = table.given.facts.provenance, table.check(file.name)
    lower, published = known.get(version - 1), table.view.published.get(version - 1)
    if check is None or before is not None or lower is None or lower.seen_at is None or published is None:
        return False
    return is_same_file(lower, published.size, published.etag) and was_published(known.get(version), check) is True


def _why_not_by_time(table: TableUnderRepair, file: LogObject, seen: SeenEntry, before: SeenEntry | None) -> str:
    lower = thousands(seen.version - 1)
    if any(_expires_later(one, seen) for one in table.entries_of(seen.version - 1)):
        return f"entry {thousands(seen.version)} expires before entry {lower}, so it was finished first"
    there = min(_moments(table, seen.version - 1, before), default=None)
    said, below = (_said_at(table, name) for name in (file.name, _name_below(seen.version, before)))
    if said is not None and below is not None and said < below - timedelta(seconds=QUIET_SECONDS):
        return f"{file.name} says that it was written at {said.isoformat()}, and version {lower} at {below.isoformat()}"
    if there is not None and there <= file.modified_at:
        return ""
    of = f"version {lower} was there only at {there.isoformat()}" if there else f"nothing tells since when {lower} is"
    return f"{file.name} was written at {file.modified_at.isoformat()} and {of}"


def _said_at(table: TableUnderRepair, name: str) -> datetime | None:
    """When a commit was written by its own word; None where it does not say, or was not read."""
    check = table.check(name)
    return moment_of(check.timestamp) if check is not None and check.timestamp is not None else None


def _name_below(version: int, before: SeenEntry | None) -> str:
    """The file that is, or that the same plan makes, the version below."""
    return before.temp.name if before and before.temp else commit_name(version - 1)


def _expires_later(lower: SeenEntry, seen: SeenEntry) -> bool:
    """A later end than that of the version above: writers live by one `ddb.ttl`, and finish one after the other."""
    own, other = seen.entry.expire_time, lower.entry.expire_time
    return own is not None and other is not None and own < other


def _moments(table: TableUnderRepair, version: int, before: SeenEntry | None) -> Iterator[datetime]:
    """Moments at which the commit below was there: its file, a temp file of equal bytes, a look that saw it."""
    if before is not None:
        yield from (file.modified_at for file in [before.temp.object if before.temp else None] if file)
        return
    published, known = table.view.published.get(version), table.given.facts.provenance.get(version)
    if published is None:
        return
    yield published.modified_at
    files = table.given.facts.listing.temp_files or ()
    yield from (one.modified_at for one in files if temp_file_version(one.name) == version and table.view.is_copy(one))
    if known is not None and known.seen_at is not None and is_same_file(known, published.size, published.etag):
        yield known.seen_at


def republished(finding: Finding) -> range:
    """The versions whose files one plan puts back: the oldest of a run."""
    return finding.versions[:MOST_REPUBLISHED]


def _after_republishing(finding: Finding, taken: range) -> tuple[str, ...]:
    named = named_versions(taken)
    sentences = [
        f"Readers see {named} again, and writers stop retrying.",
        "Deletes nothing and changes no entry.",
    ]
    if len(taken) < len(finding.versions):
        sentences.append(f"{thousands(len(finding.versions) - len(taken))} more are left for the next time.")
    return tuple(sentences)


REPAIR = Repair(
    NAME,
    "Republish the file of commit {version}",
    "Copies the surviving temp file to the commit file that is gone, only if that key is still absent, and compares "
    "every byte. Changes no entry and deletes nothing.",
    {"C6": republish_file},
    wants=lambda table, finding: files_of_entries(table, republished(finding)),
    run="Republish the files of commits {first} to {version}",
)
