"""What plans about registrations share: what rests on one, what one made or raised anew may lose, and its list."""

from collections.abc import Iterator, Sequence

from changes.calls import Call
from coordinator.protocols import registrations
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_version, staged_file_version
from coordinator.protocols.registrations import SeenCommit, element_problems, seen_commits, waiting_commits
from coordinator.protocols.survivors import was_named
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import counted, named_versions, thousands, verb
from coordinator.repairs.facts import FileCheck
from coordinator.repairs.item_calls import Abandon, ClearCommits
from coordinator.repairs.object_calls import Publish, RequireAbsent, RequireEqual, SaveAside
from coordinator.repairs.rescue import rescued_object, rescued_registration
from coordinator.repairs.table_under_repair import (
    TableUnderRepair,
    checksum_of,
    first_reason,
    neighbours,
)
from lake.delta.facts import LogObject, Provenance, Registration
from lake.delta.names import MAX_VERSION, commit_name
from lake.delta.wire import in_order

SCHEMA_VERSION = 1
MOST_CANDIDATES = 500
"""Staged files of one version, or above one, that are read or kept for one plan."""

FOLLOWING = "Stop the writers of this table first; check that no newer backup of the item exists."


def staged_above(view: LogView, version: int) -> tuple[LogObject, ...]:
    """Staged files of later versions, by name; one without a version in its name may be of any."""
    files = view.facts.listing.staged or ()
    found = [file for file in files if (staged := staged_file_version(file.name)) is None or staged > version]
    return tuple(sorted(found, key=lambda file: file.name))


def current_registration(table: TableUnderRepair) -> Registration | None:
    """The registration that the newest metadata names, where it is of this path."""
    current = registrations.current_registration(table.given.facts)
    return current if current in table.registrations else None


def why_not_rest_on(
    table: TableUnderRepair, registration: Registration | None, *, unused_too: bool = False
) -> Iterator[str]:
    """Why nothing may rest on a registration; with `unused_too` one that has accepted no commit yet will do."""
    yield table.why_nothing()
    if registration is None:
        yield "The registration that the newest metadata names does not belong to this path."
        return
    problems = [*registration.problems, *element_problems(registration)]
    if problems:
        yield f"The registration is malformed, so nothing rests on it: {problems[0].rstrip('.')}."
    if registration.schema_version != SCHEMA_VERSION:
        yield f"schemaVersion is {registration.schema_version}, and only {SCHEMA_VERSION} is known."
    if registration.table_version is None or not is_version(registration.table_version):
        yield "tableVersion is not a version that Delta can have."
    if registration.has_accepted_commits is not True and not (
        unused_too and registration.has_accepted_commits is False
    ):
        yield "hasAcceptedCommits is not true, so the list and the version of the registration do not count."
    if registration != current_registration(table) and registration.accepting_commits is not False:
        yield "The newest metadata does not name this registration, and it was not closed either."
    if table.raw(registration) is None:
        yield "The DynamoDB table that holds the registration is not one of this connection."


def why_no_goal(table: TableUnderRepair, goal: int | None) -> Iterator[str]:
    if goal is None:
        yield "The published log has no readable beginning; bring the missing files back first."
        return
    if goal == MAX_VERSION:
        yield f"Version {thousands(goal)} is the last that Delta can have; nothing follows it."
        return
    if goal != table.view.newest:
        yield f"Version {thousands(goal + 1)} is missing and later ones exist; bring it back first."
    if commit_time(table, goal) is None:
        yield f"…{goal}.json could not be read as a commit with an in-commit timestamp."
    if len(staged_above(table.view, goal)) > MOST_CANDIDATES:
        yield f"More than {MOST_CANDIDATES:,} staged files lie above version {thousands(goal)}; look at them first."


def commit_time(table: TableUnderRepair, version: int | None) -> int | None:
    check = table.check(commit_name(version)) if version is not None else None
    return check.in_commit_timestamp if check and not check.problems else None


