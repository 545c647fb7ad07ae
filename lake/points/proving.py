"""Proving the tables of a backup, with or without the source that their logs have to be equal to."""

from collections.abc import Collection, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain

from django.utils import timezone

from backups.points.copies import BackupObjects, StoredLog, is_of_one_object, is_same, log_of, read_copy
from backups.points.keeping import Keeper, NotKept
from backups.points.moments import BEGINNING, WINDOW, Span, moments_of
from backups.points.topping_up import Topper
from dashboard.connections.accepted import AcceptedCommits, ReadAccepted
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import BucketPrefix
from lake.delta.facts import LogListing, LogObject, ReadingProblem
from lake.delta.file_actions import CommitTime, LogUnreadable, commit_files
from lake.delta.listing import read_listing
from lake.delta.live_files import CLOCKS_APART, proposed_commits
from lake.delta.names import parse_name
from lake.delta.point_log import point_log
from lake.delta.proving import Prover, TableProof
from lake.delta.restorable import SizeOf, TableFiles, as_the_source_has_it, newest_of, with_accepted
from lake.delta.uri import TableUri

NOT_ASKED = AcceptedCommits(None, not_known="DynamoDB was not asked.")
TABLES_AT_ONCE = 8
READS_AT_ONCE = 32
REQUESTS_AT_ONCE = TABLES_AT_ONCE + READS_AT_ONCE


@dataclass(frozen=True)
class Source:
    """Where a backup was made from: its keys there are those below the backup's place."""

    s3: S3
    bucket: str
    accepted: ReadAccepted | None = None  # What its commit stores have accepted


@dataclass(frozen=True)
class ProvenTable:
    """What of a table can be restored from a backup.

    `accepted` is the newest version of the source's log, or of the log in the backup without a source, and
    `accepted_at` when it was committed, in epoch milliseconds; None where that is not known. `unpublished` are its last
    versions, where commit stores have accepted them and no file of their own shows it, with the names of the files that
    hold them. `lacking_since` is when S3 was given the first commit after the newest that can be restored; None where
    it has none, or has cleaned it up. `may_lack_since` is the earliest moment of any that is lacking, and of the files
    in which that first one waited: one that was published late, as by a backfill, was accepted before. `waiting` is the
    oldest file there of a commit above `accepted`, which may have been accepted too; `not_known` says why, where commit
    stores were asked. `read_at` is when reading the source's log began, None without a source. `kept` is the URI
    of the document of its restore point, "" for none; `not_kept` then says why. `not_topped_up` says why
    what it lacks of its plan's promise was not copied from the source, "" where it was or it lacks none. `moments` are
    those to which it can be restored, by the times at which S3 was given the source's commits, the newest last.
    """

    root: str
    proof: TableProof
    accepted: int | None = None
    accepted_at: int | None = None
    lacking_since: datetime | None = None
    may_lack_since: datetime | None = None
    waiting: LogObject | None = None
    read_at: datetime | None = None
    unpublished: Mapping[int, str] = field(default_factory=dict)
    not_known: str = ""
    kept: str = ""
    not_kept: str = ""
    not_topped_up: str = ""
    moments: tuple[Span, ...] = ()

    @property
    def is_anchored(self) -> bool:
        """Whether its log was compared with the source's."""
        return self.read_at is not None

    @property
    def has_newest(self) -> bool:
        """Whether the newest version can be restored; so it is said where there is none and none can."""
        return (self.proof.newest.version if self.proof.newest else None) == self.accepted

    @property
    def holds_until(self) -> datetime | None:
        """When S3 was given the first commit that is not, or may not be, in the newest version that can be restored;
        where that has all of them, when reading them began. None where it is not known."""
        first = self.read_at if self.has_newest else self.lacking_since
        if first is None or not self.is_anchored:
            return None
        waited = self.waiting.modified_at if self.waiting else first
        return min(first, self.may_lack_since or first, waited)

    @property
    def is_gone(self) -> bool:
        """Whether the source's log was read, and nothing of a table is there."""
        return self.accepted is None and self.waiting is None and self.is_anchored


