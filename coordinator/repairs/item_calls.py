"""Calls about items: each changes one item while it is as the plan saw it, and otherwise reads why it was refused.

The last one writes what Levee itself knows of a table, and nothing to the lake.

Tables are DynamoDB tables, times epoch seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, done, table_arn
from coordinator.protocols.deadlines import moment_in_words
from coordinator.protocols.wording import counted, duration, named_versions, short, thousands
from coordinator.repairs.object_calls import Item
from lake.aws.dynamodb import Item as WireItem
from lake.delta.wire import shown

PENDING = "#complete = :false AND #tempPath = :tempPath"
COMPLETE = "SET #complete = :true, #expireTime = :expireTime"

AS_READ = "#tableVersion = :tableVersion AND #path = :path AND #schemaVersion = :one"
CLEAR = "SET #commits = :empty"
RAISE = "SET #tableVersion = :to, #tableTimestamp = :timestamp"
UNREGISTERED = "attribute_not_exists(#tableId)"
# Not by its size, which is 0 of an empty text as well.
UNUSED = "#hasAcceptedCommits = :false AND #commits = :empty AND #path = :path AND #tableVersion = :tableVersion"
EMPTY: dict[str, object] = {"L": []}


@dataclass(frozen=True, slots=True)
class RequireNoEntry(LakeCall):
    """Read the entry of another lock of the same table; one that exists stops the repair."""

    operation: ClassVar[str] = "dynamodb:GetItem"
    table: str
    table_path: str
    file_name: str

    @property
    def says(self) -> str:
        return f"Reads the entry of {short(self.file_name)} under {self.table_path} in {self.table} once more."

    @property
    def condition(self) -> str:
        return "None exists; else nothing further is done."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        return (Permission("dynamodb:GetItem", table_arn(self.table)),)

    def send(self, sending: Sending) -> Answer:
        if sending.lake.dynamodb.get_item(self.table, entry_key(self.table_path, self.file_name)) is not None:
            raise Stop(f"{self.table} holds an entry of {short(self.file_name)} as well: nothing was written.")
        return done(f"{self.table} holds no entry of {short(self.file_name)} under {self.table_path}.")


@dataclass(frozen=True, slots=True)
class ItemCall(LakeCall):
    """A write of one item of `table`, and the read that tells why it was refused."""

    operation: ClassVar[str]
    table: str

    @property
    def permissions(self) -> tuple[Permission, ...]:
        arn = table_arn(self.table)
        return Permission(self.operation, arn), Permission("dynamodb:GetItem", arn)

    def _update(self, sending: Sending, key: WireItem, update: str, condition: str, values: WireItem) -> bool:
        dynamodb = sending.lake.dynamodb
        return sending.write(
            lambda: dynamodb.update_item(self.table, key, update=update, condition=condition, values=values)
        )

    def _delete(self, sending: Sending, key: WireItem, condition: str, values: WireItem) -> bool:
        return sending.write(
            lambda: sending.lake.dynamodb.delete_item(self.table, key, condition=condition, values=values)
        )


@dataclass(frozen=True, slots=True)
class EntryCall(ItemCall):
    """A write of an entry, if complete = "false" AND tempPath = `temp_path`."""

    table_path: str
    file_name: str
    temp_path: str

    @property
    def condition(self) -> str:
        return f'complete = "false" AND tempPath = "{self.temp_path}"'

    @property
    def _key(self) -> WireItem:
        return entry_key(self.table_path, self.file_name)

    @property
    def _pending(self) -> WireItem:
        return {":false": text("false"), ":tempPath": text(self.temp_path)}

    def _changed(self, item: WireItem) -> Stop:
        said = ", ".join(
            f"{name} {_shown(item, name)} where the plan has {shown(expected)}"
            for name, expected in (("tempPath", self.temp_path), ("complete", "false"))
            if item.get(name) != text(expected)
        )
        reason = said or "it changed twice meanwhile"
        return Stop(
            f"The entry of {short(self.file_name)} is another than the plan's ({reason}): it was left as it is."
        )


@dataclass(frozen=True, slots=True)
class CompleteEntry(EntryCall):
    """SET complete = "true", expireTime = now + `ttl_seconds`, if complete = "false" AND tempPath = `temp_path`.

    An entry of that tempPath that is complete already counts as completed.
    """

    operation: ClassVar[str] = "dynamodb:UpdateItem"
    ttl_seconds: int

    @property
    def says(self) -> str:
        return (
            f"Marks the entry of {short(self.file_name)} in {self.table} complete, only if it is still the one shown "
            f"here; it expires {duration(self.ttl_seconds)} later."
        )

    def send(self, sending: Sending) -> Answer:
        expires = int(sending.now()) + self.ttl_seconds
        values = self._pending | {":true": text("true"), ":expireTime": number(expires)}
        if self._update(sending, self._key, COMPLETE, PENDING, values):
            at = moment_in_words(datetime.fromtimestamp(expires, UTC))
            return done(f"The entry of {short(self.file_name)} is complete; it expires at {at}.")
        item = sending.lake.dynamodb.get_item(self.table, self._key)
        if item is None:
            raise Stop(f"The entry of {short(self.file_name)} has gone: it was not brought back.")
        if item.get("tempPath") == text(self.temp_path) and item.get("complete") == text("true"):
            return already(f"The entry of {short(self.file_name)} was completed meanwhile.")
        raise self._changed(item)


@dataclass(frozen=True, slots=True)
class DeleteEntry(EntryCall):
    """Delete an entry, if complete = "false" AND tempPath = `temp_path`; an absent one counts as deleted."""

    operation: ClassVar[str] = "dynamodb:DeleteItem"

    @property
    def says(self) -> str:
        return (
            f"Deletes the entry of {short(self.file_name)} from {self.table}, only if it is still the one shown here."
        )

    def send(self, sending: Sending) -> Answer:
        if self._delete(sending, self._key, PENDING, self._pending):
            return done(f"The entry of {short(self.file_name)} was deleted.")
        item = sending.lake.dynamodb.get_item(self.table, self._key)
        if item is None:
            return already(f"The entry of {short(self.file_name)} had gone already.")
        raise self._changed(item)


@dataclass(frozen=True, slots=True)
class RegistrationCall(ItemCall):
    """A write of a registration whose path is `path`."""

    table_id: str
    path: str

    @property
    def _key(self) -> WireItem:
        return registration_key(self.table_id)

    def _as_read(self, version: int) -> str:
        return f'tableVersion = {version} AND path = "{self.path}" AND schemaVersion = 1'

    def _values_as_read(self, version: int) -> WireItem:
        return {":tableVersion": number(version), ":path": text(self.path), ":one": number(1)}


@dataclass(frozen=True, slots=True)
class ClearCommits(RegistrationCall):
    """SET commits = [], if tableVersion, path and schemaVersion = 1 are as read and commits = `commits` as read.

    A list that is empty already counts as cleared; any other refusal means that a writer moved on: nothing is done.
    """

    operation: ClassVar[str] = "dynamodb:UpdateItem"
    table_version: int
    commits: Mapping[str, Any]

    @property
    def says(self) -> str:
        count = len(self.commits.get("L", ()))
        return (
            f"Clears {counted(count, 'entry', 'entries')} from the coordinator's list in {self.table}, only if no "
            "writer has moved on."
        )

    @property
    def condition(self) -> str:
        return f"{self._as_read(self.table_version)} AND commits = the list shown here"

    def send(self, sending: Sending) -> Answer:
        values = self._values_as_read(self.table_version) | {":commits": dict(self.commits), ":empty": EMPTY}
        if self._update(sending, self._key, CLEAR, f"{AS_READ} AND #commits = :commits", values):
            return done(f"The list of accepted commits up to version {self.table_version} was cleared.")
        item = _registration(self.table, self.table_id, sending)
        if item.get("commits") == EMPTY:
            return already("The list of accepted commits was cleared meanwhile.")
        raise _registration_changed(self.table_id, item, f"the version was {self.table_version}")


@dataclass(frozen=True, slots=True)
class RaiseVersion(RegistrationCall):
    """SET tableVersion and tableTimestamp, if tableVersion = `from_version` AND path = `path` AND schemaVersion = 1."""

    operation: ClassVar[str] = "dynamodb:UpdateItem"
    from_version: int
    to_version: int
    to_timestamp: int

    @property
    def says(self) -> str:
        return (
            f"Raises tableVersion in {self.table} from {thousands(self.from_version)} to {thousands(self.to_version)} "
            f"and tableTimestamp to {self.to_timestamp}."
        )

    @property
    def condition(self) -> str:
        return self._as_read(self.from_version)

    def send(self, sending: Sending) -> Answer:
        if self.to_version <= self.from_version:
            raise Stop(f"{self.to_version} is not above {self.from_version}: a coordinator's version is never lowered.")
        goal = {"tableVersion": number(self.to_version), "tableTimestamp": number(self.to_timestamp)}
        values = self._values_as_read(self.from_version)
        values |= {":to": goal["tableVersion"], ":timestamp": goal["tableTimestamp"]}
        if self._update(sending, self._key, RAISE, AS_READ, values):
            return done(f"The coordinator's version was raised from {self.from_version} to {self.to_version}.")
        item = _registration(self.table, self.table_id, sending)
        if goal.items() <= item.items() and item.get("path") == text(self.path):
            return already(f"The coordinator's version is {self.to_version} already.")
        raise _registration_changed(self.table_id, item, f"the version was {self.from_version}")


@dataclass(frozen=True, slots=True)
class Register(ItemCall):
    """Put a registration, if none of its tableId exists; an equal one counts as put."""

    operation: ClassVar[str] = "dynamodb:PutItem"
    item: Item

    @property
    def says(self) -> str:
        version = self.item.get("tableVersion", {}).get("N", "")
        path = self.item.get("path", {}).get("S", "")
        return f"Puts registration {self._table_id} into {self.table} at version {version}, with the path {path}."

    @property
    def condition(self) -> str:
        return "attribute_not_exists(tableId)"

    @property
    def _table_id(self) -> str:
        return str(self.item.get("tableId", {}).get("S", ""))

    def send(self, sending: Sending) -> Answer:
        wanted = {name: dict(value) for name, value in self.item.items()}
        if sending.write(lambda: sending.lake.dynamodb.put_item(self.table, wanted, condition=UNREGISTERED)):
            return done(f"The registration {self._table_id} was put.")
        item = _registration(self.table, self._table_id, sending)
        if item == wanted:
            return already(f"The registration {self._table_id} was there already, and equal.")
        raise _registration_changed(self._table_id, item, "there was none")


@dataclass(frozen=True, slots=True)
class DeleteRegistration(RegistrationCall):
    """Delete a registration, if hasAcceptedCommits = false AND commits = [] AND path and tableVersion are as read."""

    operation: ClassVar[str] = "dynamodb:DeleteItem"
    table_version: int

    @property
    def says(self) -> str:
        return f"Deletes registration {self.table_id} from {self.table}."

    @property
    def condition(self) -> str:
        return (
            f'hasAcceptedCommits = false AND commits = [] AND path = "{self.path}" AND tableVersion = '
            f"{self.table_version}"
        )

    def send(self, sending: Sending) -> Answer:
        values: WireItem = {":false": {"BOOL": False}, ":empty": EMPTY, ":path": text(self.path)}
        values |= {":tableVersion": number(self.table_version)}
        if self._delete(sending, self._key, UNUSED, values):
            return done(f"The registration {self.table_id} was deleted.")
        item = sending.lake.dynamodb.get_item(self.table, self._key)
        if item is None:
            return already(f"The registration {self.table_id} had gone already.")
        raise _registration_changed(self.table_id, item, "it had accepted no commit")


@dataclass(frozen=True, slots=True)
class Abandon(LakeCall):
    """Give up what was accepted as these versions with these files, so that its loss is no finding later.

    It follows the call that makes the loss. An item of theirs that a later look finds counts again.
    """

    operation: ClassVar[str] = "Levee's own records"
    uri: str
    commits: tuple[tuple[int, str], ...]

    @property
    def says(self) -> str:
        versions = sorted({version for version, _ in self.commits})
        named = named_versions(versions)
        return f"Gives up {named} as Levee saw it accepted: Levee no longer reports its loss."

    def send(self, sending: Sending) -> Answer:
        answer = sending.own_records().abandon(self.uri, self.commits)
        sending.took("")
        return answer


def entry_key(table_path: str, file_name: str) -> WireItem:
    return {"tablePath": text(table_path), "fileName": text(file_name)}


def registration_key(table_id: str) -> WireItem:
    return {"tableId": text(table_id)}


def text(value: str) -> dict[str, object]:
    return {"S": value}


def number(value: int) -> dict[str, object]:
    return {"N": str(value)}


def _registration(table: str, table_id: str, sending: Sending) -> WireItem:
    item = sending.lake.dynamodb.get_item(table, registration_key(table_id))
    if item is None:
        raise Stop(f"The registration {table_id} is not there: nothing was written.")
    return item


def _registration_changed(table_id: str, item: WireItem, planned: str) -> Stop:
    facts = ", ".join(
        f"{name} {_shown(item, name)}" for name in ("tableVersion", "path", "hasAcceptedCommits", "schemaVersion")
    )
    return Stop(
        f"A writer moved on: the registration {table_id} is not as the plan saw it, when {planned} (now {facts}); "
        f"it was left as it is."
    )


def _shown(item: WireItem, name: str) -> str:
    value = item.get(name)
    if value is None:
        return "absent"
    return ", ".join(f"{kind} {shown(content)}" for kind, content in value.items())
