"""A table as planning sees it: its facts, its keys on S3, and what keeps a repair from being made."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from functools import cached_property

from coordinator.protocols.absence import being_checked
from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.lock_domains import domains_in_use
from coordinator.protocols.log_store_entries import SeenEntry, seen_entries
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_version, same_place
from coordinator.protocols.published_log import WHOLE_FACTS
from coordinator.protocols.registrations import accepting_registrations, is_split
from coordinator.protocols.survivors import Said, Witnesses
from coordinator.protocols.wording import joined, thousands
from coordinator.repairs.facts import FileCheck, RepairFacts
from coordinator.repairs.object_calls import Item
from coordinator.repairs.rescue import CopiedFrom, rescue_folder
from lake.delta.facts import LockDomain, LogObject, Mechanism, Registration
from lake.delta.names import MAX_VERSION, checksum_name, commit_name
from lake.delta.uri import TableUri

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class TableUnderRepair:
    """The facts of one table with the questions that all plans ask. A reason is a sentence; "" means none."""

    given: RepairFacts

    @cached_property
    def view(self) -> LogView:
        return LogView(self.given.facts)

    @cached_property
    def place(self) -> TableUri:
        """Where the table is. Raises ValueError for facts whose URI names no place on S3."""
        return TableUri.parse(self.given.facts.uri)

    @cached_property
    def entries(self) -> tuple[SeenEntry, ...]:
        """Log store entries of this table, of every lock domain."""
        return tuple(seen_entries(self.view))

    @cached_property
    def registrations(self) -> tuple[Registration, ...]:
        """Registrations whose path is this table; those of other paths are never touched."""
        return tuple(one for one in self.given.facts.registrations if same_place(one.path, self.given.facts.uri))

    @cached_property
    def lock_domains(self) -> tuple[LockDomain, ...]:
        """Every lock domain that the table has, or had since it is known, sorted."""
        return tuple(sorted({*domains_in_use(self.view), *self.given.lock_domains}))

    def raw(self, registration: Registration) -> Item | None:
        """The item of a registration as read; None where it was not read, or says something else by now."""
        return self.given.raw_registrations.get((registration.store, registration.table_id))

    def entries_of(self, version: int) -> tuple[SeenEntry, ...]:
        return tuple(self._entries_by_version.get(version, ()))

    @cached_property
    def _entries_by_version(self) -> Mapping[int, list[SeenEntry]]:
        found: dict[int, list[SeenEntry]] = {}
        for one in self.entries:
            found.setdefault(one.version, []).append(one)
        return found

    @cached_property
    def newest_trace(self) -> int:
        """The newest version of which anything is left: a lost commit may leave its checksum or its checkpoint."""
        log = self.given.facts.listing
        ends = [int(file.name[21:41]) for file in log.compacted if file.name[21:41].isdecimal()]
        entries = [one.version for one in self.entries]
        return max((self.view.base, *log.checkpoints, *log.checksums, *ends, *entries))

    def key(self, name: str) -> str:
        """The S3 key of a name relative to `_delta_log/`."""
        return self.place.log_key + name

    def published_key(self, version: int) -> str:
        return self.key(commit_name(version))

    def rescue_folder(self, repair: str, version: int | None) -> str:
        """The key prefix, slash included, under which a repair keeps copies."""
        return rescue_folder(self.place, repair, version, self.given.facts.observed_at)

    @property
    def copied_from(self) -> CopiedFrom:
        """Where what a repair saves aside is from."""
        protocol = self.given.facts.protocol
        return CopiedFrom(self.given.facts.region, self.given.account, protocol.table_id if protocol else "")

    @property
    def rests_on(self) -> tuple[str, ...]:
        """What the digest of each plan of this table holds: a connection may be edited after the plan was shown."""
        return astuple(self.copied_from)

    def check(self, name: str) -> FileCheck | None:
        """What reading a whole file said; None where it is absent or was not asked for."""
        return self.given.files.get(name)

    def said(self, name: str) -> Said | None:
        """What a whole file says of the transaction that wrote it; None where it was not read or is no whole one."""
        check = self.check(name)
        return Said(check.transaction, check.in_commit_timestamp) if check and not check.problems else None

    def written_at(self, file: LogObject) -> datetime:
        """When a commit was written by its own word; long ago where it does not say."""
        check = self.check(file.name)
        return moment_of(check.timestamp if check and not check.problems else None)

    def witnesses(self, version: int, registration: Registration | None) -> Witnesses:
        """What tells, besides the published file, which commit of a version was accepted."""
        seen = self.given.facts.provenance.get(version)
        return Witnesses(version, self.said(checksum_name(version)), registration, seen)

    def why_nothing(self) -> str:
        """Why no repair of this table may be planned from these facts."""
        facts = self.given.facts
        if checking := being_checked(self.given.verdict):
            return f"{checking} Nothing is planned before that is over."
        unread = next((p for p in facts.problems if p.place.partition(" ")[0] in WHOLE_FACTS), None)
        if unread:
            return f"{unread.place} could not be read, so nothing is planned: {unread.reason.rstrip('.')}."
        if facts.unread_stores:
            unread = facts.unread_stores[0]
            return (
                f"{unread.place} could not be read, and items of this table may lie there: {unread.reason.rstrip('.')}."
            )
        if facts.mechanism is Mechanism.CATALOG_MANAGED:
            return "A catalog accepts this table's commits, and only that catalog may publish them."
        if is_split(facts):
            stores = joined(sorted({one.store for one in accepting_registrations(facts)}))
            return f"Registrations in {stores} accept commits of this table; find out first which of them counts."
        if facts.listing.temp_files is None or facts.listing.staged is None:
            return "The folders of _delta_log/ were not listed; look at the whole table again."
        return ""

    def why_not_alone(self) -> str:
        """Why nothing that the log store holds may be touched: another one, out of reach, has entries of the table."""
        if not self.given.facts.elsewhere:
            return ""
        named = joined([f"{one.domain.store} in {one.region}" for one in self.given.facts.elsewhere])
        return f"Entries of this table lie in {named} as well, where this connection does not look."

    def why_not_copy(self, name: str) -> str:
        """Why a temp or staged file may not be published, whatever its version."""
        if name not in self.given.files:
            return f"{name} was not read in full; look at the table again."
        check = self.given.files[name]
        if check is None:
            return f"{name} is gone. Bring it back from versioning or a backup."
        if check.problems:
            return f"{name} is no whole commit: {check.problems[0].rstrip('.')}."
        listed = self.view.temp(name).object or self.view.staged(name.rpartition("/")[2]).object
        if listed and listed.name == name and listed.size != check.size:
            return f"{name} changed while it was read; look at the table again."
        return ""

    def why_not_here(self, name: str, version: int, after: str = "") -> str:
        """Why a file cannot follow the published version below it, or be followed by the one above it.

        `after` is the file that the same plan publishes as the version below, "" for none.
        """
        if version and not after and not self.view.file(version - 1).present:
            return f"Version {thousands(version - 1)} is not published, and {thousands(version)} would leave a gap."
        return self.why_not_between(name, version, after)

    def why_not_first(self) -> str:
        """Why a first commit does not belong into this log any more."""
        log = self.given.facts.listing
        if self.view.published or log.checkpoints or log.checksums or log.compacted or log.last_checkpoint:
            return "The log is not empty; a first commit does not belong there any more."
        return ""

    def why_not_between(self, name: str, version: int, after: str = "") -> str:
        """Why its time contradicts its neighbours': in-commit timestamps rise strictly (PROTOCOL.md)."""
        own, following = self._time(name), self._time_of(version + 1)
        before = self._time(after) if after else self._time_of(version - 1)
        if own is not None and before is not None and own <= before:
            return f"The in-commit timestamp of {name} is not above that of version {thousands(version - 1)}."
        if own is not None and following is not None and own >= following:
            return f"The in-commit timestamp of {name} is not below that of version {thousands(version + 1)}."
        return ""

    def _time_of(self, version: int) -> int | None:
        return self._time(commit_name(version)) if is_version(version) else None

    def _time(self, name: str) -> int | None:
        check = self.check(name)
        return check.in_commit_timestamp if check else None

    def newest_contiguous(self) -> int | None:
        """The newest version to which the published log leads without a gap; None where it does not begin."""
        published, checkpoint = self.view.published, self.view.checkpoint
        oldest = self.view.oldest
        if oldest is None or (oldest > 0 and (checkpoint is None or checkpoint < oldest - 1)):
            return None
        version = oldest if checkpoint is None or checkpoint < oldest else checkpoint
        if version not in published:
            return None
        while version + 1 in published:
            version += 1
        return version


def moment_of(milliseconds: int | None) -> datetime:
    """A time of a commit; the beginning of all time where there is none that can be one."""
    return _BEGINNING if milliseconds is None else read_moment(milliseconds / 1_000) or _BEGINNING


def first_reason(reasons: Iterable[str]) -> str:
    """The first reason there is; "" where none holds."""
    return next((reason for reason in reasons if reason), "")


def checksum_of(table: TableUnderRepair, version: int) -> Iterator[str]:
    """The checksum file of a version, which tells whether a file belongs where it lies."""
    found = table.view.facts.listing.checksums.get(version)
    if found is not None:
        yield found.name


def neighbours(table: TableUnderRepair, version: int) -> Iterator[str]:
    """The published files below and above a version."""
    for neighbour in (version - 1, version + 1):
        if 0 <= neighbour <= MAX_VERSION and table.view.file(neighbour).present:
            yield commit_name(neighbour)
