"""Whether a copy may be put back, by what was read: a plan for a file, a command for an item, or why not. Pure.

Levee itself writes no item. An entry takes its version again and a registration gives versions away again, which is
right only after an incident that a person has understood; the answer says what the command changes, and what was not
looked at.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from changes.plan import NOTHING_TO_DO, ChangePlan, Refusal
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.names import is_version
from coordinator.protocols.provenance import given_up_as
from coordinator.protocols.registrations import accepting_registrations
from coordinator.protocols.wording import joined, thousands
from coordinator.repairs.facts import FileCheck
from coordinator.repairs.object_calls import Publish
from coordinator.repairs.registration_plans import SCHEMA_VERSION
from coordinator.repairs.rescue import CopiedFrom
from coordinator.repairs.seen_before import why_contradicted
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason
from coordinator.rescue.copies import CopyKind, SavedCopy, SavedItem
from lake.delta.facts import LogStoreEntry, Mechanism, Registration
from lake.delta.wire import shown

KIND = "restore-copy"
"""The name of the change, in plans, digests and documents."""
UNREADABLE = "unreadable"
BY_HAND = "by-hand"
"""Why an item has no plan: a person puts it back."""
MOST_COMMAND_BYTES = 100_000
"""A longer item is no argument: Linux hands a program at most 128 KiB in one."""
INERT = "No item names it, so no reader and no writer sees a difference. What it was removed for may be found again."


def unreadable(uri: str, reason: str) -> Refusal:
    """The refusal of what is no copy of the table at all."""
    return Refusal(KIND, uri, reason, UNREADABLE, "Put a copy back")


@dataclass(frozen=True, slots=True)
class Restoring:
    """A copy, the table as it was just read for it, and where the copy is from by its own word."""

    table: TableUnderRepair
    copy: SavedCopy
    copied_from: CopiedFrom

    @property
    def title(self) -> str:
        of = "" if self.copy.version is None else f" of {thousands(self.copy.version)}"
        return f"Put the {self.copy.kind.label}{of} back"

    def refuse(self, reason: str, why: str = "", command: str = "") -> Refusal:
        uri = self.table.given.facts.uri
        return Refusal(KIND, uri, reason, why, self.title, version=self.copy.version, command=command)

    def why_another_table(self) -> str:
        """Why the copy is of a table that was dropped, and this one made in its place."""
        saved, now = self.copied_from.metadata_id, self.table.copied_from.metadata_id
        if saved and now and saved != now:
            return (
                f"The copy is of the table with metaData.id {shown(saved)}; the one that is here now has {shown(now)}."
            )
        first = self.table.given.facts.listing.commits.get(0)
        if not saved and first is not None and first.modified_at > self.copy.saved_at:
            return "…0.json was written after the copy was saved, and the copy does not say of which table it is."
        return ""

    @property
    def doubt(self) -> str:
        """What cannot be ruled out where one of the two ids is not known, as part of a sentence; "" where both are."""
        saved = self.copied_from.metadata_id
        if saved and saved == self.table.copied_from.metadata_id:
            return ""
        missing = "the metaData.id of this table was not read" if saved else "it holds no metaData.id"
        return f"the copy may be of a table that was here before, since {missing}"


# Files


def plan_file(given: Restoring, file: FileCheck, *, is_equal: bool | None) -> ChangePlan | Refusal:
    """The plan that puts a file back; `is_equal` says whether what its key holds now is the same, None for nothing."""
    copy, table = given.copy, given.table
    if is_equal:
        return given.refuse(f"{copy.name} is there already, and its bytes equal those of the copy.", NOTHING_TO_DO)
    namers = tuple(_namers(table, copy))
    if reason := first_reason(_why_no_file(given, file, namers, is_there=is_equal is not None)):
        return given.refuse(reason)
    danger, consequence = given.doubt and f"what lies in the log of this table: {given.doubt}", INERT
    if namers:
        version = thousands(copy.version or 0)
        danger = f"what readers see of version {version}: {joined(namers)} names this file, or may"
        danger = "; ".join(part for part in (danger, given.doubt) if part)
        consequence = f"Whoever reads or writes the table next may publish its bytes as version {version}."
    return ChangePlan(
        KIND,
        table.given.facts.uri,
        given.title,
        (Publish(copy.place.bucket, copy.key, copy.goal, file.etag, file.size),),
        (consequence, "The copy itself stays where it is."),
        version=copy.version,
        danger=danger,
        can_lose=bool(danger),
        rests_on=table.rests_on,
    )


def _why_no_file(given: Restoring, file: FileCheck, namers: tuple[str, ...], *, is_there: bool) -> Iterator[str]:
    copy, table = given.copy, given.table
    if is_there:
        yield f"{copy.name} exists with other bytes than the copy has, and nothing is ever overwritten."
    yield table.why_nothing()
    yield given.why_another_table()
    if copy.kind is CopyKind.TEMP_FILE:
        yield table.why_not_alone()
    if namers and copy.version is not None and is_version(copy.version):
        yield from _why_not_as_commit(table, file, copy.version)


def _why_not_as_commit(table: TableUnderRepair, file: FileCheck, version: int) -> Iterator[str]:
    """What is accepted is published by whoever comes next: then it has to be that commit, as far as anything tells."""
    yield table.why_not_copy(file.name)
    seen = table.given.facts.provenance.get(version)
    yield why_contradicted(given_up_as(seen, file.name) if seen else None, file, version)
    yield table.why_not_between(file.name, version)
    for commit in (commit for one in table.given.facts.registrations for commit in one.commits):
        if commit.file_name == file.name.rpartition("/")[2] and commit.size not in (None, file.size):
            yield f"The coordinator accepted {commit.size:,} B under this name, and the copy has {file.size:,} B."


def _namers(table: TableUnderRepair, copy: SavedCopy) -> Iterator[str]:
    """The items that name the file, or may, as a sentence names them."""
    if copy.kind is CopyKind.STAGED_FILE:
        file_name = copy.name.rpartition("/")[2]
        for one in table.given.facts.registrations:
            if one.problems or any(commit.file_name == file_name for commit in one.commits):
                yield f"registration {one.table_id}"
        return
    for entry in (entry for held in table.given.facts.entries.values() for entry in held):
        if entry.temp_path == copy.name or (entry.version == copy.version and entry.problems):
            yield f"the entry {entry.file_name} of {entry.table_path}"
    if not table.lock_domains:
        yield "an entry of a log store that is not known here"


# Items


def by_hand(given: Restoring, saved: SavedItem, found: Mapping[str, Any] | None, endpoint: str) -> Refusal:
    """The command for a saved item with what it changes, or why there is none; `found` is under its key now."""
    if found == saved.item:
        return given.refuse(f"The {given.copy.kind.label} is there already, and equal.", NOTHING_TO_DO)
    if reason := first_reason(_why_no_item(given, saved, is_there=found is not None)):
        return given.refuse(reason)
    command = _command(given, saved, endpoint)
    if len(command.encode()) > MOST_COMMAND_BYTES:
        return given.refuse(f"The {given.copy.kind.label} is too large for a command line: put it back with an SDK.")
    changes = _changes_by_entry(given, saved.entry) if saved.entry else _changes_by_registration(saved)
    beware = f" Beware: {given.doubt}." if given.doubt else ""
    told = f"Stop the writers of this table first. {changes[0]}{beware} {changes[1]}"
    return given.refuse(told, BY_HAND, command)


def _command(given: Restoring, saved: SavedItem, endpoint: str) -> str:
    """One put-item of the AWS CLI for a POSIX shell, on the condition that nothing is under the item's key."""
    words = ["aws", "dynamodb", "put-item", "--region", given.table.copied_from.region]
    words += ["--endpoint-url", endpoint] if endpoint else []
    words += ["--table-name", saved.store, "--item", json.dumps(saved.item, ensure_ascii=False)]
    return shlex.join([*words, "--condition-expression", f"attribute_not_exists({saved.key_names[0]})"])


