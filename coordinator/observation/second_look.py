"""One table, looked at as often as it takes: what rests on an absence is raised after a second look (decision 007).

This is the only door to a reading: whatever stores a verdict, plans from it or proves by it gets it from here.
"""

from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from threading import Lock

from coordinator.observation.reading import Reading, read_once
from coordinator.observation.surveys import CoordinatorSurvey, Place, Survey
from coordinator.observation.targets import TableTarget
from coordinator.observation.witnesses import read_registration_of
from coordinator.protocols.absence import Missed, doubtful, missed, withhold
from coordinator.protocols.last_copies import MOST_FILES, OLDER_VERSIONS, lost_files, was_seen
from coordinator.protocols.verdict import Finding
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.object_versions import MOST, older_versions

MOST_SECOND_LOOKS = 200
"""Second looks in one pass. Each reads a whole table, so that a bucket which breaks at once is spread over passes."""

LATER = f"This pass has taken its {MOST_SECOND_LOOKS} second looks; the next one looks again."
MOST_VERSIONS = 5
"""Versions of one lost file that are kept."""
MOVED = "The second look saw that, and missed something else: the table is being written."


class SecondLooks:
    """How many more second looks one pass may take; shared by its threads."""

    def __init__(self, most: int = MOST_SECOND_LOOKS) -> None:
        self.left_out = 0
        self._left = most
        self._lock = Lock()

    def take(self) -> bool:
        """Take one if there is one left; else it counts as left out."""
        with self._lock:
            taken = self._left > 0
            self._left -= taken
            self.left_out += not taken
            return taken


def read_table(
    lake: Lake, survey: Survey, target: TableTarget, *, in_full: bool = False, looks: SecondLooks | None = None
) -> Reading:
    """Look at one table, and again where a critical finding rests on an absence that no earlier look has seen, or where
    the log was cleaned up under the look.

    The second look begins after the first one is over and reads everything anew. What only one of them misses is not
    raised, and the table is being checked. Whatever goes wrong is part of the reading, not an exception. `looks` is
    what a pass may still take; None takes one for each table. What versioning keeps of lost files is looked for last.
    """
    return _with_older_versions(lake, _read_twice(lake, survey, target, looks, in_full=in_full))


def _read_twice(
    lake: Lake, survey: Survey, target: TableTarget, looks: SecondLooks | None, *, in_full: bool
) -> Reading:
    first = read_once(lake, survey, target, in_full=in_full)
    if first.verdict is None or not (first.has_moved or doubtful(first.verdict, first.missed_before)):
        return _settled(first, first.missed_before)
    if looks is not None and not looks.take():
        return _settled(first, first.missed_before, LATER)
    second = _look_again(lake, survey, target)
    if isinstance(second, str):
        return _settled(first, first.missed_before, second)
    return _settled(second, (*second.missed_before, *missed(first.verdict.findings)), MOVED)


def _look_again(lake: Lake, survey: Survey, target: TableTarget) -> Reading | str:
    """The second look, or the sentence that says why there is none."""
    try:
        anew = _afresh(lake, survey, target.place)
    except AwsError as error:
        return f"The second look failed: {error}"
    second = read_once(lake, anew, target, in_full=True)
    return f"The second look failed: {second.error}" if second.error is not None else second


def _settled(reading: Reading, before: Collection[Missed], why: str = "") -> Reading:
    """The reading with the findings that may be raised, and with what it missed, for the look that comes after it."""
    if reading.verdict is None:
        return reading
    verdict = withhold(reading.verdict, before, why)
    # Without a fingerprint the next look finds a change, and reads the table whole.
    fingerprint = "" if verdict.withheld else reading.fingerprint
    return replace(reading, verdict=verdict, missed=missed(reading.verdict.findings), fingerprint=fingerprint)


def _afresh(lake: Lake, survey: Survey, place: Place) -> Survey:
    """The stores as known, with nothing in hand that was read before the first look: what was scanned is asked for."""
    return replace(
        survey,
        log_stores=tuple(replace(store, held=None) for store in survey.log_stores),
        coordinators=tuple(_read_again(lake, store, place) for store in survey.coordinators),
    )


def _read_again(lake: Lake, store: CoordinatorSurvey, place: Place) -> CoordinatorSurvey:
    """The registrations of one place that have accepted commits, each read anew. Raises AwsError.

    Those that have not rest on nothing, and may be many.
    """
    if store.held is None:
        return store
    scanned = store.held.get(place, ())
    found = (
        read_registration_of(lake, store.name, one.table_id) if one.has_accepted_commits and one.table_id else one
        for one in scanned
    )
    return replace(store, held={place: tuple(one for one in found if one is not None)})


def _with_older_versions(lake: Lake, reading: Reading) -> Reading:
    """The reading, its loud findings with what S3 keeps of the files that they miss: nobody gives up what it has.

    One request a file, at most `MOST_FILES` of them. A refusal is kept as its reason.
    """
    verdict = reading.verdict
    if verdict is None:
        return reading
    files = [(one, tuple(dict.fromkeys(lost_files(one, verdict)))) for one in verdict.findings]
    wanted = dict.fromkeys(file for _, named in files for file in named)
    found = {file: _kept_of(lake, reading, *file) for file in islice(wanted, MOST_FILES)}
    findings = tuple(_with_kept(one, [found[file] for file in named if file in found]) for one, named in files)
    return replace(reading, verdict=replace(verdict, findings=findings)) if found else reading


def _with_kept(finding: Finding, found: list[dict[str, object]]) -> Finding:
    return replace(finding, evidence={**finding.evidence, OLDER_VERSIONS: found}) if found else finding


def _kept_of(lake: Lake, reading: Reading, version: int, name: str) -> dict[str, object]:
    bucket, key = reading.target.uri.bucket, f"{reading.target.uri.log_key}{name}"
    told: dict[str, object] = {"version": version, "file": name, "bucket": bucket, "key": key}
    try:
        kept = older_versions(lake.s3, bucket, key)
    except AwsError as error:
        # Without the request's id, which is another one at each look, the finding says the same as before.
        return {**told, "reason": str(AwsError(error.code, error.message, "", error.operation, error.permission))}
    if not kept.versions and not kept.is_complete:
        return {**told, "reason": f"of its versions and delete markers only the newest {MOST} were looked at."}
    known = reading.facts.provenance.get(version) if reading.facts else None
    versions = [
        {
            "version_id": one.version_id,
            "size": one.size,
            "etag": one.etag,
            "modified_at": one.modified_at.isoformat(),
            "seen": was_seen(known, name, one.size, one.etag),
        }
        for one in kept.versions[:MOST_VERSIONS]
    ]
    return {
        **told,
        "deleted_at": kept.deleted_at.isoformat() if kept.deleted_at else None,
        "more": not kept.is_complete or len(kept.versions) > MOST_VERSIONS,
        "versions": versions,
    }
