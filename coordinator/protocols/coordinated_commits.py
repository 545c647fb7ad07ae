"""The states K0 to K12 of the DynamoDB commit coordinator (Delta 3.3 to 4.4, `DynamoDBCommitCoordinatorClient`).

The registration's `tableVersion` is the decision; `commits` lists accepted commits not yet cleared. A list that is not
empty does not mean unbackfilled and an empty one does not mean backfilled: the published file is always asked.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from coordinator.protocols import coordinated_commits_findings as findings
from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.judgement import MOST_FINDINGS, QUIET_SECONDS, UNKNOWN, Judgement, join, malformed, undecided
from coordinator.protocols.log_view import LogView
from coordinator.protocols.mechanism import coordinator_store, registration_id
from coordinator.protocols.names import STAGED_FOLDERS, is_version, same_place, staged_file_version
from coordinator.protocols.orphans import (
    losing_files,
    orphans_finding,
    spin_finding,
    staged_fates,
    unaccepted_files,
    uncompared_finding,
    uncompared_staged_files,
    uncopied_versions,
)
from coordinator.protocols.registrations import (
    SeenCommit,
    current_registration,
    element_problems,
    is_before_the_table,
    is_split,
    missing_runs,
    seen_commits,
    several_coordinators,
)
from coordinator.protocols.verdict import EntryVerdict, Finding
from coordinator.protocols.wording import counted, runs_of, verb
from lake.delta.coordinator_properties import TABLE_CONF
from lake.delta.facts import Mechanism, Registration
from lake.delta.wire import shown

SCHEMA_VERSION = 1


def judge_coordinated_commits(view: LogView) -> Judgement:
    """Every registration of the table in its state; whatever the items hold, nothing is raised."""
    facts = view.facts
    if view.unread("registrations"):
        return Judgement()
    judged = _judge_registrations(view)
    if not is_split(facts):
        return judged
    return join((_without_repairs(judged), Judgement(findings=tuple(several_coordinators(view)))))


def _judge_registrations(view: LogView) -> Judgement:
    facts = view.facts
    if facts.mechanism is not Mechanism.COORDINATED_COMMITS:
        return join((_judge_others(view, facts.registrations, None), _staged_files(view)))
    table_id = registration_id(facts.protocol)
    if table_id is None:
        missing = f"no tableId could be read from {TABLE_CONF} of the newest metadata"
        return Judgement(findings=(undecided("Which registration is this table's", missing),))
    current = current_registration(facts)
    others = tuple(one for one in facts.registrations if one is not current)
    if current is None:
        lost = Judgement(findings=(findings.registration_missing(table_id, coordinator_store(facts.protocol)),))
        return join((lost, _judge_others(view, others, table_id), _staged_files(view)))
    return join((judge_current(view, current), _judge_others(view, others, table_id), _staged_files(view)))


def judge_current(view: LogView, registration: Registration) -> Judgement:
    """The registration that the newest metadata names."""
    found = _item_findings(registration)
    if not same_place(registration.path, view.facts.uri):
        return Judgement(findings=(*found, findings.path_differs(view, registration)))
    version, started = registration.table_version, registration.has_accepted_commits
    if registration.schema_version not in (SCHEMA_VERSION, None):
        missing = f"schemaVersion is {registration.schema_version}, and only {SCHEMA_VERSION} is known"
        return Judgement(findings=(*found, undecided("The registration", missing)))
    if version is None or not is_version(version):
        missing = "tableVersion of the registration is not a version that Delta can have"
        return Judgement(findings=(*found, undecided("The newest accepted version", missing)))
    if started is None and version not in view.published:
        missing = "hasAcceptedCommits of the registration is neither true nor false"
        return Judgement(findings=(*found, undecided("The newest accepted version", missing)))
    judged = _judge_unused if started is False else _judge_accepted
    return join((Judgement(findings=tuple(found)), judged(view, registration, version)))


def _judge_unused(view: LogView, registration: Registration, version: int) -> Judgement:
    """A registration that has accepted no commit: it stands at the upgrade's version, which is the newest one then.

    Upstream expects the next commit right above `tableVersion` whether or not there was one before
    (`DynamoDBCommitCoordinatorClient.commitToOwner`, Delta 3.3 to 4.4), so that a later log makes every write fail.
    """
    if view.newest is not None and version < view.newest:
        return Judgement(findings=(findings.behind(registration, version, view.newest),))
    if view.file(version).present is False:
        return Judgement(findings=(findings.list_cleared_too_early(view, registration, version, version),))
    return Judgement(findings=(findings.not_started(registration),))


def _judge_accepted(view: LogView, registration: Registration, version: int) -> Judgement:
    """`tableVersion` beside the published log, then the list."""
    listed = judge_list(view, registration)
    found: list[Finding] = []
    entries: tuple[EntryVerdict, ...] = ()
    unpublished: dict[int, datetime | None] = {}
    in_list = {one.version for one in seen_commits(view, registration)}
    if view.newest is not None and version < view.newest:
        found.append(findings.behind(registration, version, view.newest))
    file = view.file(version)
    runs = missing_runs(in_list, view.base, version)
    if version not in in_list and not view.is_cleaned(version):
        if file.present is None:
            found.append(undecided("The newest accepted version", f"{file.name} was not looked up", version))
        elif not file.present:
            # What is missing right below it was lost with it.
            first = runs.pop()[0] if runs and runs[-1][1] == version - 1 else version
            found.append(findings.list_cleared_too_early(view, registration, version, first))
            at, held = _moment(registration.table_timestamp), (registration.store, registration.table_id)
            entries = (EntryVerdict(version, "K6", False, "", *held, complete=None, written_at=at),)
            unpublished[version] = at
    if runs:
        found.append(findings.list_not_contiguous(registration, version, runs))
    if registration.accepting_commits is False and view.facts.protocol and view.facts.protocol.version >= version:
        found.append(findings.refuses_commits(registration))
    return join((listed, Judgement(entries, tuple(found), version, unpublished)))


def judge_list(view: LogView, registration: Registration) -> Judgement:
    """Each listed commit in its state: K3, K4, K7 or K12, or unknown where its files were not looked up."""
    seen = seen_commits(view, registration)
    pairs = [(one, code_of(view, one)) for one in seen]
    by_code: dict[str, list[SeenCommit]] = {}
    for one, code in pairs:
        by_code.setdefault(code, []).append(one)
    found: list[Finding] = []
    stale = by_code.get("K4", [])
    found += [findings.bytes_differ(view, one) for one in stale if _differs(view, one)][-MOST_FINDINGS:]
    if same := [one for one in stale if not _differs(view, one)]:
        found.append(findings.list_not_cleared(view, registration, same))
    lost = {one.version: one for one in by_code.get("K7", [])}
    for first, last in runs_of(lost)[-MOST_FINDINGS:]:
        found.append(findings.staged_files_lost([lost[version] for version in range(first, last + 1)]))
    waiting = [*by_code.get("K3", []), *by_code.get("K12", [])]
    found += [findings.size_differs(one) for one in waiting if one.size_differs][-MOST_FINDINGS:]
    if waiting := [one for one in waiting if not one.size_differs]:
        found.append(findings.unbackfilled(view, waiting, two_folders="K12" in by_code))
    found += [_undecided(one) for one in by_code.get(UNKNOWN, [])[-MOST_FINDINGS:]]
    return Judgement(
        entries=tuple(_entry(registration, one, code) for one, code in pairs),
        findings=tuple(found),
        accepted=max((one.version for one in seen), default=None),
        unpublished={one.version: one.written_at for one, code in pairs if code != "K4" and not one.file.present},
    )


def code_of(view: LogView, seen: SeenCommit) -> str:
    """The state of one listed commit."""
    if seen.file.present or view.is_cleaned(seen.version):
        return "K4"
    if seen.file.present is None or seen.staged is None or seen.staged.present is None:
        return UNKNOWN
    if not seen.staged.present:
        return "K7"
    return "K12" if in_other_folder(view, seen) else "K3"


def in_other_folder(view: LogView, seen: SeenCommit) -> bool:
    """Whether releases of Delta that stage in another folder are at work, and fail on this commit.

    Old files in the folder of 3.3 are what an upgrade to 4.x leaves; any file in that of 4.x shows that 4.x is in use.
    """
    if seen.staged is None or not seen.staged.present:
        return False
    newer, older = STAGED_FOLDERS
    if seen.staged.name.partition("/")[0] == older:
        return newer in view.newest_staged
    return view.newest_staged.get(older, -1) >= seen.version


def _differs(view: LogView, seen: SeenCommit) -> bool:
    return seen.staged is not None and view.equal(seen.version, seen.file, seen.staged) is False


def _undecided(seen: SeenCommit) -> Finding:
    if seen.file.present is None:
        missing = f"{seen.file.name} was not looked up"
    elif seen.staged is None:
        missing = f"fsName {shown(seen.commit.file_name)} is not the name of a staged file of this version"
    else:
        missing = f"the staged file {seen.commit.file_name} was not looked up"
    return undecided(f"The state of commit {seen.version:,}", missing, seen.version)


def _item_findings(registration: Registration) -> list[Finding]:
    problems = [*registration.problems, *element_problems(registration)]
    return [malformed(f"Registration {registration.table_id}", problems)] if problems else []


def _judge_others(view: LogView, others: Sequence[Registration], current_id: str | None) -> Judgement:
    """Registrations that the newest metadata does not name: orphans, downgraded ones, and ones that still accept."""
    found: list[Finding] = []
    parts: list[Judgement] = []
    if view.facts.protocol is None and others:
        return Judgement(findings=(undecided("Whether the table uses its registration", "its metadata was not read"),))
    if len(others) + (current_id is not None) > 1:
        found.append(findings.several_registrations(view.facts.registrations, current_id))
    for one in others:
        found += _item_findings(one)
        if one.has_accepted_commits is False:
            found.append(findings.orphan(one))
        elif one.accepting_commits is False:
            found.append(findings.downgraded(one))
            parts.append(judge_list(view, _of_this_table(view, one)))
        else:
            found.append(findings.accepts_without_table(one))
            parts.append(_without_repairs(judge_list(view, _of_this_table(view, one))))
    return join((Judgement(findings=tuple(found)), *parts))


def _of_this_table(view: LogView, registration: Registration) -> Registration:
    """The registration without commits of a table that was dropped: upstream leaves a list that was not backfilled."""
    commits = registration.commits
    own = tuple(one for one in commits if not is_before_the_table(view, registration, one.in_commit_timestamp))
    return replace(registration, commits=own)


def _without_repairs(judged: Judgement) -> Judgement:
    return replace(judged, findings=tuple(replace(finding, repairs=()) for finding in judged.findings))


def _staged_files(view: LogView) -> Judgement:
    """K2, staged files of no accepted commit; both folders in use; and the trail of spinning writers.

    Only files of versions that are backfilled may go: a slow writer could still commit one of a later version.
    """
    files = view.facts.listing.staged or ()
    if not files:
        return Judgement()
    losing = [file for file, _ in losing_files(view, staged_fates(view))]
    unlisted = [*unaccepted_files(view), *losing]
    count = len(unlisted)
    summary = (
        f"{counted(count, 'staged file')} {verb(count, 'is', 'are')} listed by no registration and "
        f"{verb(count, 'holds', 'hold')} no published commit."
    )
    found = [
        orphans_finding(view, unlisted, "K2", summary, QUIET_SECONDS, removable=losing),
        spin_finding(view, files, staged_file_version, "staged files"),
        findings.both_folders(files),
        uncompared_finding(uncompared_staged_files(view), "staged file"),
        *_uncopied(view),
    ]
    return Judgement(findings=tuple(finding for finding in found if finding))


def _uncopied(view: LogView) -> list[Finding]:
    """Accepted versions of which no staged file holds the published bytes."""
    found = []
    for version, certain in uncopied_versions(view)[-MOST_FINDINGS:]:
        if certain:
            found.append(findings.no_staged_copy(view, version))
        else:
            missing = "its staged files hold other bytes, and whether it went through the coordinator is not known"
            found.append(undecided(f"Whether …{version}.json is the accepted commit", missing, version))
    return found


def _entry(registration: Registration, seen: SeenCommit, code: str) -> EntryVerdict:
    staged = seen.staged
    return EntryVerdict(
        version=seen.version,
        code=code,
        published=seen.file.present,
        file=staged.name if staged else seen.commit.file_name,
        store=registration.store,
        lock_domain=registration.table_id,
        complete=None,
        file_present=staged.present if staged else None,
        file_size=staged.size if staged else None,
        written_at=seen.written_at,
    )


def _moment(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else read_moment(milliseconds / 1_000)
