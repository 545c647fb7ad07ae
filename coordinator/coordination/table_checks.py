"""Checks of the table itself: readable, under which mechanism, with which features, and nothing under way."""

from changes.plan import ChangePlan
from coordinator.coordination.checks import Operation, Said, check, failed, ok, warning
from coordinator.coordination.features import COORDINATED, LEFT_BEHIND, is_catalog_managed, unknown
from coordinator.coordination.situation import Situation
from coordinator.protocols.absence import being_checked
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.registrations import current_registration
from coordinator.protocols.verdict import LOUD, State
from lake.delta.facts import Mechanism, Registration
from lake.spark.sql import location_problem

BACKFILLS = ("backfill", "clear-entries")
"""Repairs that a drop makes first: they lose nothing and finish what a writer left."""


@check("Path")
def path_check(situation: Situation) -> Said:
    is_new = situation.operation is Operation.CREATE
    location = situation.uri if is_new else situation.location
    if problem := location_problem(situation.uri) or location_problem(location):
        return failed(problem)
    return ok(
        f"Spark is given {location}." if is_new else f"Spark is given {location}, as the table's writers spell it."
    )


@check("Table readable")
def readable_check(situation: Situation) -> Said:
    facts, given = situation.facts, situation.repair
    if situation.error:
        return failed(f"The table cannot be read: {situation.error}")
    if facts is None or given is None or not facts.listing.commits:
        return failed("There is no Delta log at this place.")
    if facts.protocol is None:
        return failed("Protocol and metadata of the newest version cannot be read from the log.")
    for problem in facts.problems[:1]:
        return failed(f"Not all of it could be read ({problem.place}): {problem.reason}")
    version = given.verdict.accepted_version
    return ok("" if version is None else f"Version {version:,} was read, consistently.")


@check("Commits through")
def mechanism_check(situation: Situation) -> Said:
    if situation.facts is None:
        return failed("Unknown, as the table cannot be read.")
    mechanism = situation.facts.mechanism
    if mechanism is Mechanism.CATALOG_MANAGED:
        return failed("A catalogue commits for this table, and only the catalogue may change that.")
    if mechanism is Mechanism.UNKNOWN:
        return failed("Levee cannot tell how this table's commits are made exclusive.")
    coordinated = situation.is_coordinated
    match situation.operation:
        case Operation.ENABLE if coordinated:
            return failed("The table is under a commit coordinator already; from one to another, drop it first.")
        case Operation.LEFTOVERS if coordinated:
            return failed("The table is under a commit coordinator, which needs these features: drop it first.")
        case Operation.DROP if situation.is_half_dropped:
            return ok("The coordinator was left before; what is missing is the commit that removes the feature.")
        case Operation.DROP if not coordinated:
            return failed("The table is under no commit coordinator: there is nothing to drop.")
    words = {
        Mechanism.COORDINATED_COMMITS: "The commit coordinator, which the newest metadata names.",
        Mechanism.LOG_STORE: "A log store: the conversion commit goes through it too.",
        Mechanism.SINGLE_DRIVER: "Nothing but S3, as far as can be seen: two writers are not kept apart then.",
    }
    return ok(words[mechanism])


@check("Protocol and features")
def features_check(situation: Situation) -> Said:
    protocol, features = situation.protocol, situation.features
    if protocol is None:
        return failed("Unknown, as the protocol cannot be read.")
    if is_catalog_managed(features):
        return failed("The table is catalog-managed: coordinated commits and a catalogue exclude each other.")
    if strange := unknown(features):
        return failed(f"Delta 4.4.0 does not know {', '.join(strange[:5])}: only the engine that added it may.")
    if situation.operation is Operation.LEFTOVERS:
        return _leftovers(situation, features)
    now = f"reader {protocol.reader_version}, writer {protocol.writer_version}"
    if situation.operation is Operation.ENABLE and (protocol.reader_version, protocol.writer_version) != (3, 7):
        return warning(f"The protocol rises from {now} to reader 3, writer 7, and does not come down by a drop.")
    return ok(f"Protocol {now}; Delta 4.4.0 knows every feature named.")


