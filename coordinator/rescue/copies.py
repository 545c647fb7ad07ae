"""What lies under `_levee_rescue/`: what the name of a copy says, and the item that it holds. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import TextChoices

from coordinator.protocols.names import STAGED_FOLDERS, is_entry_of, is_version, same_place, written_for
from coordinator.protocols.registrations import element_problems
from coordinator.repairs.rescue import FOLDER, FORMAT, CopiedFrom, folder_of, table_note
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import LogStoreEntry, Registration
from lake.delta.log_store import read_entry
from lake.delta.names import NameKind, parse_name
from lake.delta.uri import TableUri
from lake.delta.wire import in_order

_SAVED = re.compile(r"([0-9]{8}T[0-9]{6}Z)-([a-z]+(?:-[a-z]+)*)(?:-([0-9]{1,19}))?")
_ITEM_END = ".item.json"
_REGISTRATION = "registration-"
_LONGEST_KEY = 1_024
_ID = re.compile(rf"(s3[an]?://[^/]+)/((?:.*/)?){FOLDER}(.+)", re.DOTALL)


class NotUsable(ValueError):
    """An object is no copy that could be put back; the text is the sentence that says why."""


class CopyKind(TextChoices):
    """What a copy is of, and its name in a sentence."""

    TEMP_FILE = "temp-file", "temp file"
    STAGED_FILE = "staged-file", "staged file"
    ENTRY = "entry", "log store entry"
    REGISTRATION = "registration", "registration"

    @property
    def is_item(self) -> bool:
        return self in (CopyKind.ENTRY, CopyKind.REGISTRATION)


@dataclass(frozen=True, slots=True)
class SavedCopy:
    """A copy by its name: `key` is its whole S3 key, `repair` saved it for `version` (None: for none) at `saved_at`.

    `name` is that of a saved file, relative to `_delta_log/`; "" of an item, whose copy says itself what it is.
    """

    place: TableUri
    key: str
    kind: CopyKind
    saved_at: datetime
    repair: str
    version: int | None
    name: str = ""

    @property
    def id(self) -> str:
        return copy_id(self.place.bucket, self.key)

    @property
    def goal(self) -> str:
        """The key that a saved file had."""
        return self.place.log_key + self.name


def copy_id(bucket: str, key: str) -> str:
    """What names a copy everywhere: its own URI."""
    return f"s3a://{bucket}/{key}"


def rescue_prefix(place: TableUri) -> str:
    """The key prefix, slash included, under which every copy of a table lies."""
    return f"{place.key}/{FOLDER}" if place.key else FOLDER


def place_of_copy(text: str) -> tuple[TableUri, str]:
    """The table that a copy's id names, and the key of the copy. Raises NotUsable where it names none."""
    found = _ID.fullmatch(text)
    if found is None:
        raise NotUsable(f"{text!r} names no saved copy; `levee rescue list` prints the ID of each.")
    place = TableUri.parse(f"{found[1]}/{found[2]}")
    return place, rescue_prefix(place) + found[3]


def is_marker(key: str) -> bool:
    """Whether an object stands for a folder, as consoles and Hadoop make it."""
    return key.endswith(("/", "_$folder$"))


def is_note(key: str) -> bool:
    """Whether an object is the note of a rescue folder that says of which table its copies are."""
    return key == table_note(key) and _SAVED.fullmatch(folder_of(key)) is not None


def read_name(place: TableUri, key: str) -> SavedCopy:
    """Take the key of an object under the rescue folder of a table apart.

    Raises NotUsable with the sentence that says why it is no copy that could be put back.
    """
    prefix = rescue_prefix(place)
    if not key.startswith(prefix):
        raise NotUsable("It does not lie in the rescue folder of this table.")
    if not key.isprintable() or len(key.encode(errors="replace")) > _LONGEST_KEY:
        raise NotUsable("Its name holds characters that cannot be shown, or is longer than a key may be.")
    folder, _, name = key.removeprefix(prefix).partition("/")
    saved = _SAVED.fullmatch(folder)
    if saved is None or not name:
        raise NotUsable("Its folder is not named as Levee names one: moment, repair and version.")
    kind, file = _kind_of(name)
    version = written_for(file) if file else int(saved[3]) if saved[3] else None
    return SavedCopy(place, key, kind, _moment(saved[1]), saved[2], version, file)


