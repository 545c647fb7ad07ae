"""Checks of the table itself: readable, under which mechanism, with which features, and nothing under way."""

from collections.abc import Iterator

from changes.plan import ChangePlan
from coordinator.coordination.checks import Check, Operation, failed, ok, warning
from coordinator.coordination.features import COORDINATED, LEFT_BEHIND, features_of, is_catalog_managed, unknown
from coordinator.coordination.places import location_of, path_of_entries
from coordinator.coordination.situation import Situation
from coordinator.protocols.absence import being_checked
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.registrations import current_registration
from coordinator.protocols.verdict import LOUD, Finding, State
from lake.delta.facts import Mechanism, Registration
from lake.spark.sql import location_problem

BACKFILLS = ("backfill", "clear-entries")
"""Repairs that a drop makes first: they lose nothing and finish what a writer left."""


def path_check(situation: Situation) -> Check:
    name = "Path"
    problem = location_problem(situation.uri) or location_problem(location_of(situation))
    if problem:
        return failed(name, problem)
    return ok(name, f"Spark is given {location_of(situation)}, as the table's writers spell it.")


def readable_check(situation: Situation) -> Check:
    name = "Table readable"
    facts, given = situation.facts, situation.repair
    if situation.error:
        return failed(name, f"The table cannot be read: {situation.error}")
    if facts is None or given is None or not facts.listing.commits:
        return failed(name, "There is no Delta log at this place.")
    if facts.protocol is None:
        return failed(name, "Protocol and metadata of the newest version cannot be read from the log.")
    for problem in facts.problems[:1]:
        return failed(name, f"Not all of it could be read ({problem.place}): {problem.reason}")
    return ok(name, f"Version {given.verdict.accepted_version:,} was read, consistently." if _known(situation) else "")


def _known(situation: Situation) -> bool:
    return situation.repair is not None and situation.repair.verdict.accepted_version is not None


def mechanism_check(situation: Situation) -> Check:
    name = "Commits through"
    facts = situation.facts
    if facts is None:
        return failed(name, "Unknown, as the table cannot be read.")
    if facts.mechanism is Mechanism.CATALOG_MANAGED:
        return failed(name, "A catalogue commits for this table, and only the catalogue may change that.")
    if facts.mechanism is Mechanism.UNKNOWN:
        return failed(name, "Levee cannot tell how this table's commits are made exclusive.")
    coordinated = facts.mechanism is Mechanism.COORDINATED_COMMITS
    match situation.operation:
        case Operation.ENABLE if coordinated:
            return failed(name, "The table is under a commit coordinator already; from one to another, drop it first.")
        case Operation.LEFTOVERS if coordinated:
            return failed(name, "The table is under a commit coordinator, which needs these features: drop it first.")
        case Operation.DROP if not coordinated and not half_dropped(situation):
            return failed(name, "The table is under no commit coordinator: there is nothing to drop.")
        case Operation.DROP if not coordinated:
            return ok(name, "The coordinator was left before; what is missing is the commit that removes the feature.")
    words = {
        Mechanism.COORDINATED_COMMITS: "The commit coordinator, which the newest metadata names.",
        Mechanism.LOG_STORE: "A log store: the conversion commit goes through it too.",
        Mechanism.SINGLE_DRIVER: "Nothing but S3, as far as can be seen: two writers are not kept apart then.",
    }
    return ok(name, words[facts.mechanism])


def half_dropped(situation: Situation) -> bool:
    """Whether a drop stopped between its two commits: the properties are gone, the protocol names the feature."""
    facts, protocol = situation.facts, situation.protocol
    if facts is None or protocol is None:
        return False
    return facts.mechanism is not Mechanism.COORDINATED_COMMITS and COORDINATED in features_of(protocol)


def features_check(situation: Situation) -> Check:
    name = "Protocol and features"
    protocol = situation.protocol
    if protocol is None:
        return failed(name, "Unknown, as the protocol cannot be read.")
    features = features_of(protocol)
    if is_catalog_managed(features):
        return failed(name, "The table is catalog-managed: coordinated commits and a catalogue exclude each other.")
    if strange := unknown(features):
        return failed(name, f"Delta 4.4.0 does not know {', '.join(strange[:5])}: only the engine that added it may.")
    if situation.operation is Operation.LEFTOVERS:
        return _leftovers(name, situation, features)
    now = f"reader {protocol.reader_version}, writer {protocol.writer_version}"
    if situation.operation is Operation.ENABLE and (protocol.reader_version, protocol.writer_version) != (3, 7):
        return warning(name, f"The protocol rises from {now} to reader 3, writer 7, and does not come down by a drop.")
    return ok(name, f"Protocol {now}; Delta 4.4.0 knows every feature named.")


