"""A table whose log store is known by its temp files alone: no DynamoDB table that was asked holds an entry of it.

Entries leave about a day after their commit, so that a quiet table looks like this at first sight; so does one whose
DynamoDB table is not declared. A commit is written to its temp file first (`BaseExternalLogStore`, step 2.1), after the
version below it was published. While the temp file of the newest published version is there, one written later is
there too, unless somebody picked it out: clean-up by age takes the older first. So where that one is there and none
may be of a later version, no accepted commit waits.
"""

from collections.abc import Sequence

from coordinator.protocols.judgement import GRACE_SECONDS, Judgement
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import temp_file_version
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import counted, duration, thousands, verb
from lake.delta.facts import LogObject

CODE = "unknown-log-store"
NO_ENTRY = "no DynamoDB table that Levee asks holds an entry of this table"
DECLARE = "Declare the DynamoDB table of its log store; the next commit then shows it."


def judge_unknown_store(view: LogView) -> Judgement:
    """One finding that says what the temp files prove, and what they leave open."""
    if view.unread("entries") or view.unread("DynamoDB") or view.unread("listing"):
        return Judgement()
    files = view.facts.listing.temp_files or ()
    later = [file for file in files if _may_wait(view, file)]
    if later:
        return Judgement(findings=(_undecided(view, later),))
    newest = [file for file in files if temp_file_version(file.name) == view.newest]
    return Judgement(findings=(_settled(view, newest) if newest else _cleaned_up(view, files),))


def _may_wait(view: LogView, file: LogObject) -> bool:
    """Whether a temp file may hold a commit that is not published: delta-rs' names tell no version."""
    version = temp_file_version(file.name)
    return version is None or view.newest is None or version > view.newest


def _undecided(view: LogView, files: Sequence[LogObject]) -> Finding:
    """Each of the files is an accepted commit or a loser's, and only its entry tells which."""
    young = all((view.age(file.modified_at) or 0) < GRACE_SECONDS for file in files)
    return Finding(
        CODE,
        Severity.INFO if young else Severity.WARNING,
        State.NOT_CHECKED,
        f"{counted(len(files), 'temp file')} may hold an accepted commit that is not published, and {NO_ENTRY}, so "
        f"that whether {verb(len(files), 'it does', 'they do')} cannot be decided.",
        meaning=f"The commit may wait in a DynamoDB table that Levee does not know. {DECLARE}",
        evidence={
            "missing": f"{verb(len(files), 'the entry', 'the entries')} in the DynamoDB table of the log store",
            "temp_files": [file.name for file in files[:20]],
        },
    )


def _settled(view: LogView, newest: Sequence[LogObject]) -> Finding:
    """The newest published version has its temp file, and no later one has any: nothing waits."""
    age = max((view.age(file.modified_at) or 0 for file in newest), default=0)
    names = [file.name for file in newest[:20]]
    if age >= view.facts.ttl_seconds:
        return Finding(
            CODE,
            Severity.INFO,
            State.HEALTHY,
            f"A log store (S3DynamoDBLogStore) is in use here, as its temp files show, and {NO_ENTRY} now.",
            meaning="Entries leave about a day after their commit. Which DynamoDB table it is, and whether every "
            "writer uses it, shows at the next commit. No temp file is of a later version, so no commit waits.",
            evidence={"temp_files": names},
        )
    return Finding(
        CODE,
        Severity.INFO if age < GRACE_SECONDS else Severity.WARNING,
        State.NOT_CHECKED,
        f"A writer with a log store was at work {duration(age)} ago, and {NO_ENTRY}, though an entry lives "
        f"{duration(view.facts.ttl_seconds)}.",
        meaning=f"Its log store is one that Levee does not ask, or its entries live shorter. {DECLARE}",
        evidence={"missing": "the DynamoDB table of the log store", "temp_files": names},
    )


def _cleaned_up(view: LogView, files: Sequence[LogObject]) -> Finding:
    """Nothing of the newest version is left: whether a commit waits cannot be told from what was cleaned up."""
    newest = max((version for file in files if (version := temp_file_version(file.name)) is not None), default=None)
    left = f"the newest left of version {thousands(newest)}" if newest is not None else "none of which is left"
    return Finding(
        CODE,
        Severity.INFO,
        State.NOT_CHECKED,
        f"A log store (S3DynamoDBLogStore) was in use here, as temp files showed, {left}; {NO_ENTRY}.",
        meaning="Only published versions are known. Whether the newest went through the log store, and whether an "
        f"accepted commit waits, shows in the store alone. {DECLARE}",
        evidence={"missing": "the DynamoDB table of the log store", "newest_temp_file": newest},
    )
