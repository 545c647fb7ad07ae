"""Calls about items: each changes one item while it is as the plan saw it, and otherwise reads why it was refused."""

from typing import Any

from coordinator.repairs.calls import (
    ClearCommits,
    CompleteEntry,
    DeleteEntry,
    DeleteRegistration,
    RaiseVersion,
    Register,
    RequireNoEntry,
)
from coordinator.repairs.lake_port import Item
from coordinator.repairs.outcome import Answer, Sending, Stop, already, done, label
from lake.delta.wire import shown

PENDING = "#complete = :false AND #tempPath = :tempPath"
PENDING_NAMES = {"#complete": "complete", "#tempPath": "tempPath"}
COMPLETE = "SET #complete = :true, #expireTime = :expireTime"

AS_READ = "#tableVersion = :tableVersion AND #path = :path AND #schemaVersion = :one"
AS_READ_NAMES = {"#tableVersion": "tableVersion", "#path": "path", "#schemaVersion": "schemaVersion"}
CLEAR = "SET #commits = :empty"
RAISE = "SET #tableVersion = :to, #tableTimestamp = :timestamp"
UNREGISTERED = "attribute_not_exists(#tableId)"
# Not by its size, which is 0 of an empty text as well.
UNUSED = "#hasAcceptedCommits = :false AND #commits = :empty AND #path = :path AND #tableVersion = :tableVersion"
UNUSED_NAMES = {name: name.removeprefix("#") for name in ("#hasAcceptedCommits", "#commits", "#path", "#tableVersion")}
EMPTY: dict[str, Any] = {"L": []}


