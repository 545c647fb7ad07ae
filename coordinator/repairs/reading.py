"""Reading one table for a repair: everything anew and strongly consistent, and what would be copied in full."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from coordinator.observation.reading import Reading
from coordinator.observation.second_look import read_table
from coordinator.observation.surveys import Survey, coordinator_of
from coordinator.observation.targets import TableTarget
from coordinator.protocols.verdict import Verdict
from coordinator.repairs.facts import FileCheck, RepairFacts, check_file
from coordinator.repairs.object_calls import Item
from coordinator.repairs.planning import wanted_files
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import TableFacts
from lake.delta.uri import TableUri

MOST_READINGS = 3
"""How often a table is read because a writer moves its registration on between two reads."""
Keep = Callable[[Reading], object]
"""Is given the reading that the facts rest on, for a caller that stores it too."""


def account_of(role_arn: str) -> str:
    """The account of an IAM role, "" where there is none."""
    return "".join(role_arn.split(":")[4:5])


def forget(reading: Reading) -> None:
    """Keep nothing."""


def read_for_repair(lake: Lake, survey: Survey, target: TableTarget, now: datetime, keep: Keep = forget) -> RepairFacts:
    """Read the whole log, the items and the wanted files of one table. Raises AwsError.

    The log stores of `survey` should not have been scanned (`partitions` None), so that entries are read after the
    listing; its coordinators should have been just now, so that every registration of the path is known. The raw item
    of a registration that is not what the facts say is left out, and no plan rests on it.
    """
    reading, facts, raw = _read_items(lake, survey, target, now)
    for _ in range(MOST_READINGS - 1):
        if len(raw) == len(facts.registrations):
            break
        reading, facts, raw = _read_items(lake, survey, target, now)
    keep(reading)
    verdict = _verdict(reading)
    files = _read_files(lake, target.uri, facts, verdict)
    coordinator, siblings = coordinator_of(survey, facts.protocol), _sibling_paths(survey, target, facts)
    return RepairFacts(facts, verdict, reading.lock_domains, coordinator, raw, files, sibling_paths=siblings)


def _read_items(
    lake: Lake, survey: Survey, target: TableTarget, now: datetime
) -> tuple[Reading, TableFacts, Mapping[tuple[str, str], Item]]:
    reading = read_table(lake, survey, target, in_full=True)
    if reading.facts is None or reading.verdict is None:
        raise _cause(reading)
    facts = replace(reading.facts, observed_at=now)
    return reading, facts, _raw_registrations(lake, facts)


def _verdict(reading: Reading) -> Verdict:
    """A reading without one has raised before."""
    if reading.verdict is None:
        raise _cause(reading)
    return reading.verdict


def _cause(reading: Reading) -> Exception:
    if reading.error is not None:
        return reading.error.cause
    return AwsError("MalformedAnswer", f"{reading.target.uri.s3a} was not read in full")


def _sibling_paths(survey: Survey, target: TableTarget, facts: TableFacts) -> tuple[str, ...]:
    """Paths of the other tables that the coordinator of this one holds."""
    store = survey.coordinator(coordinator_of(survey, facts.protocol))
    held = (store.registrations or {}) if store else {}
    return tuple(one.path for place, found in sorted(held.items()) if place != target.place for one in found)


def _raw_registrations(lake: Lake, facts: TableFacts) -> Mapping[tuple[str, str], Item]:
    """Each registration's item from the DynamoDB table that holds it."""
    raw: dict[tuple[str, str], Item] = {}
    for registration in facts.registrations:
        if not registration.table_id:
            continue
        item = lake.dynamodb.get_item(registration.store, {"tableId": {"S": registration.table_id}})
        if item is not None and read_registration(item, registration.store) == registration:
            raw[registration.store, registration.table_id] = item
    return raw


def _read_files(lake: Lake, uri: TableUri, facts: TableFacts, verdict: Verdict) -> Mapping[str, FileCheck | None]:
    return {name: read_file(lake, uri, name) for name in wanted_files(facts, verdict)}


def read_file(lake: Lake, uri: TableUri, name: str) -> FileCheck | None:
    """Read a file in full, by its name relative to `_delta_log/`; None where there is none. Raises AwsError."""
    try:
        body = lake.s3.get(uri.bucket, uri.log_key + name)
    except AwsError as error:
        if error.code == "NoSuchKey":
            return None
        raise
    return check_file(name, body.data, body.etag)