def _leftovers(name: str, situation: Situation, features: frozenset[str]) -> Check:
    absent = [feature for feature in situation.remove_features if feature not in features]
    if not situation.remove_features or absent:
        return failed(name, f"The protocol does not name {', '.join(absent) or 'what is to be removed'}.")
    if COORDINATED in features:
        return failed(name, f"{COORDINATED} still needs {' and '.join(LEFT_BEHIND)}: finish the drop first.")
    return ok(name, f"The protocol names {', '.join(situation.remove_features)}. Delta may still refuse to remove it.")


def waiting_check(situation: Situation) -> Check:
    """Nothing pending or unbackfilled; a drop may go on where backfilling is all that is to be done first."""
    name = "Nothing waits"
    if situation.repair is None:
        return failed(name, "Unknown, as the table cannot be read.")
    verdict = situation.repair.verdict
    first = backfills_of(situation) if situation.operation is Operation.DROP else ()
    covered = {(plan.code, plan.version) for plan in first}
    open_ones = [one for one in verdict.findings if (one.code, one.version) not in covered]
    if blocking := next((one for one in open_ones if _blocks(one)), None):
        return failed(name, f"{blocking.summary} Repair it first.")
    if checking := being_checked(verdict):
        return failed(name, f"{checking} Check again in a moment.")
    if not first and verdict.unpublished:
        return failed(name, f"{len(verdict.unpublished):,} accepted commits are not published: repair them first.")
    if first:
        return warning(name, "Accepted commits are not backfilled yet: " + " ".join(f"{one.title}." for one in first))
    return ok(name, f"Every accepted commit is published, up to version {_number(verdict.published_version)}.")


def _blocks(finding: Finding) -> bool:
    """What concerns commits that are under way or lost; orphans and settings do not stand in the way."""
    return finding.state in (*LOUD, State.PENDING, State.UNBACKFILLED) and finding.code != "foreign-writer"


def backfills_of(situation: Situation) -> tuple[ChangePlan, ...]:
    """What a drop does first, oldest version first."""
    plans = [plan for plan in situation.plans if plan.kind in BACKFILLS and not plan.can_lose]
    return tuple(sorted(plans, key=lambda plan: -1 if plan.version is None else plan.version))


def entries_check(situation: Situation) -> Iterator[Check]:
    """For a table that commits through a log store, or has done so."""
    facts = situation.facts
    name = "Log store entries"
    if facts and facts.elsewhere:
        held = facts.elsewhere[0]
        where = f"{held.domain.store} in {held.region}, which connection {held.connection} reads"
        yield failed(name, f"Writers commit through {where}; act on the table through that connection.")
        return
    if facts is None or not situation.has_log_store:
        return
    if len(facts.entries) > 1:
        named = ", ".join(f"{one.path} in {one.store}" for one in sorted(facts.entries)[:4])
        yield failed(name, f"Writers use several log stores or spellings, which are not kept apart: {named}.")
        return
    entries = [one for several in facts.entries.values() for one in several]
    incomplete = [one.version for one in entries if one.complete is not True]
    if incomplete:
        yield failed(name, f"{len(incomplete):,} entries are not complete, the first of version {incomplete[0]}.")
    elif any(one.problems for one in entries):
        yield failed(
            name, f"An entry is not as the protocol has it: {next(o.problems[0] for o in entries if o.problems)}"
        )
    else:
        yield ok(name, f"{len(entries):,} entries under {path_of_entries(situation)}, all complete.")


def registration_check(situation: Situation) -> Iterator[Check]:
    """The item that the newest metadata names has to be this table's, for a drop goes through it."""
    facts = situation.facts
    if facts is None or facts.mechanism is not Mechanism.COORDINATED_COMMITS:
        return
    name = "The item belongs to this table"
    found = current_registration(facts)
    if found is None:
        named = registration_id(facts.protocol)
        yield failed(name, f"The coordinator holds no item {named or '(the properties name none)'}: register it again.")
    elif wrong := _wrong(found):
        yield failed(name, wrong)
    else:
        yield ok(
            name, f"Item {found.table_id} has this path, accepts commits and is at {_number(found.table_version)}."
        )


def _wrong(found: Registration) -> str:
    if found.schema_version != 1:
        return f"Item {found.table_id} has schemaVersion {found.schema_version}; Delta 3.3 to 4.4 use 1."
    if found.accepting_commits is not True:
        return f"Item {found.table_id} accepts no commits, though the newest metadata names it."
    if found.problems:
        return f"Item {found.table_id} is not as the protocol has it: {found.problems[0]}"
    return ""


def _number(version: int | None) -> str:
    return "unknown" if version is None else f"{version:,}"
