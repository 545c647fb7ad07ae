"""Which commits of a table are accepted and not published, for whoever copies it.

What is said here is that a store has accepted nothing else. So a reading counts only where each fact in it is sound,
and where what earlier looks have stored of the table does not speak against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from coordinator.models import CommitStore, DeltaTable, TableFinding
from coordinator.observation.provenance_rows import abandon_commits, provenance_of_row
from coordinator.observation.reading import Reading
from coordinator.observation.second_look import read_table
from coordinator.observation.surveys import CoordinatorSurvey, LogStoreSurvey, Survey, stores_of, unfit
from coordinator.observation.targets import TableTarget
from coordinator.protocols.registrations import current_registration
from coordinator.protocols.verdict import LOUD, Severity, Verdict
from dashboard.connections.accepted import LeftBehind, StoreItem, register
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.accepted import AcceptedCommits, ReadAccepted
from lake.delta.facts import Mechanism, TableFacts
from lake.delta.uri import TableUri
from lake.delta.wire import in_order

ORDINARY = frozenset({"C1", "C2", "C4", "C9", "K2", "K3", "K4", "K12"})
"""Codes of findings that say which commits wait, which were published, and which files lost."""
_IS_AHEAD = Q(accepted_version__gt=F("published_version")) | Q(published_version=None, accepted_version__gte=0)
AT_ONCE = 500
"""Rows that one query names."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is stored of tables of a bucket, by their keys: why no reading of one is believed, and which version was
    seen accepted, of those whose log did not show it."""

    doubts: Mapping[str, str]
    accepted: Mapping[str, int]


def read_accepted(connection: Connection, lake: Lake, bucket: str) -> ReadAccepted:
    """Reads tables as if for the first time: what was scanned before a log is listed does not count."""
    log_stores = tuple(
        LogStoreSurvey(store.name, error=unfit(store)) for store in stores_of(connection, CommitStore.Kind.LOG_STORE)
    )
    coordinators = tuple(
        CoordinatorSurvey(store.name, error=unfit(store))
        for store in stores_of(connection, CommitStore.Kind.COMMIT_COORDINATOR)
    )
    survey, stored = Survey(log_stores, coordinators), _stored(connection, bucket)
    misnamed = next((str(store.error) for store in survey.stores if store.error), None)

    def read(uri: TableUri) -> AcceptedCommits:
        doubt = misnamed or stored.doubts.get(uri.key)
        if doubt is not None:
            return AcceptedCommits(None, not_known=doubt or "Something is wrong with the table.")
        said = accepted_of(read_table(lake, survey, TableTarget(uri), in_full=True))
        if not said.not_known and said.newest < stored.accepted.get(uri.key, -1):
            return AcceptedCommits(said.published, not_known="An earlier look saw that a later version was accepted.")
        return said

    return read


def _stored(connection: Connection, bucket: str) -> _Stored:
    here = DeltaTable.objects.filter(bucket=bucket, gone_at=None, connection__in=_of_its_s3(connection))
    own, others = here.filter(connection=connection), here.exclude(connection=connection)
    loud = own.filter(state__in=LOUD).values_list("prefix", "summary")
    elsewhere = "Another connection holds the table too, whose commit stores are not asked."
    doubts = dict.fromkeys(others.values_list("prefix", flat=True), elsewhere)
    return _Stored(doubts | dict(loud), _seen_accepted(own))


def _seen_accepted(tables: QuerySet[DeltaTable]) -> dict[str, int]:
    """The newest version that was seen accepted, and is not known to be in the log, of each such table by its key."""
    waiting = tables.filter(_IS_AHEAD).values_list("prefix", "accepted_version")
    lost = TableFinding.objects.filter(table__in=tables, code="vanished", resolved_at=None)
    seen = chain(waiting, lost.values_list("table__prefix", "version"))
    return dict(sorted((key, version or 0) for key, version in seen))  # the newest of a table comes last


def accepted_of(reading: Reading) -> AcceptedCommits:
    """What a reading in full tells of accepted commits."""
    if reading.facts is None or reading.verdict is None:
        return AcceptedCommits(None, not_known=str(reading.error))
    facts, verdict = reading.facts, reading.verdict
    unpublished = _unpublished(facts, verdict)
    last = unpublished[-1][0] if unpublished else verdict.published_version
    why = _unsound(reading, facts, verdict)
    if not why and verdict.accepted_version != last:
        why = (
            f"What is accepted up to version {verdict.accepted_version:,} is not all there, or is of an earlier table."
        )
    if not why:
        why = "Its log shows no version." if last is None else _why_there_may_be_more(facts, last)
    return AcceptedCommits(verdict.published_version, () if why else unpublished, why)


def _unpublished(facts: TableFacts, verdict: Verdict) -> tuple[tuple[int, str], ...]:
    """Accepted versions after the newest published one whose files are there, up to the first that has none."""
    published, found = verdict.published_version, list[tuple[int, str]]()
    version = 0 if published is None else published + 1
    newest = facts.listing.commits.get(version - 1)
    while version in verdict.unpublished:
        entries = [one for one in verdict.entries if one.version == version and one.file_present]
        if not entries:
            break
        written_at = entries[0].written_at
        # A log store's writer looks at the version before it writes its temp file: an older one is another table's.
        if facts.mechanism is Mechanism.LOG_STORE and newest and not (written_at and written_at >= newest.modified_at):
            break
        found.append((version, entries[0].file))
        version += 1
    return tuple(found)


def _unsound(reading: Reading, facts: TableFacts, verdict: Verdict) -> str:
    """Why what was read does not tell all; "" where it does."""
    if reading.has_moved or verdict.withheld:
        return "It is being written."
    if facts.problems or facts.protocol is None:
        problem = next(iter(facts.problems), None)
        return f"{problem.place}: {problem.reason}" if problem else "Its metadata could not be read."
    loud = (one for one in verdict.findings if one.code not in ORDINARY and one.severity is not Severity.INFO)
    return next((one.summary for one in loud), "")


def _why_there_may_be_more(facts: TableFacts, last: int) -> str:
    """Why a store may have accepted a version after the last one that is known; "" where none has."""
    if facts.mechanism is Mechanism.COORDINATED_COMMITS:
        # Where it does not stand at that version, or cannot be read, a finding says so.
        return "" if current_registration(facts) else "The registration that the table names is not there."
    versions = [one.version for entries in facts.entries.values() for one in entries if one.version is not None]
    if facts.unread_stores or max(versions, default=-1) < last:
        # A writer of a log store leaves an entry of each version, which expires a day later.
        return f"No entry of version {last:,} was found, or a commit store could not be read."
    return ""


def ahead(connection: Connection, bucket: str) -> dict[str, int]:
    """What any connection to the same S3 saw accepted of tables whose logs did not show it."""
    return _seen_accepted(DeltaTable.objects.filter(bucket=bucket, connection__in=_of_its_s3(connection)))


def _of_its_s3(connection: Connection) -> list[int]:
    return [one.pk for one in Connection.objects.all() if one.s3 == connection.s3]


def left_at(connection: Connection, lake: Lake, uri: TableUri) -> LeftBehind:
    """The entries and the registrations of this path in any of its spellings."""
    paths, not_known = uri.table_paths(), list[str]()
    found: dict[str, list[StoreItem]] = {kind: [] for kind in CommitStore.Kind}
    for kind in CommitStore.Kind:
        for store in stores_of(connection, kind):
            try:
                if error := unfit(store):
                    raise error
                if kind == CommitStore.Kind.LOG_STORE:
                    pages = chain(*(lake.dynamodb.query(store.name, "tablePath", path) for path in paths))
                else:
                    pages = chain(lake.dynamodb.scan(store.name))
                items = (in_order(item) for page in pages for item in page)
                own = (item for item in items if item.get("tablePath", item.get("path", {})).get("S") in paths)
                found[kind] += [StoreItem(store.name, item) for item in own]
            except AwsError as error:
                not_known.append(f"What {store.name} has of this path is not known: {error}")
    # A scan gives items in no order, and a plan that rests on them has to be the same each time.
    registrations = sorted(found[CommitStore.Kind.COMMIT_COORDINATOR], key=lambda one: str(one.item.get("tableId")))
    return LeftBehind(tuple(found[CommitStore.Kind.LOG_STORE]), tuple(registrations), tuple(not_known))


def forget(uri: TableUri) -> None:
    """Give up each commit that was seen in the log or a store of the tables at a path."""
    with transaction.atomic():
        for table in DeltaTable.objects.select_for_update().filter(bucket=uri.bucket, prefix=uri.key):
            known = [provenance_of_row(row) for row in table.provenance.all()]
            for start in range(0, len(known), AT_ONCE):
                some = known[start : start + AT_ONCE]
                named = [(one.version, of.file_name or "") for one in some for of in one.acceptances]
                abandon_commits(table, [*named, *((one.version, "") for one in some)], timezone.now())


def forget_table(connection: Connection, uri: TableUri) -> None:
    """Give up the tables at a path of this S3, with all that is stored of them."""
    DeltaTable.objects.filter(bucket=uri.bucket, prefix=uri.key, connection__in=_of_its_s3(connection)).delete()


register(read_accepted, left_at, forget, ahead, forget_table)
