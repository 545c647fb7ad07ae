"""Putting a registration back: it gives versions away again, so it has to know all that are taken."""

from collections.abc import Iterator, Mapping

from changes.plan import NOTHING_TO_DO
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.registrations import SeenCommit, seen_commits
from coordinator.protocols.several_coordinators import accepting_registrations
from coordinator.protocols.wording import thousands
from coordinator.repairs.object_calls import RequireAbsent
from coordinator.repairs.registration_plans import FOLLOWING, SCHEMA_VERSION, commit_time
from coordinator.repairs.restore_calls import RestoreItem
from coordinator.rescue.facts import RestoreFacts
from coordinator.rescue.origins import where_it_goes, why_another_table, why_not_here, with_doubt
from coordinator.rescue.wording import NotRestorable, RestoreCalls, refused_first
from lake.delta.facts import Registration
from lake.delta.names import MAX_VERSION


def plan_registration(given: RestoreFacts) -> RestoreCalls | NotRestorable:
    kept = given.kept
    if kept is None or kept.registration is None or kept.registration.table_version is None:
        return NotRestorable("The copy was not read.")
    registration, version = kept.registration, kept.registration.table_version
    refused = refused_first(_why_not(given, registration, version))
    if refused is not None:
        return refused
    table = given.table
    absent = RequireAbsent(table.place.bucket, (table.published_key(version + 1),))
    put = RestoreItem(given.store, kept.key_names, kept.item)
    following = thousands(version + 1)
    return RestoreCalls(
        (absent, put),
        (f"Reads work again, and writers continue with version {following}.", FOLLOWING, where_it_goes(given)),
        with_doubt(
            given, f"every commit from {following} on that the lost registration had accepted after it was saved"
        ),
    )


def _why_not(given: RestoreFacts, registration: Registration, version: int) -> Iterator[NotRestorable | str]:
    table, kept = given.table, given.kept
    if not given.store or given.store != table.given.coordinator:
        yield "The table's properties do not name the DynamoDB table that the registration is from."
    yield from why_not_here(given)
    if kept is not None and given.found == kept.item:
        yield NotRestorable("The registration is there already, and equal.", NOTHING_TO_DO)
    elif given.found is not None:
        yield "The registration exists and says something else than its copy, and nothing is ever overwritten."
    yield table.why_nothing()
    yield why_another_table(given)
    if registration_id(table.given.facts.protocol) != registration.table_id:
        yield f"The newest metadata does not name registration {registration.table_id}."
    if others := accepting_registrations(table.given.facts):
        yield f"Registration {others[0].table_id} in {others[0].store} accepts commits of this table."
    if registration.schema_version != SCHEMA_VERSION:
        yield f"schemaVersion is {registration.schema_version}, and only {SCHEMA_VERSION} is known."
    if version == MAX_VERSION:
        yield f"Version {thousands(version)} is the last that Delta can have; nothing follows it."
    yield _why_went_on(given, version)
    yield from _why_not_all_there(given, registration, version)


def _why_went_on(given: RestoreFacts, version: int) -> str:
    table = given.table
    if table.newest_trace > version or any(
        one.is_known and one.version > version for one in table.given.facts.provenance.values()
    ):
        return (
            f"The log went on without this registration, which knows no version after {thousands(version)}: “Register "
            "again” makes one that does."
        )
    return ""


def _why_not_all_there(given: RestoreFacts, registration: Registration, version: int) -> Iterator[str]:
    """Each version that it gave away is published, or listed with its staged file."""
    newest = given.table.newest_contiguous()
    if newest is None or newest != given.table.view.newest:
        yield "The published log has no readable beginning, or a gap; bring the missing files back first."
        return
    listed = {one.version: one for one in seen_commits(given.table.view, registration)}
    for missing in range(newest + 1, version + 1):
        if why := _why_missing(listed, missing):
            yield why
            return
    if newest == version and (time := commit_time(given.table, version)) != registration.table_timestamp:
        yield (
            f"{version}.json is not the commit that the registration accepted: its in-commit timestamp is {time}, and "
            f"the registration holds {registration.table_timestamp}."
        )


def _why_missing(listed: Mapping[int, SeenCommit], version: int) -> str:
    one = listed.get(version)
    if one is None:
        return f"The registration accepted version {thousands(version)}, which is neither published nor in its list."
    if one.staged is None or not one.staged.present or one.size_differs:
        return f"The staged file of version {thousands(version)} is not there as the registration lists it."
    return ""
