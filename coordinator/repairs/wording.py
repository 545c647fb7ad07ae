"""The calls of a repair in words: what each does, which operations carry it, and on which condition."""

from dataclasses import dataclass
from typing import assert_never

from coordinator.protocols.names import STAGED_FOLDERS
from coordinator.protocols.wording import counted, duration, thousands
from coordinator.repairs import calls
from coordinator.repairs.calls import Call


@dataclass(frozen=True, slots=True)
class CallText:
    """One call as a page or a command shows it: `says` and `condition` are sentences; "" stands for no condition."""

    operation: str
    says: str
    condition: str


def say(call: Call) -> CallText:
    """Put one call into words."""
    match call:
        case calls.Publish() | calls.SaveAside():
            return _copy(call)
        case calls.RequireEqual() | calls.RequireAbsent() | calls.RequireEmpty():
            return _require(call)
        case calls.RequireNoEntry():
            says = f"Reads the entry of {short(call.file_name)} under {call.table_path} in {call.table} once more."
            return CallText("dynamodb:GetItem", says, "None exists; else nothing further is done.")
        case calls.CompleteEntry() | calls.DeleteEntry():
            return _entry(call)
        case calls.ClearCommits() | calls.RaiseVersion() | calls.Register() | calls.DeleteRegistration():
            return _registration(call)
        case calls.DeleteLitter():
            return _litter(call)
    assert_never(call)


def short(key: str) -> str:
    """A key as a sentence names it: its folder within the log and its name, zeros of the version left out."""
    folder, _, name = key.rpartition("/")
    parent = folder.rpartition("/")[2]
    shown = "…" + name.lstrip("0") if name[:20].isdecimal() and len(name) > 20 else name
    if name[:20] == "0" * 20:
        shown = f"…0{name[20:]}"
    return f"{parent}/{shown}" if parent in (".tmp", *STAGED_FOLDERS) else shown


def _copy(call: calls.Publish | calls.SaveAside) -> CallText:
    operation = "s3:GetObject, s3:PutObject"
    if isinstance(call, calls.SaveAside):
        what = short(call.source) if call.source else "the item as JSON"
        says = f"Keeps a copy of {what} as {call.key}."
        return CallText(
            operation if call.source else "s3:PutObject", says, "If-None-Match: *; equal bytes count as kept."
        )
    kind = "staged file" if any(f"/{folder}/" in call.source for folder in STAGED_FOLDERS) else "temp file"
    return CallText(
        operation,
        f"Copies the {kind} {short(call.source)} to {short(call.key)}, only if that key is still absent, reads it back "
        f"and compares all {call.size:,} bytes.",
        f"If-None-Match: *; the {kind} still has ETag {call.etag} and {call.size:,} B.",
    )


def _require(call: calls.RequireEqual | calls.RequireAbsent | calls.RequireEmpty) -> CallText:
    match call:
        case calls.RequireEqual():
            says = f"Compares {short(call.one)} with {short(call.other)}, byte by byte."
            return CallText("s3:GetObject", says, "Both exist and are equal; else nothing further is done.")
        case calls.RequireAbsent():
            names = " and ".join(short(key) for key in call.keys)
            return CallText(
                "s3:HeadObject", f"Looks for {names} once more.", "None exists; else nothing further is done."
            )
        case calls.RequireEmpty():
            says = f"Lists {call.prefix} once more."
            return CallText("s3:ListObjectsV2", says, "Nothing lies there; else nothing further is done.")


def _entry(call: calls.CompleteEntry | calls.DeleteEntry) -> CallText:
    condition = f'complete = "false" AND tempPath = "{call.temp_path}"'
    name = short(call.file_name)
    if isinstance(call, calls.CompleteEntry):
        says = (
            f"Marks the entry of {name} in {call.table} complete, only if it is still the one shown here; it expires "
            f"{duration(call.ttl_seconds)} later."
        )
        return CallText("dynamodb:UpdateItem", says, condition)
    says = f"Deletes the entry of {name} from {call.table}, only if it is still the one shown here."
    return CallText("dynamodb:DeleteItem", says, condition)


def _registration(
    call: calls.ClearCommits | calls.RaiseVersion | calls.Register | calls.DeleteRegistration,
) -> CallText:
    match call:
        case calls.ClearCommits():
            count = len(call.commits.get("L", ()))
            return CallText(
                "dynamodb:UpdateItem",
                f"Clears {counted(count, 'entry', 'entries')} from the coordinator's list in {call.table}, only if no "
                "writer has moved on.",
                f'tableVersion = {call.table_version} AND path = "{call.path}" AND schemaVersion = 1 AND commits = the '
                "list shown here",
            )
        case calls.RaiseVersion():
            return CallText(
                "dynamodb:UpdateItem",
                f"Raises tableVersion in {call.table} from {thousands(call.from_version)} to "
                f"{thousands(call.to_version)} and tableTimestamp to {call.to_timestamp}.",
                f'tableVersion = {call.from_version} AND path = "{call.path}" AND schemaVersion = 1',
            )
        case calls.Register():
            table_id = call.item.get("tableId", {}).get("S", "")
            version = call.item.get("tableVersion", {}).get("N", "")
            path = call.item.get("path", {}).get("S", "")
            says = f"Puts registration {table_id} into {call.table} at version {version}, with the path {path}."
            return CallText("dynamodb:PutItem", says, "attribute_not_exists(tableId)")
        case calls.DeleteRegistration():
            return CallText(
                "dynamodb:DeleteItem",
                f"Deletes registration {call.table_id} from {call.table}.",
                f'hasAcceptedCommits = false AND commits = [] AND path = "{call.path}" AND tableVersion = '
                f"{call.table_version}",
            )


def _litter(call: calls.DeleteLitter) -> CallText:
    item = f"the entry of {short(call.entry[1])}" if call.entry else f"registration {call.registration}"
    named = f"{item} names {short(call.named)}" if call.named else f"{item} does not name the file"
    equal = f"; its bytes equal those of {call.survivor}" if call.survivor else ""
    return CallText(
        f"dynamodb:GetItem, {'s3:GetObject, ' if call.survivor else ''}s3:DeleteObject",
        f"Reads {item} again, then deletes {short(call.key)}, {call.size:,} B.",
        f"If-Match: {call.etag}; {named}{equal}.",
    )
