"""Findings of registrations and their listed commits: the sentence, what follows, the evidence and the repairs."""

from collections.abc import Iterable, Sequence

from coordinator.protocols.absence import MOST_ABSENT, commit_files, temp_file
from coordinator.protocols.judgement import GRACE_SECONDS, note, run_evidence
from coordinator.protocols.log_store_entries import look_evidence
from coordinator.protocols.log_store_findings import effect_at_the_end
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import STAGED_FOLDERS, staged_file_version
from coordinator.protocols.registrations import SeenCommit
from coordinator.protocols.verdict import Absence, Finding, Severity, State, attention, blocked, graded, unsafe
from coordinator.protocols.wording import counted, duration, run_list, runs_of, thousands, verb, version_list
from lake.delta.facts import LogObject, Registration


def item_evidence(registration: Registration) -> dict[str, object]:
    """The item as read, without its list."""
    return {
        "store": registration.store,
        "tableId": registration.table_id,
        "path": registration.path,
        "tableVersion": registration.table_version,
        "tableTimestamp": registration.table_timestamp,
        "acceptingCommits": registration.accepting_commits,
        "hasAcceptedCommits": registration.has_accepted_commits,
        "schemaVersion": registration.schema_version,
        "commits": len(registration.commits),
    }


def commit_evidence(seen: SeenCommit) -> dict[str, object]:
    """One element of the list and its files."""
    element = {
        "version": seen.version,
        "fsName": seen.commit.file_name,
        "fsLength": seen.commit.size,
        "timestamp": seen.commit.in_commit_timestamp,
    }
    return {"dynamodb": element, "s3": [look_evidence(look) for look in (seen.file, seen.staged) if look]}


def unbackfilled(view: LogView, waiting: Sequence[SeenCommit], *, two_folders: bool = False) -> Finding:
    """K3 for all commits that wait: accepted, staged, and without their own file.

    `two_folders`: releases of Delta that look for them in another folder are at work, and fail (K12).
    """
    versions = [one.version for one in waiting]
    newest = max(waiting, key=lambda one: one.version)
    oldest = max((view.age(one.written_at) or 0 for one in waiting), default=0)
    many = len(versions)
    below = [version for version in versions if version < view.base]
    named = f"{verb(many, 'Commit', 'Commits')} {version_list(versions)}"
    what = f"{named} {verb(many, 'is', 'are')} accepted and not backfilled."
    if below:
        effect = "Later versions are published, so readers stop at the gap."
    elif two_folders:
        effect = "Each release of Delta looks in its own folder, so some reads and writes fail with FAILED_READ_FILE."
    else:
        stay = f"stay at {thousands(view.base)}" if view.base >= 0 else "find no table"
        effect = f"Delta readers see {verb(many, 'it', 'them')}; Trino and Athena {stay}."
    quiet = Severity.INFO if oldest < GRACE_SECONDS else Severity.WARNING
    blocks = bool(below) or two_folders
    return Finding(
        "K3",
        f"{what} {effect}",
        newest.version,
        "The next commit backfills them; until then readers that do not ask the coordinator see an older table. "
        "Deleting a staged file or its entry would lose the commit.",
        {
            "versions": sorted(versions)[-100:],
            "count": many,
            "oldest_age": duration(oldest),
            "commits": [commit_evidence(one) for one in waiting[-5:]],
        },
        ("backfill",),
        commit_files(runs_of(below or versions)),
        severity=Severity.CRITICAL if blocks else quiet,
        state=State.BLOCKED if blocks else State.UNBACKFILLED,
    )


def list_not_cleared(view: LogView, registration: Registration, same: Sequence[SeenCommit]) -> Finding:
    """K4: listed commits whose files exist. A list of a downgraded item is never cleared by anyone."""
    versions = [one.version for one in same]
    many = len(versions)
    ages = [view.age(one.file.modified_at) for one in same]
    young = all(age is not None and age < GRACE_SECONDS for age in ages)
    nobody = registration.accepting_commits is False
    calm = young and not nobody
    ends = "The next commit clears the list."
    if nobody:
        ends = "The registration accepts no commits any more, so nobody clears its list."
    return graded(State.HEALTHY if calm else State.ATTENTION)(
        "K4",
        f"{verb(many, 'Commit', 'Commits')} {version_list(versions)} {verb(many, 'is', 'are')} backfilled and still "
        "listed by the coordinator.",
        max(versions),
        f"Readers are not affected. {ends}",
        {"registration": item_evidence(registration), "versions": versions[-100:], "count": many},
        ("clear-entries",),
    )


def bytes_differ(view: LogView, seen: SeenCommit) -> Finding:
    """K4 with different bytes: the published file is not the one the coordinator accepted."""
    return unsafe(
        "K4",
        f"Version {thousands(seen.version)} was written twice: …{seen.version}.json differs from the staged file that "
        "the coordinator accepted.",
        seen.version,
        "Outside readers see other rows than the accepted ones. Clearing the list would hide that; keep both files "
        "until the loss is understood.",
        {
            **commit_evidence(seen),
            "bytes_equal": False,
            "first_difference": view.facts.first_differences.get(seen.staged.name if seen.staged else ""),
        },
    )


