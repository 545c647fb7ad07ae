"""C11 and C10: remove an entry that cannot be recovered. The commit is lost by it."""

from collections.abc import Iterator

from coordinator.protocols.lock_domains import domains_in_use
from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import joined, thousands
from coordinator.repairs.declaration import Draft, NoPlan, Planned, Repair
from coordinator.repairs.entry_plans import incomplete_entry, saved_entry, sole_entry, version_of, why_not_touch
from coordinator.repairs.item_calls import Abandon, DeleteEntry
from coordinator.repairs.object_calls import RequireAbsent, RequireEmpty
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason

NAME = "abandon-commit"


def abandon_commit(table: TableUnderRepair, finding: Finding) -> Planned:
    """C11 and C10: remove an entry that cannot be recovered. The commit is lost by it."""
    version = version_of(finding)
    title = f"Abandon commit {thousands(version)}"
    seen = incomplete_entry(table, version)
    reason = first_reason(_why_not_abandon(table, finding, version, seen))
    if reason or seen is None or seen.temp is None:
        return NoPlan(title, reason)
    temp, domain = seen.entry.temp_path or "", seen.domain
    names = (seen.temp.name, seen.file.name)
    absent = RequireAbsent(table.place.bucket, tuple(table.key(name) for name in names))
    empty = RequireEmpty(table.place.bucket, table.place.log_key)
    return Draft(
        title,
        (
            saved_entry(table, seen, NAME),
            empty if finding.code == "C10" else absent,
            DeleteEntry(domain.store, domain.path, seen.entry.file_name, temp),
            Abandon(table.given.facts.uri, ((version, temp),)),
        ),
        (_after_abandoning(version), "Stop the writers of this table first. The entry is kept under _levee_rescue/."),
        loses=f"commit {thousands(version)}, which its writer may have reported as done",
    )


def _why_not_abandon(table: TableUnderRepair, finding: Finding, version: int, seen: SeenEntry | None) -> Iterator[str]:
    yield from why_not_touch(table, version, seen)
    if seen is None or seen.temp is None:
        return
    yield sole_entry(table, version)[1]
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


REPAIR = Repair(
    NAME,
    "Abandon commit {version}",
    "Saves the entry aside and removes it, so that the table can be used again. The rows of this commit are lost if "
    "its writer reported it as done.",
    {"C10": abandon_commit, "C11": abandon_commit},
    loses=True,
)