def _kind_of(name: str) -> tuple[CopyKind, str]:
    """What an object in the folder of a repair is, and the name within the log that a file had.

    A commit file, a checksum or a checkpoint is none: readers follow it, and no repair takes one away.
    """
    file = name.removeprefix("_delta_log/")
    parsed = parse_name(file)
    if file != name and parsed.version is not None and parsed.unique:
        if parsed.kind is NameKind.TEMP:
            return CopyKind.TEMP_FILE, file
        if parsed.kind is NameKind.STAGED and file.partition("/")[0] in STAGED_FOLDERS:
            return CopyKind.STAGED_FILE, file
    if "/" not in name and name.endswith(_ITEM_END) and name != _ITEM_END:
        return (CopyKind.REGISTRATION if name.startswith(_REGISTRATION) else CopyKind.ENTRY), ""
    raise NotUsable("Levee saves temp files and staged files of a version, and items; its name is of none of these.")


def _moment(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise NotUsable("Its folder begins with no moment that there can be.") from None


@dataclass(frozen=True, slots=True)
class SavedItem:
    """An item in wire form, of the DynamoDB table `store`, and what it says: one of `entry` and `registration`."""

    store: str
    item: Mapping[str, Mapping[str, Any]]
    copied_from: CopiedFrom
    entry: LogStoreEntry | None = None
    registration: Registration | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        return ("tablePath", "fileName") if self.entry else ("tableId",)

    @property
    def version(self) -> int | None:
        if self.entry:
            return self.entry.version
        return self.registration.table_version if self.registration else None

    @property
    def goes_to(self) -> str:
        """The item as a sentence names it, with its whole key and its DynamoDB table."""
        if self.entry:
            return f"entry {self.entry.file_name} of {self.entry.table_path}, in {self.store}"
        return f"registration {self.registration.table_id if self.registration else ''}, in {self.store}"


def read_item(copy: SavedCopy, data: bytes) -> SavedItem:
    """The item of a copy. Raises NotUsable with the sentence that says why it is not one of this table."""
    document = _document(data)
    store, item = str(document.get("dynamodb_table", "")), document.get("item")
    if not store or not isinstance(item, dict):
        raise NotUsable("It names no DynamoDB table, or holds no item.")
    if copy.kind is CopyKind.ENTRY:
        return SavedItem(store, item, _copied_from(document), entry=_sound_entry(item, copy.place.s3a))
    registration = _sound_registration(item, store, copy.place.s3a)
    return SavedItem(store, item, _copied_from(document), registration=registration)


def read_note(data: bytes) -> CopiedFrom:
    """What the note beside a file says. Raises NotUsable with the sentence that says what is wrong."""
    return _copied_from(_document(data))


def _document(data: bytes) -> dict[str, Any]:
    try:
        document = in_order(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise NotUsable("It is no JSON.") from error
    if not isinstance(document, dict) or document.get("levee_rescue") != FORMAT:
        raise NotUsable(f"It is of a format that this release does not know; it knows {FORMAT}.")
    return document


def _copied_from(document: Mapping[str, Any]) -> CopiedFrom:
    return CopiedFrom(*(str(document.get(name, "")) for name in ("region", "account", "metadata_id")))


def _sound_entry(item: Mapping[str, Mapping[str, Any]], uri: str) -> LogStoreEntry:
    entry = read_entry(item)
    if entry.problems or entry.version is None or entry.temp_path is None:
        raise NotUsable(f"Its item is no sound entry: {_first_problem(entry.problems)}.")
    if not is_entry_of(entry, uri):
        raise NotUsable("Its item is the entry of another table.")
    return entry


def _sound_registration(item: Mapping[str, Mapping[str, Any]], store: str, uri: str) -> Registration:
    registration = read_registration(item, store)
    problems = (*registration.problems, *element_problems(registration))
    if problems or not registration.table_id or not is_version(registration.table_version):
        raise NotUsable(f"Its item is no sound registration: {_first_problem(problems)}.")
    if not same_place(registration.path, uri):
        raise NotUsable("Its item is the registration of another table.")
    return registration


def _first_problem(problems: tuple[str, ...]) -> str:
    return problems[0].rstrip(".") if problems else "its version is missing"
