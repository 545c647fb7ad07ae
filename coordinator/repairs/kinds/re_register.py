"""K8: put a registration back that is lost, with the path that it had: the coordinator compares it as text.

Source: `DynamoDBCommitCoordinatorClient` of Delta 3.3 to 4.4 expects `path` to be the writer's own, letter for letter,
so that writers under another scheme are refused. What the lost item said is gone; what remains shows it or does not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from coordinator.protocols import registrations
from coordinator.protocols.lock_domains import domains_in_use
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.names import is_moved_temp
from coordinator.protocols.registrations import accepting_registrations
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import joined, thousands
from coordinator.repairs.declaration import Draft, NoPlan, Planned, Repair
from coordinator.repairs.item_calls import Register
from coordinator.repairs.object_calls import Item
from coordinator.repairs.registration_plans import (
    FOLLOWING,
    SCHEMA_VERSION,
    commit_time,
    files_of_goal,
    given_up_above,
    kept_above,
    why_no_goal,
)
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason
from lake.delta.uri import SCHEMES, same_table

NAME = "re-register"
PATH_SCHEME = "path-scheme"
"""Name of the choice that decides it where nothing shows it."""

_CHOOSE = "The coordinator compares the path letter for letter and refuses writers under another scheme: choose one."


def register_again(table: TableUnderRepair, finding: Finding) -> Planned:
    """K8: put the registration back with the newest version to which the log leads without a gap."""
    goal = table.newest_contiguous()
    title = f"Register again at version {thousands(goal)}" if goal is not None else "Register again"
    reason = first_reason(_why_not_register(table, goal))
    time = commit_time(table, goal)
    table_id = registration_id(table.given.facts.protocol)
    if reason or goal is None or time is None or table_id is None:
        return NoPlan(title, reason)
    spelling = spelling_of(table)
    if not spelling.path:
        return NoPlan(title, spelling.because, PATH_SCHEME)
    kept, loses = kept_above(table, NAME, goal)
    item: Item = {
        "tableId": {"S": table_id},
        "path": {"S": spelling.path},
        "acceptingCommits": {"BOOL": True},
        "hasAcceptedCommits": {"BOOL": True},
        "tableVersion": {"N": str(goal)},
        "tableTimestamp": {"N": str(time)},
        "schemaVersion": {"N": str(SCHEMA_VERSION)},
        "commits": {"L": []},
    }
    return Draft(
        title,
        (*kept, Register(table.given.coordinator, item), *given_up_above(table, goal)),
        (
            f"Reads work again, and writers continue with version {thousands(goal + 1)}.",
            f"Its path is {spelling.path}. {spelling.because} Writers that spell it otherwise are refused.",
            FOLLOWING,
        ),
        loses,
        PATH_SCHEME,
    )


def _why_not_register(table: TableUnderRepair, goal: int | None) -> Iterator[str]:
    yield table.why_nothing()
    if not table.given.coordinator:
        yield "The DynamoDB table that the properties name is not a commit coordinator of this connection."
    if registrations.current_registration(table.given.facts):
        yield "The registration exists again; look at the table again."
    yield _why_not_beside(table)
    protocol = table.given.facts.protocol
    if protocol is None or goal is None or protocol.version != goal:
        yield "The newest metadata was not read up to the newest published version."
    yield from why_no_goal(table, goal)


def _why_not_beside(table: TableUnderRepair) -> str:
    """Why no registration may be made beside those of other DynamoDB tables."""
    if open_ones := [r for r in accepting_registrations(table.given.facts) if r.store != table.given.coordinator]:
        named = joined([f"{one.table_id} in {one.store}" for one in open_ones])
        return f"Registration {named} accepts commits of this table; find out first which of them counts."
    return ""


@dataclass(frozen=True, slots=True)
class Spelling:
    """The path to be stored and the sentence that says why; without a path, `because` says what is missing."""

    path: str
    because: str


def spelling_of(table: TableUnderRepair) -> Spelling:
    """What the strongest witness shows; where that one shows two, no weaker one decides between them."""
    if table.given.path_scheme:
        by_scheme = dict(zip(SCHEMES, table.place.spellings(), strict=True))
        return Spelling(by_scheme[table.given.path_scheme], "Its scheme was chosen by hand.")
    for who, paths in _witnesses(table):
        found = sorted({path for path in paths if same_table(path, table.place)})
        if len(found) == 1:
            return Spelling(found[0], f"{who} had it when last read.")
        if found:
            return Spelling("", f"{who} spell the path {joined(found)}. {_CHOOSE}")
    return Spelling("", f"Nothing that was read shows the scheme under which writers spell the path. {_CHOOSE}")


def _witnesses(table: TableUnderRepair) -> Iterator[tuple[str, list[str]]]:
    """Who spells the path how, the strongest first: the lost item itself, the table's other items, Levee's own act."""
    yield "The lost item", [table.given.registered_path]
    yield "Other registrations of this table", [one.path for one in table.registrations]
    yield f"Entries of this table in {joined(sorted({one.store for one in table.lock_domains}))}", _entry_paths(table)
    yield "Levee's act that put the table under the coordinator", [table.given.enabled_as]


def _entry_paths(table: TableUnderRepair) -> list[str]:
    """Paths of entries that Hadoop's writers made; delta-rs, which cannot write such a table, spells its own."""
    by_hadoop = {one.domain for one in table.entries if not is_moved_temp(one.entry.temp_path or "")}
    held = by_hadoop or {one for one in table.lock_domains if one not in domains_in_use(table.view)}
    return [domain.path.rstrip("/") if table.place.key else domain.path for domain in held]


REPAIR = Repair(
    NAME,
    "Register the table again at version {version}",
    "Puts the registration that the table names, only if none exists. Changes nothing on S3.",
    {"K8": register_again},
    wants=lambda table, finding: files_of_goal(table),
    plain="Register the table again",
)
