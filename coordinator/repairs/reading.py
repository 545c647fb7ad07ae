"""Reading one table for a repair: everything anew and strongly consistent, and what would be copied in full."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from coordinator.observation.reading import Reading
from coordinator.observation.second_look import read_table
from coordinator.observation.surveys import Survey, coordinator_of
from coordinator.observation.targets import TableTarget
from coordinator.repairs.facts import FileCheck, RepairFacts, check_file
from coordinator.repairs.object_calls import Item, body_of
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
    reading, given = _read_items(lake, survey, target, now)
    for _ in range(MOST_READINGS - 1):
        if len(given.raw_registrations) == len(given.facts.registrations):
            break
        reading, given = _read_items(lake, survey, target, now)
    keep(reading)
    names = wanted_files(given.facts, given.verdict)
    return replace(given, files={name: read_file(lake, target.uri, name) for name in names})


def _read_items(lake: Lake, survey: Survey, target: TableTarget, now: datetime) -> tuple[Reading, RepairFacts]:
    reading = read_table(lake, survey, target, in_full=True)
    if reading.facts is None or reading.verdict is None:
        if reading.error is not None:
            raise reading.error.cause
        raise AwsError("MalformedAnswer", f"{reading.target.uri.s3a} was not read in full")
    facts = replace(reading.facts, observed_at=now)
    coordinator, raw = coordinator_of(survey, facts.protocol), _raw_registrations(lake, facts)
    return reading, RepairFacts(facts, reading.verdict, reading.lock_domains, coordinator, raw)


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


def read_file(lake: Lake, uri: TableUri, name: str) -> FileCheck | None:
    """Read a file in full, by its name relative to `_delta_log/`; None where there is none. Raises AwsError."""
    body = body_of(lake, uri.bucket, uri.log_key + name)
    return check_file(name, body.data, body.etag) if body else None
