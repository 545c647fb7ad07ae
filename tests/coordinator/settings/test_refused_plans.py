"""Each reason why a change of a store or a bucket is not planned, from facts alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from changes.plan import NOTHING_TO_DO
from coordinator.settings.lifecycle_merge import temp_rule_xml
from coordinator.settings.lifecycle_plans import BucketFacts, plan_lifecycle
from coordinator.settings.requests import (
    Capacity,
    ChangeCapacity,
    ChangeProtection,
    ChangeRecovery,
    CreateStore,
    DisableTtl,
    EnableTtl,
    MigrateTtl,
    NotPlanned,
    RemoveTempRule,
    SetMultipartRule,
    SetTempRule,
)
from coordinator.settings.store_plans import plan_store
from lake.aws.lifecycle import Lifecycle, parse_rule
from lake.delta import coordinator_items
from tests.coordinator.settings.test_equivalents import facts

OTHER_KEY = {"key_schema": (("id", "HASH", "S"),)}
ON = {"ttl_status": "ENABLED", "ttl_attribute": "commitTime"}
RIGHT = {"ttl_status": "ENABLED", "ttl_attribute": "expireTime"}
STORES = [
    (EnableTtl, {"status": "UPDATING"}, "not-active"),
    (EnableTtl, OTHER_KEY, "wrong-key-schema"),
    (lambda name: ChangeProtection(name, True), OTHER_KEY, "wrong-key-schema"),
    (lambda name: ChangeCapacity(name, Capacity(1, 1)), {"global_indexes": ("by-day",)}, "extra-indexes"),
    (lambda name: ChangeCapacity(name, Capacity()), {}, NOTHING_TO_DO),
    (lambda name: ChangeProtection(name, False), {}, NOTHING_TO_DO),
    (lambda name: ChangeRecovery(name, True), {}, NOTHING_TO_DO),
    (lambda name: ChangeRecovery(name, True), {"point_in_time_recovery": None}, "not-read"),
    (EnableTtl, RIGHT, NOTHING_TO_DO),
    (EnableTtl, ON, "other-attribute"),
    (EnableTtl, ON | {"ttl_status": "DISABLING"}, "changing"),
    (EnableTtl, {"ttl_status": None}, "not-read"),
    (MigrateTtl, RIGHT, NOTHING_TO_DO),
    (MigrateTtl, {}, "nothing-to-move"),
    (DisableTtl, {}, NOTHING_TO_DO),
    (DisableTtl, ON | {"ttl_status": "ENABLING"}, "changing"),
    (CreateStore, OTHER_KEY, "wrong-key-schema"),
    (CreateStore, {"item_count": 3}, "exists"),
    (CreateStore, {"billing": "provisioned", "read_capacity": 5, "write_capacity": 5}, "exists"),
    (CreateStore, {"status": "DELETING"}, "not-active"),
]


def why_not(plan, *given) -> str:
    with pytest.raises(NotPlanned) as refused:
        plan(*given)
    return refused.value.why


@pytest.mark.parametrize(("change", "described", "why"), STORES)
def test_what_dynamodb_says_of_a_table_forbids_a_change(change, described, why):
    assert why_not(plan_store, change("t-1"), facts("t-1", **described)) == why


@pytest.mark.parametrize("change", [EnableTtl, MigrateTtl])
@pytest.mark.parametrize(
    ("known", "why"),
    [
        ({"description": None}, "absent"),
        ({"kind": ""}, "unknown-kind"),
        ({"is_migrating": True}, "under-way"),
        ({"before_ttl": ("sales.orders",)}, "unpublished"),
    ],
)
def test_what_levee_knows_of_a_store_forbids_ttl(change, known, why):
    assert why_not(plan_store, change("t-1"), replace(facts("t-1", **ON), **known)) == why


@pytest.mark.parametrize("change", [EnableTtl, MigrateTtl])
def test_a_coordinator_never_gets_ttl(change):
    given = replace(facts("t-1", key_schema=coordinator_items.expected_keys()), kind="commit_coordinator")

    assert why_not(plan_store, change("t-1"), given) == "coordinator"


NOW = datetime(2026, 11, 21, tzinfo=UTC)
FULL = Lifecycle(
    tuple(parse_rule(temp_rule_xml(f"r{number}", "x/", 9, old_form=False, versioned=False)) for number in range(1_000))
)
UNNAMED = temp_rule_xml("", "t/_delta_log/.tmp/", 9, old_form=False, versioned=False).replace("<ID></ID>", "")
WIDE = temp_rule_xml("wide", "t/_delta_log/", 9, old_form=False, versioned=False)
BUCKETS = [
    (SetTempRule("b", "t"), {"owned": False, "account": "1"}, "not-owned"),
    (SetTempRule("b", "t"), {"lifecycle": None}, "not-read"),
    (SetTempRule("b", "t"), {"mfa_delete": True}, "mfa-delete"),
    (SetTempRule("b", "other"), {}, "no-table"),
    (SetTempRule("b", "t", 2), {}, "too-short"),
    (SetTempRule("b", "t"), {"tables": {"t": NOW - timedelta(days=3)}}, "unpublished"),
    (SetTempRule("b", "t"), {"lifecycle": FULL}, "no-room"),
    (SetTempRule("b", "t"), {"lifecycle": Lifecycle((parse_rule(UNNAMED),))}, "no-name"),
    (SetMultipartRule("b"), {"lifecycle": FULL}, "no-room"),
    (RemoveTempRule("b", "wide"), {"lifecycle": Lifecycle((parse_rule(WIDE),))}, "not-a-temp-rule"),
    (RemoveTempRule("b", "gone"), {}, NOTHING_TO_DO),
]


@pytest.mark.parametrize(("change", "known", "why"), BUCKETS)
def test_what_is_known_of_a_bucket_forbids_a_rule(change, known, why):
    given = {"lifecycle": Lifecycle(), "tables": {"t": None}, **known}

    assert why_not(plan_lifecycle, change, BucketFacts("b", "eu-west-1", **given), NOW) == why