def _leftovers(situation: Situation, features: frozenset[str]) -> Said:
    wanted = situation.change.remove_features
    absent = [feature for feature in wanted if feature not in features]
    if not wanted or absent:
        return failed(f"The protocol does not name {', '.join(absent) or 'what is to be removed'}.")
    if COORDINATED in features:
        return failed(f"{COORDINATED} still needs {' and '.join(LEFT_BEHIND)}: finish the drop first.")
    return ok(f"The protocol names {', '.join(wanted)}. Delta may still refuse to remove it.")


@check("Nothing waits")
def waiting_check(situation: Situation) -> Said:
    """Nothing pending or unbackfilled; a drop may go on where backfilling is all that is to be done first."""
    if situation.repair is None:
        return failed("Unknown, as the table cannot be read.")
    verdict = situation.repair.verdict
    first = backfills_of(situation) if situation.operation is Operation.DROP else ()
    covered = {(plan.code, plan.version) for plan in first}
    open_ones = [one for one in verdict.findings if (one.code, one.version) not in covered]
    if blocking := next((one for one in open_ones if blocks(one.code, one.state)), None):
        return failed(f"{blocking.summary} Repair it first.")
    if checking := being_checked(verdict):
        return failed(f"{checking} Check again in a moment.")
    if not first and verdict.unpublished:
        return failed(f"{len(verdict.unpublished):,} accepted commits are not published: repair them first.")
    if first:
        return warning("Accepted commits are not backfilled yet: " + " ".join(f"{one.title}." for one in first))
    return ok(f"Every accepted commit is published, up to version {_number(verdict.published_version)}.")


def blocks(code: str, state: str) -> bool:
    """Whether a finding concerns commits under way or lost; orphans and settings do not stand in the way."""
    return state in (*LOUD, State.PENDING, State.UNBACKFILLED) and code != "foreign-writer"


def backfills_of(situation: Situation) -> tuple[ChangePlan, ...]:
    """What a drop does first, oldest version first."""
    plans = [plan for plan in situation.plans if plan.kind in BACKFILLS and not plan.can_lose]
    return tuple(sorted(plans, key=lambda plan: -1 if plan.version is None else plan.version))


@check("Log store entries")
def entries_check(situation: Situation) -> Said | None:
    """For a table that commits through a log store, or has done so."""
    facts = situation.facts
    if facts and facts.elsewhere:
        held = facts.elsewhere[0]
        where = f"{held.domain.store} in {held.region}, which connection {held.connection} reads"
        return failed(f"Writers commit through {where}; act on the table through that connection.")
    if facts is None or not situation.has_log_store:
        return None
    if len(facts.entries) > 1:
        named = ", ".join(f"{one.path} in {one.store}" for one in sorted(facts.entries)[:4])
        return failed(f"Writers use several log stores or spellings, which are not kept apart: {named}.")
    entries = [one for several in facts.entries.values() for one in several]
    incomplete = [one.version for one in entries if one.complete is not True]
    if incomplete:
        return failed(f"{len(incomplete):,} entries are not complete, the first of version {incomplete[0]}.")
    if problems := [one.problems[0] for one in entries if one.problems]:
        return failed(f"An entry is not as the protocol has it: {problems[0]}")
    return ok(f"{len(entries):,} entries under {situation.path_of_entries}, all complete.")


@check("The item belongs to this table")
def registration_check(situation: Situation) -> Said | None:
    """The item that the newest metadata names has to be this table's, for a drop goes through it."""
    facts = situation.facts
    if facts is None or not situation.is_coordinated:
        return None
    found = current_registration(facts)
    if found is None:
        named = registration_id(facts.protocol)
        return failed(f"The coordinator holds no item {named or '(the properties name none)'}: register it again.")
    if wrong := _wrong(found):
        return failed(wrong)
    return ok(f"Item {found.table_id} has this path, accepts commits and is at {_number(found.table_version)}.")


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