def no_staged_copy(view: LogView, version: int) -> Finding:
    """A backfilled version that none of its staged files equals: the coordinator accepted one of those it was given."""
    candidates = view.staged_of(version)
    many = len(candidates)
    these = verb(many, "the only staged file", f"each of the {many} staged files")
    return unsafe(
        "bytes-differ",
        f"…{version}.json holds other bytes than {these} of this version: it was replaced after it was backfilled, or "
        "the accepted staged file is gone.",
        version,
        f"{verb(many, 'That file', 'One of them')} may be the last copy of the accepted commit, whose rows are not in "
        "the table then. Keep every file until the loss is understood.",
        {
            "s3": [look_evidence(view.file(version))],
            "staged": [one.name for one in candidates[:20]],
            "bytes_equal": False,
        },
        absent=(Absence(f"a staged file that equals …{version}.json", version, version),),
    )


def staged_files_lost(run: Sequence[SeenCommit]) -> Finding:
    """K7 for consecutive versions: accepted, and neither the staged nor the published files exist."""
    newest, versions = run[-1], [one.version for one in run]
    many = len(run)
    what = (
        f"Commit {thousands(newest.version)} is accepted, but its staged file {newest.commit.file_name} is gone and it "
        "was never backfilled."
    )
    if many > 1:
        what = (
            f"Commits {version_list(versions)} are accepted, but their staged files are gone and they were never "
            "backfilled."
        )
    bring = verb(many, "the staged file back from versioning or a backup; it", "the staged files back; each")
    return blocked(
        "K7",
        f"{what} Every read fails with FAILED_READ_FILE.",
        newest.version,
        f"Bring {bring} must be as long as fsLength says. Dropping the {verb(many, 'entry', 'entries')} would lose the "
        f"{verb(many, 'commit', 'commits')}.",
        {**commit_evidence(newest), **run_evidence(versions)},
        absent=tuple(a for one in run[-MOST_ABSENT:] for a in temp_file(one.commit.file_name, one.version)),
        first_version=versions[0] if many > 1 else None,
    )


def size_differs(seen: SeenCommit) -> Finding:
    """An unbackfilled commit whose staged file is not as long as the item says."""
    found = seen.staged.size if seen.staged else None
    return unsafe(
        "staged-size-differs",
        f"The staged file of commit {thousands(seen.version)} holds {found:,} B, and the coordinator accepted "
        f"{seen.commit.size:,} B.",
        seen.version,
        "Somebody replaced the file after it was accepted. It must not be backfilled; bring the accepted one back "
        "from versioning or a backup.",
        commit_evidence(seen),
    )


def list_cleared_too_early(view: LogView, registration: Registration, version: int, first: int) -> Finding:
    """K6: `tableVersion` without file and without list element; `first` is the oldest version lost with it."""
    versions = range(first, version + 1)
    candidates = [file for file in view.facts.listing.staged or () if staged_file_version(file.name) in versions]
    looked = view.facts.listing.staged is not None
    alone = first == version
    gone = (
        f"it, and …{version}.json does not exist"
        if alone
        else f"{run_list([(first, version)])}, and their files are gone"
    )
    of_them = "of that version" if alone else "of those versions"
    if not looked:
        rest = "The staged files were not listed."
    elif candidates:
        rest = f"{counted(len(candidates), 'staged file')} {of_them} {verb(len(candidates), 'is', 'are')} there."
    else:
        rest = f"No staged file {of_them} is there."
    told = "" if alone else " Of those below it nothing tells which staged file was accepted."
    return blocked(
        "K6",
        f"The coordinator's newest version is {thousands(version)}, and it no longer lists {gone}. "
        f"{effect_at_the_end(view, version)} {rest}",
        version,
        "Nothing heals this by itself. The accepted file is the one whose inCommitTimestamp equals tableTimestamp; "
        f"lowering tableVersion would lose the commit.{told}",
        {
            "registration": item_evidence(registration),
            "published_version": view.newest,
            "staged": [file.name for file in candidates[:20]] if looked else None,
            **run_evidence(versions),
        },
        ("publish-accepted-staged-file",) if candidates and alone else (),
        commit_files([(first, version)]),
        None if alone else first,
    )


def list_not_contiguous(registration: Registration, version: int, runs: Sequence[tuple[int, int]]) -> Finding:
    """Accepted versions below `tableVersion` that are neither published nor listed."""
    named = ", ".join(thousands(a) if a == b else f"{thousands(a)} to {thousands(b)}" for a, b in runs[:3])
    return blocked(
        "list-not-contiguous",
        f"The coordinator accepted versions up to {thousands(version)}, and {named} "
        f"{verb(sum(b - a + 1 for a, b in runs), 'is', 'are')} neither published nor listed.",
        runs[-1][1],
        "Readers stop at the gap or stay below it. The staged files of the missing versions have to be found first.",
        {
            "registration": item_evidence(registration),
            "missing": [{"first": first, "last": last} for first, last in runs[:20]],
        },
        absent=commit_files(runs),
    )


