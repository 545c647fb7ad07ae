"""Plans for commits of the DynamoDB commit coordinator: what may be done in the states K3, K4 and K6."""

from collections.abc import Iterator, Sequence

from changes.calls import Call
from coordinator.protocols.registrations import SeenCommit, seen_commits
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import counted, joined, run_list, thousands, version_list
from coordinator.repairs.facts import FileCheck, RepairName
from coordinator.repairs.item_calls import ClearCommits
from coordinator.repairs.object_calls import Publish, RequireEqual, SaveAside
from coordinator.repairs.registration_plans import current_registration, why_not_rest_on
from coordinator.repairs.rescue import rescued_registration
from coordinator.repairs.seen_before import doubt, was_accepted, was_published, why_contradicted
from coordinator.repairs.staged_files import MOST_CANDIDATES, waiting_commits
from coordinator.repairs.table_under_repair import Outcome, TableUnderRepair, first_reason
from coordinator.repairs.wire_form import in_order
from lake.delta.facts import Registration


def backfill(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """K3: publish every listed commit in order, then clear the list as it was read."""
    title = "Backfill"
    registration, reason = _listing_one(table, finding)
    reason = reason or first_reason(_why_not_backfill(table, registration))
    if reason or registration is None:
        yield table.refuse(finding, RepairName.BACKFILL, title, reason)
    else:
        waiting = waiting_commits(table.view, registration)
        loses = joined(list(_doubts(table, waiting)))
        kept = (_kept_item(table, RepairName.BACKFILL, registration, finding.version),) if loses else ()
        yield table.plan(
            finding,
            RepairName.BACKFILL,
            f"Backfill {counted(len(waiting), 'commit')}",
            (*kept, *_published_or_compared(table, registration), _cleared(table, registration)),
            (
                f"Outside readers see {version_list(one.version for one in waiting)} from then on.",
                "Deletes no file and leaves tableVersion as it is. If a writer moves on meanwhile, the list stays.",
            ),
            loses,
        )
    yield table.refuse(
        finding,
        RepairName.CLEAR_ENTRIES,
        "Drop the entries",
        "These commits are accepted and have no file of their own; without the entry no reader finds them.",
    )
    yield _no_lowering(table, finding)


def clear_entries(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """K4: compare each published file with its staged one, then clear the list as it was read."""
    title = "Clear the list"
    registration, reason = _listing_one(table, finding)
    reason = reason or first_reason(_why_not_clear(table, registration))
    if reason or registration is None:
        yield table.refuse(finding, RepairName.CLEAR_ENTRIES, title, reason)
        return
    yield table.plan(
        finding,
        RepairName.CLEAR_ENTRIES,
        title,
        (*_published_or_compared(table, registration), _cleared(table, registration)),
        ("No reader sees a difference.", "Deletes no file. If a writer moves on meanwhile, the list stays."),
    )


def publish_accepted_staged_file(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """K6: the accepted staged file has the in-commit timestamp that the registration holds.

    A rival may have the same one: it is the later of the clock and the time of the version below plus one, so that all
    writers share it while that version's time lies in the future. Only another witness proves which file it is.
    """
    version = finding.version if finding.version is not None else -1
    title = f"Publish the accepted staged file of {thousands(version)}"
    registration = current_registration(table)
    matches = _matches(table, registration, version) if registration else []
    reason = _why_not_alone(finding) or first_reason(_why_not_accepted(table, registration, version, matches))
    if reason or registration is None:
        yield table.refuse(finding, RepairName.PUBLISH_ACCEPTED_STAGED_FILE, title, reason)
    else:
        yield _publication(table, finding, title, matches[0], registration, version)
    yield _no_lowering(table, finding)


def _why_not_alone(finding: Finding) -> str:
    """Of several lost files the item tells of the newest alone which staged one was accepted."""
    if finding.first_version is None:
        return ""
    below = run_list([(finding.versions[0], finding.versions[-2])])
    return f"Nothing tells which staged files were accepted as {below}. Bring their files back first."


def _publication(
    table: TableUnderRepair, finding: Finding, title: str, file: FileCheck, registration: Registration, version: int
) -> Outcome:
    calls = _copied(table, file, version)
    told = f"Readers see version {thousands(version)} again, and writers stop retrying it. Deletes nothing."
    repair = RepairName.PUBLISH_ACCEPTED_STAGED_FILE
    if _is_proven(table, file, version):
        proof = f"{file.name} is the accepted file: its version's checksum, or what was seen of it, names it."
        return table.plan(finding, repair, title, calls, (proof, told))
    item = _kept_item(table, repair, registration, version)
    unproven = (
        f"{file.name} is the only staged file left with the accepted in-commit timestamp. A rival can have the same "
        "timestamp, and no checksum and no earlier look tells them apart."
    )
    loses = f"the accepted commit {thousands(version)}, if this file is a rival's with the same in-commit timestamp"
    return table.plan(finding, repair, title, (item, *calls), (unproven, told), loses)


def _kept_item(
    table: TableUnderRepair, repair: RepairName, registration: Registration, version: int | None
) -> SaveAside:
    key = rescued_registration(table.rescue_folder(repair, version), registration.table_id)
    item = in_order(table.raw(registration) or {})
    return SaveAside(table.place.bucket, key, item=item)


def _doubts(table: TableUnderRepair, waiting: Sequence[SeenCommit]) -> Iterator[str]:
    """What publishing the listed files may lose, by what was seen of their versions before."""
    for one in waiting:
        check = table.check(one.staged.name) if one.staged else None
        if check and (told := doubt(table.given.facts.provenance.get(one.version), check, one.version)):
            yield told


def _listing_one(table: TableUnderRepair, finding: Finding) -> tuple[Registration | None, str]:
    """The registration that lists the version of a finding."""
    listing = [one for one in table.registrations if any(c.version == finding.version for c in one.commits)]
    if len(listing) > 1:
        return None, f"{counted(len(listing), 'registration')} list this version; only one of them can be right."
    return (listing[0], "") if listing else (None, "No registration of this path lists it; look at the table again.")


def _why_not_backfill(table: TableUnderRepair, registration: Registration | None) -> Iterator[str]:
    yield from why_not_rest_on(table, registration)
    if registration is None:
        return
    versions = [commit.version for commit in registration.commits]
    if versions != list(range(versions[0], versions[0] + len(versions))) or versions[-1] != registration.table_version:
        yield "The list is not contiguous up to tableVersion; find the staged files of the missing versions first."
    if not table.view.file(versions[0]).present and not table.view.file(versions[0] - 1).present:
        yield f"Version {thousands(versions[0] - 1)} is neither published nor listed; backfilling would leave a gap."
    for one in seen_commits(table.view, registration):
        yield _why_not_element(table, one)


def _why_not_element(table: TableUnderRepair, seen: SeenCommit) -> str:
    """Step 4 of a backfill: the staged file is the accepted one, whole and of this version."""
    name = thousands(seen.version)
    if seen.file.present:
        return _why_not_equal(table, seen)
    if seen.file.present is None or seen.staged is None or seen.staged.present is None:
        return f"The files of commit {name} were not looked up; look at the table again."
    if not seen.staged.present:
        return f"The staged file of commit {name} is gone; bring it back from versioning or a backup."
    if reason := table.why_not_copy(seen.staged.name):
        return reason
    check = table.check(seen.staged.name)
    if check is None or check.size != seen.commit.size:
        return f"The staged file of commit {name} is not as long as fsLength says; it is not the accepted one."
    if check.in_commit_timestamp is None or check.in_commit_timestamp != seen.commit.in_commit_timestamp:
        return f"The in-commit timestamp of {seen.staged.name} is not the accepted one."
    if table.entries_of(seen.version):
        return f"The log store holds an entry of version {name} as well; only one of them can be right."
    if reason := why_contradicted(table.given.facts.provenance.get(seen.version), check, seen.version):
        return reason
    return table.why_not_between(seen.staged.name, seen.version)


def _why_not_equal(table: TableUnderRepair, seen: SeenCommit) -> str:
    if seen.staged is None or not seen.staged.present:
        return f"The staged file of commit {thousands(seen.version)} is gone, so the bytes cannot be compared."
    if seen.size_differs or table.view.equal(seen.version, seen.file, seen.staged) is False:
        return (
            f"{seen.version}.json holds other bytes than the staged file that the coordinator accepted; clearing the "
            "list would hide that."
        )
    return ""


def _why_not_clear(table: TableUnderRepair, registration: Registration | None) -> Iterator[str]:
    yield from why_not_rest_on(table, registration)
    if registration is None:
        return
    if waiting := [one for one in seen_commits(table.view, registration) if not one.file.present]:
        yield (
            f"Commit {version_list(one.version for one in waiting)} is listed and not backfilled; clearing the list "
            "first would lose it. Backfilling clears these entries as well."
        )
    for one in seen_commits(table.view, registration):
        yield _why_not_equal(table, one)


def _published_or_compared(table: TableUnderRepair, registration: Registration) -> tuple[Call, ...]:
    calls: list[Call] = []
    for one in seen_commits(table.view, registration):
        check = table.check(one.staged.name) if one.staged else None
        if one.file.present and one.staged:
            calls.append(_equal(table, one.staged.name, one.version))
        elif check:
            calls.append(_copied(table, check, one.version)[0])
    return tuple(calls)


def _copied(table: TableUnderRepair, check: FileCheck, version: int) -> tuple[Call, ...]:
    source, key = table.key(check.name), table.published_key(version)
    return (
        Publish(table.place.bucket, source, key, check.etag, check.size),
        _equal(table, check.name, version),
    )


def _equal(table: TableUnderRepair, name: str, version: int) -> RequireEqual:
    return RequireEqual(table.place.bucket, table.key(name), table.published_key(version))


def _cleared(table: TableUnderRepair, registration: Registration) -> ClearCommits:
    read = (table.raw(registration) or {})["commits"]
    return ClearCommits(
        registration.store,
        registration.table_id,
        registration.path,
        registration.table_version if registration.table_version is not None else -1,
        in_order(read),
    )


def _matches(table: TableUnderRepair, registration: Registration, version: int) -> list[FileCheck]:
    """Staged files of the version with the accepted timestamp, one of those that hold the same bytes.

    Where witnesses prove one of several to be the accepted one, it alone.
    """
    checks = [table.check(file.name) for file in table.view.staged_of(version)]
    by_bytes = {
        one.sha256: one
        for one in reversed(checks)
        if one and not one.problems and one.in_commit_timestamp == registration.table_timestamp is not None
    }
    matches = list(by_bytes.values())
    proven = [one for one in matches if _is_proven(table, one, version)]
    return proven if len(proven) == 1 else matches


def _is_proven(table: TableUnderRepair, file: FileCheck, version: int) -> bool:
    """Whether more than its timestamp shows that a staged file is the accepted one."""
    seen = table.given.facts.provenance.get(version)
    if was_accepted(seen, file) or was_published(seen, file):
        return True
    said = table.said(file.name)
    return said is not None and table.witnesses(version, None).names(said)


def _why_not_accepted(
    table: TableUnderRepair, registration: Registration | None, version: int, matches: Sequence[FileCheck]
) -> Iterator[str]:
    # One whose version was raised has its time, though it has accepted nothing since.
    yield from why_not_rest_on(table, registration, unused_too=True)
    if registration is None:
        return
    if registration.table_version != version or any(one.version == version for one in registration.commits):
        yield "The registration has moved on; look at the table again."
    if table.view.file(version).present is not False:
        yield f"{version}.json is there; look at the table again."
    candidates = table.view.staged_of(version)
    if len(candidates) > MOST_CANDIDATES:
        yield f"{len(candidates):,} staged files of this version exist; no more than {MOST_CANDIDATES:,} are read."
    before = table.given.facts.provenance.get(version)
    for one in matches:
        yield why_contradicted(before, one, version)
        if before is not None and before.disputed:
            yield f"Two files were seen to be accepted as version {thousands(version)}; compare them by hand."
        if was_published(before, one) is False:
            yield f"{version}.json was seen with other bytes than {one.name} has."
    if registration.table_timestamp is None:
        yield "The registration holds no tableTimestamp, so no staged file can be told to be the accepted one."
    if len(matches) != 1:
        yield (
            f"Of {counted(len(candidates), 'staged file')}, {len(matches)} with different bytes have the accepted "
            "in-commit timestamp; exactly one must."
        )
        return
    if table.entries_of(version):
        yield f"The log store holds an entry of version {thousands(version)} as well; only one of them can be right."
    yield table.why_not_here(matches[0].name, version)
    yield table.why_not_copy(matches[0].name)


def _no_lowering(table: TableUnderRepair, finding: Finding) -> Outcome:
    return table.refuse(
        finding,
        RepairName.RAISE_COORDINATOR_VERSION,
        "Lower tableVersion",
        "tableVersion is the decision that a commit was accepted; lowering it lets another commit take its version.",
    )
