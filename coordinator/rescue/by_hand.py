"""Putting an item back by hand: the exact command, where nothing that was read speaks against it. Pure.

Levee sends no such write. An entry takes its version again and a registration gives versions away again, which is right
only after an incident that a person has understood; what the command changes, and what was not looked at, is said.
"""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from changes.plan import NOTHING_TO_DO, Refusal
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.registrations import accepting_registrations
from coordinator.protocols.wording import thousands
from coordinator.repairs.registration_plans import SCHEMA_VERSION
from coordinator.rescue.copies import SavedItem
from coordinator.rescue.facts import RestoreFacts, doubt_about_table, refuse, why_another_table
from lake.delta.facts import LogStoreEntry, Mechanism, Registration
from lake.delta.wire import in_order

MOST_BYTES = 100_000
"""A longer item is no argument: Linux hands a program at most 128 KiB in one."""
BY_HAND = "by-hand"
"""Why an item has no plan: a person puts it back with `command`."""


@dataclass(frozen=True, slots=True)
class ByHand(Refusal):
    """The answer for an item: `command` puts it back, "" where something that was read speaks against that."""

    command: str = ""


def by_hand(given: RestoreFacts) -> Refusal:
    """The command for a saved item with what it changes, or the refusal. Raises nothing, whatever was read."""
    kept = given.kept
    if kept is None:
        return refuse(given, "The copy was not read.")
    if given.found == in_order(kept.item):
        return refuse(given, f"The {given.copy.kind.words} is there already, and equal.", NOTHING_TO_DO)
    reason = next((one for one in _why_not(given, kept) if one), "")
    if reason:
        return refuse(given, reason)
    changes = _changes_by_entry(given, kept.entry) if kept.entry else _changes_by_registration(kept.registration)
    command, doubt = _command(given, kept), doubt_about_table(given)
    if len(command.encode()) > MOST_BYTES:
        what = given.copy.kind.words
        return refuse(given, f"The {what} is too large for a command line: put it back with an SDK of AWS.")
    unsaid = "" if given.copied_from.region else "The copy does not say its region."
    sentences = ("Stop the writers of this table first.", changes, f"Beware: {doubt}." if doubt else "", unsaid)
    said = refuse(given, " ".join(one for one in (*sentences, _not_looked_at(kept)) if one), BY_HAND)
    return ByHand(said.kind, said.subject, said.reason, said.why, said.title, version=said.version, command=command)


def _not_looked_at(kept: SavedItem) -> str:
    if kept.entry is not None:
        return f"Whether {kept.entry.temp_path} is the commit that was accepted was not looked at."
    return "Whether every version that it accepted is published, or staged as it lists it, was not looked at."


def _command(given: RestoreFacts, kept: SavedItem) -> str:
    """One put-item of the AWS CLI for a POSIX shell, on the condition that nothing is under the item's key."""
    words = ["aws", "dynamodb", "put-item", "--region", given.table.copied_from.region or ""]
    words += ["--endpoint-url", given.endpoint] if given.endpoint else []
    words += ["--table-name", given.store, "--item", json.dumps(in_order(kept.item), ensure_ascii=False)]
    return shlex.join([*words, "--condition-expression", f"attribute_not_exists({kept.key_names[0]})"])


def _why_not(given: RestoreFacts, kept: SavedItem) -> Iterator[str]:
    """Reasons in the order in which they are told; a bare "" is none."""
    yield from _why_not_here(given)
    if given.found is not None:
        what = given.copy.kind.words
        yield f"The {what} exists and says something else than its copy, and nothing is ever overwritten."
    yield given.table.why_nothing()
    yield why_another_table(given)
    if kept.entry is not None:
        yield from _why_no_entry(given, kept.entry)
    elif kept.registration is not None:
        yield from _why_no_registration(given, kept.registration)


def _why_not_here(given: RestoreFacts) -> Iterator[str]:
    """A store of the same name in another region or account is another store."""
    saved, now = given.copied_from, given.table.copied_from
    if saved.region and saved.region != now.region:
        yield f"The copy is from {given.store} in {saved.region}, and this connection reads {now.region}."
    if saved.account and now.account and saved.account != now.account:
        yield (
            f"The copy is from {given.store} in account {saved.account}, and the role of this connection is in "
            f"{now.account}."
        )


def _why_no_entry(given: RestoreFacts, entry: LogStoreEntry) -> Iterator[str]:
    table, version = given.table, entry.version or 0
    yield table.why_not_alone()
    if entry.complete is not False:
        yield "The entry is complete, so its commit file is what counts; readers would not look at it."
    if table.registrations or table.given.facts.mechanism is Mechanism.COORDINATED_COMMITS:
        yield "A commit coordinator gives the versions of this table away now."
    own = table.given.facts.provenance.get(version)
    if table.newest_trace >= version or _went_on(given, version) or (own is not None and own.size is not None):
        yield (
            f"The log went on without this entry: version {thousands(version)}, or a later one, is there or was seen."
        )
    if table.view.base != version - 1:
        below = thousands(max(0, version - 1))
        yield f"The published log does not end at {below}: bring the files in between back first."


def _why_no_registration(given: RestoreFacts, registration: Registration) -> Iterator[str]:
    table, version = given.table, registration.table_version or 0
    if given.store != table.given.coordinator:
        yield "The table's properties do not name the DynamoDB table that the registration is from."
    if registration_id(table.given.facts.protocol) != registration.table_id:
        yield f"The newest metadata does not name registration {registration.table_id}."
    if others := accepting_registrations(table.given.facts):
        yield f"Registration {others[0].table_id} in {others[0].store} accepts commits of this table."
    if registration.schema_version != SCHEMA_VERSION:
        yield f"schemaVersion is {registration.schema_version}, and only {SCHEMA_VERSION} is known."
    if _went_on(given, version):
        yield (
            f"The log went on without this registration, which knows no version after {thousands(version)}: “Register "
            "again” makes one that does."
        )


def _went_on(given: RestoreFacts, version: int) -> bool:
    """Whether the log shows a trace of a later version, or one was ever seen or accepted."""
    seen = given.table.given.facts.provenance.values()
    return given.table.newest_trace > version or any(one.is_known and one.version > version for one in seen)


def _changes_by_entry(given: RestoreFacts, entry: LogStoreEntry) -> str:
    version, temp = thousands(entry.version or 0), given.table.view.temp(entry.temp_path or "")
    again = f"Version {version} is taken again: its writer may have written the same rows once more since."
    if temp.present:
        return f"{again} Whoever reads or writes next publishes {temp.name} as that version."
    return f"{again} Every read and write of the table fails from then on until {temp.name} is brought back."


def _changes_by_registration(registration: Registration | None) -> str:
    following = thousands((registration.table_version or 0) + 1 if registration else 0)
    return (
        f"Writers continue with version {following}; every commit from it on that the lost registration had accepted "
        "after it was saved is forgotten."
    )