def _why_no_item(given: Restoring, saved: SavedItem, *, is_there: bool) -> Iterator[str]:
    copied, now = given.copied_from, given.table.copied_from
    if is_there:
        yield f"The {given.copy.kind.label} exists and says something else than its copy, and nothing is overwritten."
    if copied.region != now.region:
        yield f"The copy is from {saved.store} in {shown(copied.region)}, and this connection reads {now.region}."
    if copied.account and now.account and copied.account != now.account:
        yield (
            f"The copy is from {saved.store} in account {shown(copied.account)}, and the role of this connection is in "
            f"{now.account}."
        )
    yield given.table.why_nothing()
    yield given.why_another_table()
    if saved.entry is not None:
        yield from _why_no_entry(given.table, saved.entry)
    elif saved.registration is not None:
        yield from _why_no_registration(given.table, saved.registration)


def _why_no_entry(table: TableUnderRepair, entry: LogStoreEntry) -> Iterator[str]:
    version = entry.version or 0
    yield table.why_not_alone()
    if entry.complete is not False:
        yield "The entry is complete, so its commit file is what counts; readers would not look at it."
    if table.registrations or table.given.facts.mechanism is Mechanism.COORDINATED_COMMITS:
        yield "A commit coordinator gives the versions of this table away now."
    own = table.given.facts.provenance.get(version)
    if table.newest_trace >= version or _went_on(table, version) or (own is not None and own.size is not None):
        yield (
            f"The log went on without this entry: version {thousands(version)}, or a later one, is there or was seen."
        )
    if table.view.base != version - 1:
        below = thousands(max(0, version - 1))
        yield f"The published log does not end at {below}: bring the files in between back first."