def kept_above(table: TableUnderRepair, repair: str, goal: int) -> tuple[tuple[Call, ...], str]:
    """Staged files above the goal may be commits that the item had accepted: they are kept, and named as lost.

    So are versions above it that were seen before, of which nothing is left. A staged file of the goal itself may be
    its accepted commit: the item will hold the time of the published file, and say from then on that this one was.
    """
    above, beside = staged_above(table.view, goal), _contested(table, goal)
    absent = RequireAbsent(table.place.bucket, (table.published_key(goal + 1),))
    lost = _seen_above(table, goal)
    if not above and not beside and not lost:
        return (absent,), ""
    folder = table.rescue_folder(repair, goal)
    bucket = table.place.bucket
    files = (*beside, *above)
    whence = table.copied_from
    saved = [
        SaveAside(bucket, rescued_object(folder, file.name), source=table.key(file.name), copied_from=whence)
        for file in files
    ]
    registration = current_registration(table)
    if registration is not None and table.raw(registration) is not None:
        saved.append(kept_item(table, repair, registration, goal))
    whats = [_what_goes(above, lost, goal)] if above or lost else []
    if beside:
        many = counted(len(beside), "staged file")
        whats.append(f"an accepted commit {thousands(goal)}: {many} of it may hold it, and not …{goal}.json")
    return (*saved, absent), "; ".join(whats)


def given_up_above(table: TableUnderRepair, goal: int) -> tuple[Call, ...]:
    """What follows the call that decides: versions above the goal are lost from then on, and not before."""
    known = (table.given.facts.provenance[version] for version in _seen_above(table, goal))
    lost = [(one.version, name) for one in known for name in _files_of(one)]
    return (Abandon(table.given.facts.uri, tuple(lost)),) if lost else ()


def _files_of(known: Provenance) -> list[str]:
    """The files that were accepted as a version; "" for one that nobody named."""
    return [one.file_name or "" for one in known.acceptances] or [""]


def _seen_above(table: TableUnderRepair, goal: int) -> tuple[int, ...]:
    """Versions above it that were seen before, ascending."""
    known = table.given.facts.provenance.values()
    return tuple(sorted(one.version for one in known if one.version > goal and one.is_known))


def _contested(table: TableUnderRepair, goal: int) -> list[LogObject]:
    """Staged files of the goal that may be its accepted commit instead of the published file."""
    staged = table.view.staged_of(goal)
    return [file for file in staged if not _is_copy(table, file, goal) and not _lost(table, file, goal)]


def _is_copy(table: TableUnderRepair, file: LogObject, version: int) -> bool:
    published, own = table.check(commit_name(version)), table.check(file.name)
    return published is not None and own is not None and published.sha256 == own.sha256


def _lost(table: TableUnderRepair, file: LogObject, version: int) -> bool:
    """Whether something besides the item that is about to be written shows that the file was not accepted."""
    witnesses = table.witnesses(version, None)
    published, own = table.said(commit_name(version)), table.said(file.name)
    told = published is not None and own is not None and witnesses.tell(published, own)
    return told or was_named(witnesses.provenance, file.name) is False


def _what_goes(above: Sequence[LogObject], lost: Sequence[int], goal: int) -> str:
    told = [f"every commit above {thousands(goal)} that the coordinator had accepted"]
    if above:
        told.append(f"{counted(len(above), 'staged file')} may hold one, and nothing that is left tells which")
    if lost:
        named = named_versions(lost)
        told.append(f"{named} {verb(len(lost), 'was', 'were')} seen before")
    return ": ".join([told[0], " and ".join(told[1:])])


def files_of_goal(table: TableUnderRepair) -> Iterator[str]:
    """Files that tell whether the newest published commit is the accepted one of its version."""
    newest = table.newest_contiguous()
    if newest is not None:
        yield commit_name(newest)
        yield from checksum_of(table, newest)
        yield from (file.name for file in table.view.staged_of(newest)[:MOST_CANDIDATES])


# The list of accepted commits


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
            f"…{seen.version}.json holds other bytes than the staged file that the coordinator accepted; clearing the "
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


def files_of_lists(table: TableUnderRepair) -> Iterator[str]:
    """Files that publishing what registrations list needs in full: the staged ones, and the published neighbours."""
    for registration in table.registrations:
        for one in waiting_commits(table.view, registration):
            if one.staged and one.staged.present and staged_file_version(one.staged.name) == one.version:
                yield one.staged.name
                yield from neighbours(table, one.version)