def behind(registration: Registration, version: int, newest: int) -> Finding:
    """K9: the item is older than the log."""
    unused = "a backup made before its first commit: it says that it has accepted none"
    backup = unused if registration.has_accepted_commits is False else "an older backup"
    return blocked(
        "K9",
        f"The coordinator's newest version is {thousands(version)}, below the published {thousands(newest)}. Reads "
        f'work; every write stops with "Commit version {newest + 1} is not valid. Expected version: {version + 1}."',
        version,
        f"The item was probably put back from {backup}. Writes fail until tableVersion is raised.",
        {"registration": item_evidence(registration), "published_version": newest},
        ("raise-coordinator-version",),
        (Absence(f"registration {registration.table_id}", version + 1, newest),),
    )


def registration_missing(table_id: str, store: str | None) -> Finding:
    """K8: the metadata names a registration that does not exist."""
    return blocked(
        "K8",
        f"The table names registration {table_id}, and {store or 'the coordinator'} holds no such item. Reads, writes "
        "and DROP FEATURE all fail.",
        meaning="The item has to be made again with the newest contiguous version, after its staged files were "
        "looked at. A guessed version loses commits.",
        evidence={"tableId": table_id, "store": store},
        repairs=("re-register",),
        absent=(Absence(f"registration {table_id}"),),
    )


def path_differs(view: LogView, registration: Registration) -> Finding:
    """A copy: the registration belongs to another path, and the coordinator refuses writes from here."""
    return blocked(
        "path-differs",
        f"The table names a registration of {registration.path}. This is a copy of that table: reads work, every "
        "write is refused.",
        meaning="Each refused write leaves one staged file. Skipping the path check would write into the original's "
        "versions.",
        evidence={"registration": item_evidence(registration), "uri": view.facts.uri},
    )


def not_started(registration: Registration) -> Finding:
    """K1: registered, and no commit has gone through the coordinator yet."""
    return note(
        "K1",
        "The table is registered; no commit has gone through the coordinator yet.",
        "Normal until the first commit after the upgrade.",
        registration=item_evidence(registration),
    )


def refuses_commits(registration: Registration) -> Finding:
    """The metadata still names a registration that was closed."""
    return blocked(
        "refuses-commits",
        'The registration accepts no commits, and the newest metadata still names it: every write stops with "not '
        'accepting any new commits".',
        meaning="Reads work. The item or the metadata was put back from an older copy.",
        evidence={"registration": item_evidence(registration)},
    )


def orphan(registration: Registration) -> Finding:
    """K0: left by an upgrade that lost its race."""
    return graded(State.HEALTHY)(
        "K0",
        f"Registration {registration.table_id} has accepted no commit, and the newest metadata does not name it: its "
        "upgrade is under way, lost its race or was cut short.",
        meaning="It costs nothing and does no harm. It must stay while an upgrade may be running. Enabling again makes "
        "a registration of its own.",
        evidence={"registration": item_evidence(registration)},
        repairs=() if registration.commits else ("remove-orphans",),
    )


def downgraded(registration: Registration) -> Finding:
    """K10: the item that a dropped table leaves."""
    return note(
        "K10",
        f"Registration {registration.table_id} is closed: the table left its coordinator.",
        "Spark applications that hold an older state of the table still ask for it, so it stays.",
        registration=item_evidence(registration),
    )


def accepts_without_table(registration: Registration) -> Finding:
    """An item that accepts commits although the newest metadata does not name it."""
    return attention(
        "accepts-without-table",
        f"Registration {registration.table_id} of {registration.store} accepts commits, and the newest metadata does "
        "not name it.",
        meaning="An application with an old state of the table could still commit through it, past all others.",
        evidence={"registration": item_evidence(registration)},
    )


def several_registrations(registrations: Sequence[Registration], current_id: str | None) -> Finding:
    """K11: several items of one path; the metadata says which one counts."""
    counts = f"the newest metadata names {current_id}" if current_id else "the newest metadata names none of them"
    return note(
        "K11",
        f"{counted(len(registrations), 'registration')} name this path; {counts}.",
        "Normal after a table left its coordinator and came back.",
        registrations=[item_evidence(one) for one in registrations[:20]],
    )


def both_folders(files: Iterable[LogObject]) -> Finding | None:
    """K12: staged files in both folders, so that writers of Delta 3.3 and 4.x are at work."""
    counts = dict.fromkeys(STAGED_FOLDERS, 0)
    for file in files:
        folder = file.name.partition("/")[0]
        counts[folder] = counts.get(folder, 0) + 1
    if not all(counts[folder] for folder in STAGED_FOLDERS):
        return None
    return attention(
        "K12",
        "Staged files lie in _staged_commits and in _commits: writers of Delta 4.x and of 3.3 share this table.",
        meaning="The coordinator holds file names only, so each release looks in its own folder and misses "
        "unbackfilled commits of the other. Backfill, then keep to one release.",
        evidence={"files": counts},
    )