def _why_no_registration(table: TableUnderRepair, registration: Registration) -> Iterator[str]:
    version = registration.table_version or 0
    if registration.store != table.given.coordinator:
        yield "The table's properties do not name the DynamoDB table that the registration is from."
    if registration_id(table.given.facts.protocol) != registration.table_id:
        yield f"The newest metadata does not name registration {registration.table_id}."
    if others := accepting_registrations(table.given.facts):
        yield f"Registration {others[0].table_id} in {others[0].store} accepts commits of this table."
    if registration.schema_version != SCHEMA_VERSION:
        yield f"schemaVersion is {registration.schema_version}, and only {SCHEMA_VERSION} is known."
    if _went_on(table, version):
        yield (
            f"The log went on without this registration, which knows no version after {thousands(version)}: “Register "
            "again” makes one that does."
        )


def _went_on(table: TableUnderRepair, version: int) -> bool:
    """Whether the log shows a trace of a later version, or one was ever seen or accepted."""
    seen = table.given.facts.provenance.values()
    return table.newest_trace > version or any(one.is_known and one.version > version for one in seen)


def _changes_by_entry(given: Restoring, entry: LogStoreEntry) -> tuple[str, str]:
    """What the command changes, and what was not looked at."""
    version, temp = thousands(entry.version or 0), given.table.view.temp(entry.temp_path or "")
    then = (
        f"Whoever reads or writes next publishes {temp.name} as that version."
        if temp.present
        else f"Every read and write of the table fails from then on until {temp.name} is brought back."
    )
    return (
        f"Version {version} is taken again: its writer may have written the same rows once more since. {then}",
        f"Whether {entry.temp_path} is the commit that was accepted was not looked at.",
    )


def _changes_by_registration(saved: SavedItem) -> tuple[str, str]:
    return (
        f"Writers continue with version {thousands((saved.version or 0) + 1)}; every commit from it on that the lost "
        "registration had accepted after it was saved is forgotten.",
        "Whether every version that it accepted is published, or staged as it lists it, was not looked at.",
    )
