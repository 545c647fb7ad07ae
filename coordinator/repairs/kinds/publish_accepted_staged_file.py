"""K6: publish the staged file that the coordinator accepted last, although its list has been cleared."""

from collections.abc import Iterator, Sequence

from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import counted, run_list, thousands
from coordinator.repairs.declaration import Draft, NoPlan, Planned, Repair
from coordinator.repairs.facts import FileCheck
from coordinator.repairs.registration_plans import (
    MOST_CANDIDATES,
    copied_and_compared,
    current_registration,
    kept_item,
    why_not_rest_on,
)
from coordinator.repairs.seen_before import was_accepted, was_published, why_contradicted
from coordinator.repairs.table_under_repair import (
    TableUnderRepair,
    checksum_of,
    first_reason,
    neighbours,
)
from lake.delta.facts import Registration

NAME = "publish-accepted-staged-file"


def publish_accepted_staged_file(table: TableUnderRepair, finding: Finding) -> Planned:
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
        return NoPlan(title, reason)
    return _publication(table, title, matches[0], registration, version)


def _why_not_alone(finding: Finding) -> str:
    """Of several lost files the item tells of the newest alone which staged one was accepted."""
    if finding.first_version is None:
        return ""
    below = run_list([(finding.versions[0], finding.versions[-2])])
    return f"Nothing tells which staged files were accepted as {below}. Bring their files back first."


def _publication(
    table: TableUnderRepair, title: str, file: FileCheck, registration: Registration, version: int
) -> Planned:
    calls = copied_and_compared(table, file, version)
    told = f"Readers see version {thousands(version)} again, and writers stop retrying it. Deletes nothing."
    if _is_proven(table, file, version):
        proof = f"{file.name} is the accepted file: its version's checksum, or what was seen of it, names it."
        return Draft(title, calls, (proof, told))
    item = kept_item(table, NAME, registration, version)
    unproven = (
        f"{file.name} is the only staged file left with the accepted in-commit timestamp. A rival can have the same "
        "timestamp, and no checksum and no earlier look tells them apart."
    )
    loses = f"the accepted commit {thousands(version)}, if this file is a rival's with the same in-commit timestamp"
    return Draft(title, (item, *calls), (unproven, told), loses)


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
        yield f"…{version}.json is there; look at the table again."
    candidates = table.view.staged_of(version)
    if len(candidates) > MOST_CANDIDATES:
        yield f"{len(candidates):,} staged files of this version exist; no more than {MOST_CANDIDATES:,} are read."
    before = table.given.facts.provenance.get(version)
    for one in matches:
        yield why_contradicted(before, one, version)
        if before is not None and before.disputed:
            yield f"Two files were seen to be accepted as version {thousands(version)}; compare them by hand."
        if was_published(before, one) is False:
            yield f"…{version}.json was seen with other bytes than {one.name} has."
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


def _wanted(table: TableUnderRepair, finding: Finding) -> Iterator[str]:
    if finding.version is None:
        return
    files = table.view.staged_of(finding.version)
    yield from (file.name for file in files if len(files) <= MOST_CANDIDATES)
    yield from checksum_of(table, finding.version)
    yield from neighbours(table, finding.version)


REPAIR = Repair(
    NAME,
    "Publish the accepted staged file of commit {version}",
    "Finds the one staged file whose in-commit timestamp the coordinator accepted and copies it to the commit file, "
    "only if that key is still absent. Deletes nothing.",
    {"K6": publish_accepted_staged_file},
    wants=_wanted,
)
