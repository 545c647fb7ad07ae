"""Proving the tables of a backup, with or without the source that their logs have to be equal to."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from threading import Lock
from typing import TypeVar

from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import BucketPrefix
from lake.delta.accepted import AcceptedCommits, ReadAccepted
from lake.delta.facts import LogListing, LogObject, ReadingProblem
from lake.delta.file_actions import CommitTime, LogUnreadable, commit_files
from lake.delta.listing import read_listing
from lake.delta.live_files import CLOCKS_APART, proposed_commits
from lake.delta.names import parse_name
from lake.delta.point_log import point_log
from lake.delta.proving import Prover, TableProof
from lake.delta.restorable import SizeOf, TableFiles, as_the_source_has_it, newest_of, with_accepted
from lake.delta.uri import TableUri
from lake.points.copies import BackupObjects, StoredLog, is_of_one_object, is_same, log_of, read_copy
from lake.points.keeping import Keeper, NotKept
from lake.points.moments import BEGINNING, WINDOW, Span, moments_of
from lake.points.proven import ProvenTable, RestorableVersions, versions_of
from lake.points.topping_up import Topper

NOT_ASKED = AcceptedCommits(None, not_known="DynamoDB was not asked.")
TABLES_AT_ONCE = 8
READS_AT_ONCE = 32
REQUESTS_AT_ONCE = TABLES_AT_ONCE + READS_AT_ONCE
Listed = TypeVar("Listed")
Proven = TypeVar("Proven")


@dataclass(frozen=True)
class Source:
    """Where a backup was made from: its keys there are those below the backup's place. `read_at` is a moment before
    any of it is read, None for that at which each table is. `ahead` are by their roots the versions that were seen
    accepted of tables whose logs did not show them: where one still does not, its commit stores are asked, whether a
    file waits or not."""

    s3: S3
    bucket: str
    accepted: ReadAccepted | None = None  # What its commit stores have accepted
    read_at: datetime | None = None
    ahead: Mapping[str, int] = field(default_factory=dict)


def prove_copy(
    s3: S3,
    place: BucketPrefix,
    within: str,
    source: Source | None,
    roots: Sequence[str],
    keeper: Keeper | None = None,
    topper: Topper | None = None,
) -> Generator[ProvenTable, None, None]:
    """Prove the tables of these roots, whether the backup has anything of them or not; the keys of all that was backed
    up begin with `within` below the place. A `topper` first copies what a table lacks that was promised, a `keeper`
    keeps a point of each of which something can be restored. Raises AwsError.

    Close it to leave it early: what was not begun by then is not proven.
    """
    whole, lock = list[BackupObjects](), Lock()

    def read_whole() -> BackupObjects:
        with lock:
            if not whole:
                whole.append(read_copy(s3, place, within))
        return whole[0]

    def size_of(key: str) -> int | None:
        return read_whole().sizes.get(key) if key.startswith(within) else _head(s3, place, key)

    def prove(root: str, copy: BackupObjects, reads: ThreadPoolExecutor) -> ProvenTable:
        found = _prove(s3, copy, root, partial(_size, copy, root, size_of), source, reads)
        if topper and source and found.original:
            found = _topped_up(found, topper, s3, source, size_of, found.original)
        return _finished(found, keeper)

    yield from _each(lambda root: read_copy(s3, place, _below(root)), prove, roots)


class _LiesElsewhere(Exception):
    """A table has a file that does not lie below it."""


def prove_below(
    s3: S3,
    place: BucketPrefix,
    source: Source | None,
    roots: Sequence[str],
    keeper: Keeper | None = None,
    objective: timedelta | None = None,
    until: datetime | None = None,
) -> Generator[ProvenTable | None, None, None]:
    """Prove tables as `prove_copy` does, each by what lies below it; None for one that needs more: other places, commit
    stores, or to be topped up, as it lacks a commit that is older than the objective; and for one that is not begun
    `until` then. Of these nothing is kept."""

    def elsewhere(_: str) -> int | None:
        raise _LiesElsewhere

    def listed(root: str) -> BackupObjects | None:
        is_late = until is not None and datetime.now(UTC) >= until
        return None if is_late else read_copy(s3, place, _below(root))

    def prove(root: str, copy: BackupObjects | None, reads: ThreadPoolExecutor) -> ProvenTable | None:
        if copy is None:
            return None
        try:
            found = _prove(s3, copy, root, partial(_size, copy, root, elsewhere), source, reads)
            needs_stores = source is not None and found.table.waiting is not None
            if needs_stores or (objective is not None and found.table.lacks(objective)):
                return None
            return _finished(found, keeper)
        except _LiesElsewhere:
            return None

    return _each(listed, prove, roots)


def _each(
    listed: Callable[[str], Listed], prove: Callable[[str, Listed, ThreadPoolExecutor], Proven], roots: Iterable[str]
) -> Generator[Proven | ProvenTable, None, None]:
    """What `prove` says of each as it was `listed`, several at once. What S3 refuses of one is that one's problem, but
    for the listing of the backup: without that nothing is known of it."""
    with ThreadPoolExecutor(READS_AT_ONCE) as reads, ThreadPoolExecutor(TABLES_AT_ONCE) as tables:

        def guarded(root: str) -> Proven | ProvenTable:
            copy = listed(root)
            try:
                return prove(root, copy, reads)
            except AwsError as error:
                if not is_of_one_object(error):
                    raise
                return ProvenTable(root, RestorableVersions(problems=(ReadingProblem(log_of(root), str(error)),)))

        yield from tables.map(guarded, roots)


@dataclass(frozen=True, slots=True)
class _Found:
    """A table and what it was proven from: of the backup `prover` and `log`, of the source `there`, which `original`
    reads, None without a source."""

    table: ProvenTable
    proof: TableProof
    prover: Prover
    log: StoredLog
    there: LogListing
    original: StoredLog | None = None

    @property
    def version(self) -> int:
        """The newest that can be restored, -1 for none."""
        return self.table.proof.newest.version if self.table.proof.newest else -1


def _prove(
    s3: S3, copy: BackupObjects, root: str, size_of: SizeOf, source: Source | None, reads: ThreadPoolExecutor
) -> _Found:
    listing, place = copy.listing(root), copy.place
    log = StoredLog(s3, place.bucket, place.prefix + log_of(root), reads, copy.logs.get(root, ()))
    if source is None:
        files = TableFiles(root, place.bucket, partial(_key_below, place.prefix), size_of)
        prover = Prover(listing, log, files)
        proof = prover.prove()
        newest = newest_of(listing)
        said = NOT_ASKED if _waiting(listing, newest) else AcceptedCommits(newest)
        return _Found(_compared(root, proof, listing, log, said), proof, prover, log, listing)
    original = StoredLog(source.s3, source.bucket, log_of(root), reads)
    read_at = source.read_at or datetime.now(UTC)
    objects = [found for page in source.s3.list(source.bucket, original.folder) for found in page.objects]
    original, there = replace(original, listed=objects), read_listing(objects, original.folder, folders_listed=True)
    said = _accepted(source, root, there)
    unpublished = dict(said.unpublished)
    there = with_accepted(there, unpublished)

    def is_sources(found: LogObject, other: LogObject) -> bool:
        with suppress(LogUnreadable):
            return is_same(log, found, original, other)
        return False

    anchored, differing = as_the_source_has_it(with_accepted(listing, unpublished), there, is_sources)
    files = TableFiles(root, source.bucket, lambda key: key, size_of)
    # What is archived in the backup is read at the source, whose object it was found equal to.
    log = replace(log, instead=original)
    prover = Prover(anchored, log, files)
    proof = prover.prove()
    proof = replace(proof, problems=(*differing, *proof.problems))
    table = replace(_compared(root, proof, there, original, said), read_at=read_at)
    return _Found(table, proof, prover, log, there, original)


def _topped_up(found: _Found, topper: Topper, s3: S3, source: Source, size_of: SizeOf, log: StoredLog) -> _Found:
    """The table after what it lacked was copied, proven anew from what then lies in the backup; as it was found where
    that was not done, or is worth no more."""
    table, root, version = found.table, found.table.root, found.version
    if not table.lacks(topper.objective):
        return found
    why_not = topper.top_up(root, version, found.prover, found.there, log)
    if not why_not:

        def elsewhere(key: str) -> int | None:
            # What lies there now may have been copied after `size_of` was told.
            known = size_of(key)
            return _head(s3, topper.place, key) if known is None else known

        try:
            copy = read_copy(s3, topper.place, _below(root))
            again = _prove(s3, copy, root, partial(_size, copy, root, elsewhere), source, log.pool)
        except AwsError as error:
            if not is_of_one_object(error):
                raise
            why_not = str(error)
        else:
            if again.version >= version:
                return again
            why_not = "It was changed meanwhile: this is what was proven before."
    return replace(found, table=replace(table, not_topped_up=why_not))


def _moments(found: _Found) -> tuple[Span, ...]:
    """To which the table can be restored; also to those before it was made, where that is known and was lately."""
    table, ranges, there = found.table, found.table.proof.ranges, found.there
    if not ranges or not table.read_at or not found.original:
        return ()
    given = {version: commit.modified_at for version, commit in there.commits.items()}
    accepted = dict(given)
    for one in proposed_commits(there, -1):
        version = parse_name(one.name).version
        if version in accepted:
            accepted[version] = min(accepted[version], one.modified_at)
    newest = None
    if table.accepted is not None and table.holds_until:
        newest = table.accepted, table.holds_until
    spans = moments_of(ranges, given, accepted, newest)
    first = spans[0][0]
    if ranges[0][0] == 0 and first > table.read_at - WINDOW:
        made_at = _made_at(found.original, there, 0)
        # A log that was written anew, as to encrypt it, has its first commit's own time still.
        if made_at is not None and abs(first.timestamp() - made_at / 1_000) < CLOCKS_APART.total_seconds():
            spans.insert(0, (BEGINNING, first))
    return tuple(spans)


def _finished(found: _Found, keeper: Keeper | None) -> ProvenTable:
    """The table with its moments, and its restore point in the backup, or why it has none."""
    table = replace(found.table, moments=_moments(found))
    return _kept(found, table, keeper) if keeper and table.proof.newest else table


def _kept(found: _Found, table: ProvenTable, keeper: Keeper) -> ProvenTable:
    prover, log, there = found.prover, found.log, found.there
    point = point_log(prover, found.proof)
    if point is None:
        return replace(table, not_kept="No checkpoint or commit of its log leads to that version a second time.")
    restorable = (version for first, last in table.proof.ranges for version in range(first, last + 1))
    commits = {version: there.commits[version].modified_at for version in restorable}
    try:
        return replace(
            table, kept=keeper.keep(table.root, point, log, prover.files.size_of, commits, datetime.now(UTC))
        )
    except NotKept as reason:
        return replace(table, not_kept=str(reason))


def _accepted(source: Source, root: str, there: LogListing) -> AcceptedCommits:
    """What the source's commit stores have accepted of what waited when its log was listed, which is before they are
    asked: what is accepted later is no part of this."""
    published = newest_of(there)
    is_ahead = source.ahead.get(root, -1) > (-1 if published is None else published)
    if _waiting(there, published) is None and not is_ahead:
        return AcceptedCommits(published)
    if source.accepted is None:
        return NOT_ASKED
    uri = TableUri("s3a", source.bucket, root)
    if TableUri.parse(uri.s3a) != uri:
        return AcceptedCommits(published, not_known="Commit stores hold no path that tells it from its neighbour.")
    said = source.accepted(uri)
    if said.published != published:
        return AcceptedCommits(published, not_known=said.not_known or "Its log was read twice, and differed.")
    return said


def _compared(root: str, proof: TableProof, there: LogListing, log: StoredLog, said: AcceptedCommits) -> ProvenTable:
    """A proof beside the log that says how far the table has come."""
    accepted, newest = newest_of(there), proof.newest
    first = newest.version + 1 if newest else 0
    lacking = there.commits.get(first)
    since = lacking.modified_at if lacking else None
    waited = (one for one in proposed_commits(there, first - 1) if parse_name(one.name).version == first)
    later = (found for version, found in there.commits.items() if version >= first)
    may_since = min(one.modified_at for one in chain(waited, later)) if since else None
    made_at = _made_at(log, there, accepted)
    waiting = _waiting(there, accepted) if said.not_known else None
    if said.not_known and not waiting:
        lost_since = _accepted_at(there, accepted)
        may_since = min(lost_since, may_since or lost_since)
    return ProvenTable(
        root,
        versions_of(proof),
        accepted,
        made_at,
        since,
        may_since,
        waiting,
        unpublished=dict(said.unpublished),
        not_known=said.not_known,
    )


def _waiting(listing: LogListing, accepted: int | None) -> LogObject | None:
    """The oldest file of a commit above the newest one that is known; one without a version in its name counts where it
    is not older than that: what a writer of deltalake left behind earlier is nothing that waits."""
    newest = listing.commits.get(-1 if accepted is None else accepted)
    since = newest.modified_at - CLOCKS_APART if newest else None
    waiting = [
        one
        for one in proposed_commits(listing, -1 if accepted is None else accepted)
        if since is None or parse_name(one.name).version is not None or one.modified_at >= since
    ]
    return min(waiting, key=lambda one: one.modified_at, default=None)


def _accepted_at(listing: LogListing, newest: int | None) -> datetime:
    """The earliest moment at which the newest version may have been accepted, and another after it, of which no file
    tells: by its commit, and the files that it waited in where it was published late."""
    commit = listing.commits.get(-1 if newest is None else newest)
    if commit is None:
        return BEGINNING
    waited = proposed_commits(listing, (newest or 0) - 1)
    return min(one.modified_at for one in (commit, *waited) if parse_name(one.name).version == newest)


def _made_at(log: StoredLog, listing: LogListing, version: int | None) -> int | None:
    """When a version was committed, as its commit says; None where that cannot be read."""
    commit = None if version is None else listing.commits.get(version)
    body = log.body(commit.name) if commit else None
    if version is None or not isinstance(body, bytes):
        return None
    with suppress(LogUnreadable):
        return next((one.at for one in commit_files(version, body) if isinstance(one, CommitTime)), None)
    return None


def _below(root: str) -> str:
    """What the keys of a table begin with."""
    return f"{root}/" if root else ""


def _size(copy: BackupObjects, root: str, elsewhere: SizeOf, key: str) -> int | None:
    """The size of an object of the backup, by the listing of a table where it lies below that."""
    return copy.sizes.get(key) if key.startswith(_below(root)) else elsewhere(key)


def _head(s3: S3, place: BucketPrefix, key: str) -> int | None:
    found = s3.head(place.bucket, place.prefix + key)
    return found.size if found else None


def _key_below(prefix: str, key: str) -> str | None:
    """The key below the place of one of its bucket."""
    return key[len(prefix) :] if key.startswith(prefix) else None