def prove_copy(
    s3: S3,
    place: BucketPrefix,
    within: str,
    source: Source | None,
    roots: Collection[str] | None = None,
    keeper: Keeper | None = None,
    topper: Topper | None = None,
) -> Generator[ProvenTable, None, None]:
    """Prove the tables of a backup whose keys below the place begin with `within`, by root: those of `roots`, whether
    the backup has anything of them or not, or without these all that have a log there. A `topper` first copies what a
    table lacks that was promised, a `keeper` keeps a point of each of which something can be restored. Raises AwsError.

    Close it to leave it early: what was not begun by then is not proven.
    """
    copy = read_copy(s3, place, within)
    size_of = partial(_size, s3, copy, within)
    with ThreadPoolExecutor(READS_AT_ONCE) as reads, ThreadPoolExecutor(TABLES_AT_ONCE) as tables:

        def prove(root: str) -> ProvenTable:
            try:
                found = _prove(s3, copy, root, size_of, source, reads)
                if topper and source and found.original:
                    found = _topped_up(found, topper, s3, source, size_of, found.original)
                found = replace(found, table=replace(found.table, moments=_moments(found)))
                return _kept(found, keeper) if keeper and found.table.proof.newest else found.table
            except AwsError as error:
                if not is_of_one_object(error):
                    raise
                return ProvenTable(root, TableProof((), (ReadingProblem(log_of(root), str(error)),), None))

        yield from tables.map(prove, sorted(copy.logs if roots is None else roots))


@dataclass(frozen=True, slots=True)
class _Found:
    """A table and what it was proven from: of the backup `prover` and `log`, of the source `there`, which `original`
    reads, None without a source."""

    table: ProvenTable
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
        return _Found(_compared(root, prover.prove(), listing, log, NOT_ASKED), prover, log, listing)
    original, read_at = StoredLog(source.s3, source.bucket, log_of(root), reads), timezone.now()
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
    return _Found(table, prover, log, there, original)


def _topped_up(found: _Found, topper: Topper, s3: S3, source: Source, size_of: SizeOf, log: StoredLog) -> _Found:
    """The table after what it lacked was copied, proven anew from what then lies in the backup; as it was found where
    that was not done, or is worth no more."""
    table, root, version = found.table, found.table.root, found.version
    lacking = min(table.lacking_since, table.may_lack_since or table.lacking_since) if table.lacking_since else None
    if table.has_newest or not table.read_at or not topper.is_wanted(lacking, table.read_at):
        return found
    why_not = topper.top_up(root, version, found.prover, found.there, log)
    if not why_not:
        below = f"{root}/" if root else ""
        try:
            copy = read_copy(s3, topper.place, below)
            others = partial(_size_elsewhere, size_of, s3, copy, below)
            again = _prove(s3, copy, root, others, source, log.pool)
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


def _kept(found: _Found, keeper: Keeper) -> ProvenTable:
    """The table with its restore point in the backup, or why it has none."""
    table, prover, log, there = found.table, found.prover, found.log, found.there
    point = point_log(prover, table.proof)
    if point is None:
        return replace(table, not_kept="No checkpoint or commit of its log leads to that version a second time.")
    restorable = (version for first, last in table.proof.ranges for version in range(first, last + 1))
    commits = {version: there.commits[version].modified_at for version in restorable}
    try:
        return replace(table, kept=keeper.keep(table.root, point, log, prover.files.size_of, commits, timezone.now()))
    except NotKept as reason:
        return replace(table, not_kept=str(reason))


def _accepted(source: Source, root: str, there: LogListing) -> AcceptedCommits:
    """What the source's commit stores have accepted of what waited when its log was listed, which is before they are
    asked: what is accepted later is no part of this."""
    published = newest_of(there)
    if _waiting(there, published) is None:
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
    return ProvenTable(
        root,
        proof,
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


def _made_at(log: StoredLog, listing: LogListing, version: int | None) -> int | None:
    """When a version was committed, as its commit says; None where that cannot be read."""
    commit = None if version is None else listing.commits.get(version)
    body = log.body(commit.name) if commit else None
    if version is None or not isinstance(body, bytes):
        return None
    with suppress(LogUnreadable):
        return next((one.at for one in commit_files(version, body) if isinstance(one, CommitTime)), None)
    return None


def _size(s3: S3, copy: BackupObjects, within: str, key: str) -> int | None:
    """The size of an object of the backup; one outside of what was listed is asked for by itself."""
    if key.startswith(within):
        return copy.sizes.get(key)
    found = s3.head(copy.place.bucket, copy.place.prefix + key)
    return found.size if found else None


def _size_elsewhere(size_of: SizeOf, s3: S3, copy: BackupObjects, within: str, key: str) -> int | None:
    """As `_size`, but for what lies outside and was there when `size_of` was told."""
    known = None if key.startswith(within) else size_of(key)
    return _size(s3, copy, within, key) if known is None else known


def _key_below(prefix: str, key: str) -> str | None:
    """The key below the place of one of its bucket."""
    return key[len(prefix) :] if key.startswith(prefix) else None