def require_no_entry(call: RequireNoEntry, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    if sending.lake.get_item(call.table, entry_key(call.table_path, call.file_name)) is not None:
        raise Stop(f"{call.table} holds an entry of {label(call.file_name)} as well: nothing was written.")
    return done(f"{call.table} holds no entry of {label(call.file_name)} under {call.table_path}.")


def complete_entry(call: CompleteEntry, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    key = entry_key(call.table_path, call.file_name)
    expires = int(sending.now()) + call.ttl_seconds
    values = _pending_values(call.temp_path) | {":true": text("true"), ":expireTime": number(expires)}
    names = PENDING_NAMES | {"#expireTime": "expireTime"}
    if sending.write(
        lambda: sending.lake.update_item(
            call.table, key, update=COMPLETE, condition=PENDING, names=names, values=values
        )
    ):
        return done(f"The entry of {label(call.file_name)} is complete; it expires at {expires} (epoch seconds).")
    item = sending.lake.get_item(call.table, key)
    if item is None:
        raise Stop(f"The entry of {label(call.file_name)} has gone: it was not brought back.")
    if item.get("tempPath") == text(call.temp_path) and item.get("complete") == text("true"):
        return already(f"The entry of {label(call.file_name)} was completed meanwhile.")
    raise _entry_changed(call.file_name, item, call.temp_path)


def delete_entry(call: DeleteEntry, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    key = entry_key(call.table_path, call.file_name)
    values = _pending_values(call.temp_path)
    if sending.write(
        lambda: sending.lake.delete_item(call.table, key, condition=PENDING, names=PENDING_NAMES, values=values)
    ):
        return done(f"The entry of {label(call.file_name)} was deleted.")
    item = sending.lake.get_item(call.table, key)
    if item is None:
        return already(f"The entry of {label(call.file_name)} had gone already.")
    raise _entry_changed(call.file_name, item, call.temp_path)


def clear_commits(call: ClearCommits, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    values = _as_read_values(call.table_version, call.path) | {":commits": dict(call.commits), ":empty": EMPTY}
    if sending.write(
        lambda: sending.lake.update_item(
            call.table,
            registration_key(call.table_id),
            update=CLEAR,
            condition=f"{AS_READ} AND #commits = :commits",
            names=AS_READ_NAMES | {"#commits": "commits"},
            values=values,
        )
    ):
        return done(f"The list of accepted commits up to version {call.table_version} was cleared.")
    item = _registration(call.table, call.table_id, sending)
    if item.get("commits") == EMPTY:
        return already("The list of accepted commits was cleared meanwhile.")
    raise _registration_changed(call.table_id, item, f"the version was {call.table_version}")


def raise_version(call: RaiseVersion, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    if call.to_version <= call.from_version:
        raise Stop(f"{call.to_version} is not above {call.from_version}: a coordinator's version is never lowered.")
    goal = {"tableVersion": number(call.to_version), "tableTimestamp": number(call.to_timestamp)}
    values = _as_read_values(call.from_version, call.path)
    values |= {":to": goal["tableVersion"], ":timestamp": goal["tableTimestamp"]}
    if sending.write(
        lambda: sending.lake.update_item(
            call.table,
            registration_key(call.table_id),
            update=RAISE,
            condition=AS_READ,
            names=AS_READ_NAMES | {"#tableTimestamp": "tableTimestamp"},
            values=values,
        )
    ):
        return done(f"The coordinator's version was raised from {call.from_version} to {call.to_version}.")
    item = _registration(call.table, call.table_id, sending)
    if goal.items() <= item.items() and item.get("path") == text(call.path):
        return already(f"The coordinator's version is {call.to_version} already.")
    raise _registration_changed(call.table_id, item, f"the version was {call.from_version}")


def register(call: Register, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    wanted = {name: dict(value) for name, value in call.item.items()}
    table_id = str(wanted.get("tableId", {}).get("S", ""))
    if sending.write(
        lambda: sending.lake.put_item(call.table, wanted, condition=UNREGISTERED, names={"#tableId": "tableId"})
    ):
        return done(f"The registration {table_id} was put.")
    item = _registration(call.table, table_id, sending)
    if item == wanted:
        return already(f"The registration {table_id} was there already, and equal.")
    raise _registration_changed(table_id, item, "there was none")


def delete_registration(call: DeleteRegistration, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    key = registration_key(call.table_id)
    values: Item = {":false": {"BOOL": False}, ":empty": EMPTY, ":path": text(call.path)}
    values |= {":tableVersion": number(call.table_version)}
    if sending.write(
        lambda: sending.lake.delete_item(call.table, key, condition=UNUSED, names=UNUSED_NAMES, values=values)
    ):
        return done(f"The registration {call.table_id} was deleted.")
    item = sending.lake.get_item(call.table, key)
    if item is None:
        return already(f"The registration {call.table_id} had gone already.")
    raise _registration_changed(call.table_id, item, "it had accepted no commit")


def entry_key(table_path: str, file_name: str) -> Item:
    return {"tablePath": text(table_path), "fileName": text(file_name)}


def registration_key(table_id: str) -> Item:
    return {"tableId": text(table_id)}


def text(value: str) -> dict[str, Any]:
    return {"S": value}


def number(value: int) -> dict[str, Any]:
    return {"N": str(value)}


def _pending_values(temp_path: str) -> Item:
    return {":false": text("false"), ":tempPath": text(temp_path)}


def _as_read_values(table_version: int, path: str) -> Item:
    return {":tableVersion": number(table_version), ":path": text(path), ":one": number(1)}


def _registration(table: str, table_id: str, sending: Sending) -> Item:
    item = sending.lake.get_item(table, registration_key(table_id))
    if item is None:
        raise Stop(f"The registration {table_id} is not there: nothing was written.")
    return item


def _entry_changed(file_name: str, item: Item, temp_path: str) -> Stop:
    said = ", ".join(
        f"{name} {_shown(item, name)} where the plan has {shown(expected)}"
        for name, expected in (("tempPath", temp_path), ("complete", "false"))
        if item.get(name) != text(expected)
    )
    reason = said or "it changed twice meanwhile"
    return Stop(f"The entry of {label(file_name)} is another than the plan's ({reason}): it was left as it is.")


def _registration_changed(table_id: str, item: Item, planned: str) -> Stop:
    facts = ", ".join(
        f"{name} {_shown(item, name)}" for name in ("tableVersion", "path", "hasAcceptedCommits", "schemaVersion")
    )
    return Stop(
        f"A writer moved on: the registration {table_id} is not as the plan saw it, when {planned} (now {facts}); "
        f"it was left as it is."
    )


def _shown(item: Item, name: str) -> str:
    value = item.get(name)
    if value is None:
        return "absent"
    return ", ".join(f"{kind} {shown(content)}" for kind, content in value.items())
