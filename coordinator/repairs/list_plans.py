"""What plans about the list of a commit coordinator share: the calls that publish and clear it."""

from collections.abc import Iterator

from changes.calls import Call
from coordinator.protocols.names import staged_file_version
from coordinator.protocols.registrations import SeenCommit, seen_commits, waiting_commits
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import counted, thousands
from coordinator.repairs.facts import FileCheck
from coordinator.repairs.item_calls import ClearCommits
from coordinator.repairs.object_calls import Publish, RequireEqual, SaveAside
from coordinator.repairs.registration_plans import why_not_rest_on
from coordinator.repairs.rescue import rescued_registration
from coordinator.repairs.table_under_repair import PlanOrRefusal, TableUnderRepair, first_reason, neighbours
from lake.delta.facts import Registration
from lake.delta.wire import in_order


def listing_registration(table: TableUnderRepair, finding: Finding) -> tuple[Registration | None, str]:
    """The registration that lists the version of a finding, and why nothing may rest on it; "" for nothing."""
    listing = [one for one in table.registrations if any(c.version == finding.version for c in one.commits)]
    if len(listing) > 1:
        return None, f"{counted(len(listing), 'registration')} list this version; only one of them can be right."
    if not listing:
        return None, "No registration of this path lists it; look at the table again."
    return listing[0], first_reason(why_not_rest_on(table, listing[0]))


def why_not_equal(table: TableUnderRepair, seen: SeenCommit) -> str:
    if seen.staged is None or not seen.staged.present:
        return f"The staged file of commit {thousands(seen.version)} is gone, so the bytes cannot be compared."
    if seen.size_differs or table.view.equal(seen.version, seen.file, seen.staged) is False:
        return (
            f"{seen.version}.json holds other bytes than the staged file that the coordinator accepted; clearing the "
            "list would hide that."
        )
    return ""


def published_or_compared(table: TableUnderRepair, registration: Registration) -> tuple[Call, ...]:
    calls: list[Call] = []
    for one in seen_commits(table.view, registration):
        check = table.check(one.staged.name) if one.staged else None
        if one.file.present and one.staged:
            calls.append(_compared(table, one.staged.name, one.version))
        elif check:
            calls.append(copied_and_compared(table, check, one.version)[0])
    return tuple(calls)


def copied_and_compared(table: TableUnderRepair, check: FileCheck, version: int) -> tuple[Call, ...]:
    source, key = table.key(check.name), table.published_key(version)
    return (
        Publish(table.place.bucket, source, key, check.etag, check.size),
        _compared(table, check.name, version),
    )


def _compared(table: TableUnderRepair, name: str, version: int) -> RequireEqual:
    return RequireEqual(table.place.bucket, table.key(name), table.published_key(version))


def cleared_list(table: TableUnderRepair, registration: Registration) -> ClearCommits:
    read = (table.raw(registration) or {})["commits"]
    return ClearCommits(
        registration.store,
        registration.table_id,
        registration.path,
        registration.table_version if registration.table_version is not None else -1,
        in_order(read),
    )


def kept_item(table: TableUnderRepair, repair: str, registration: Registration, version: int | None) -> SaveAside:
    key = rescued_registration(table.rescue_folder(repair, version), registration.table_id)
    item = in_order(table.raw(registration) or {})
    return SaveAside(table.place.bucket, key, item=item, table=registration.store, copied_from=table.copied_from)


def no_lowering(table: TableUnderRepair, finding: Finding) -> PlanOrRefusal:
    return table.refuse(
        finding,
        "raise-coordinator-version",
        "Lower tableVersion",
        "tableVersion is the decision that a commit was accepted; lowering it lets another commit take its version.",
    )


def files_of_lists(table: TableUnderRepair) -> Iterator[str]:
    """Files that publishing what registrations list needs in full: the staged ones, and the published neighbours."""
    for registration in table.registrations:
        for one in waiting_commits(table.view, registration):
            if one.staged and one.staged.present and staged_file_version(one.staged.name) == one.version:
                yield one.staged.name
                yield from neighbours(table, one.version)
