"""What the settings of a commit store mean."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from coordinator.protocols.stores import COMMIT_COORDINATOR, LOG_STORE, diagnose_store
from coordinator.protocols.verdict import State
from lake.aws.store_description import StoreDescription

LOG_KEYS = (("tablePath", "HASH", "S"), ("fileName", "RANGE", "S"))
MADE_BY_A_WRITER = {"billing": "provisioned", "read_capacity": 5, "write_capacity": 5}
COORDINATOR_KEYS = (("tableId", "HASH", "S"),)


def described(kind: str = LOG_STORE, **changes: object) -> dict[str, Any]:
    """A store with nothing to say about it."""
    healthy = StoreDescription(
        name="delta_log",
        arn="arn:aws:dynamodb:eu-west-1:111122223333:table/delta_log",
        status="ACTIVE",
        key_schema=LOG_KEYS if kind == LOG_STORE else COORDINATOR_KEYS,
        billing="on_demand",
        read_capacity=0,
        write_capacity=0,
        item_count=1_204,
        size_bytes=600_000,
        created_at=None,
        deletion_protection=True,
        ttl_status="ENABLED" if kind == LOG_STORE else "DISABLED",
        ttl_attribute="expireTime" if kind == LOG_STORE else None,
        point_in_time_recovery=True,
    )
    return asdict(replace(healthy, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [LOG_STORE, COMMIT_COORDINATOR])
def test_a_store_as_its_writers_need_it_is_healthy(kind: str) -> None:
    assert diagnose_store(kind, described(kind)) == (
        State.HEALTHY,
        "Its keys and its TTL are as its writers need them.",
        (),
    )


@pytest.mark.parametrize(
    ("kind", "changes", "state", "code"),
    [
        (LOG_STORE, {"key_schema": COORDINATOR_KEYS}, State.BLOCKED, "wrong-key-schema"),
        (COMMIT_COORDINATOR, {"key_schema": LOG_KEYS}, State.BLOCKED, "wrong-key-schema"),
        (LOG_STORE, {"key_schema": (LOG_KEYS[0], ("fileName", "RANGE", "N"))}, State.BLOCKED, "wrong-key-schema"),
        (LOG_STORE, {"status": "CREATING"}, State.BLOCKED, "not-active"),
        (LOG_STORE, {"ttl_status": "DISABLED", "ttl_attribute": None}, State.ATTENTION, "ttl-off"),
        (LOG_STORE, {"ttl_attribute": "commitTime"}, State.UNSAFE, "ttl-on-commit-time"),
        (LOG_STORE, {"ttl_attribute": "ttl"}, State.UNSAFE, "ttl-wrong-attribute"),
        (LOG_STORE, {"ttl_status": "ENABLING"}, State.HEALTHY, "ttl-changing"),
        (LOG_STORE, {"ttl_status": None}, State.HEALTHY, "ttl-unknown"),
        (COMMIT_COORDINATOR, {"ttl_status": "ENABLED", "ttl_attribute": "x"}, State.UNSAFE, "ttl-on-coordinator"),
        (LOG_STORE, MADE_BY_A_WRITER, State.HEALTHY, "created-by-a-writer"),
        (LOG_STORE, {"global_indexes": ("by_time",)}, State.HEALTHY, "extra-indexes"),
        (LOG_STORE, {"point_in_time_recovery": False}, State.HEALTHY, "no-point-in-time-recovery"),
        (LOG_STORE, {"deletion_protection": False}, State.HEALTHY, "no-deletion-protection"),
    ],
)
def test_each_setting_has_its_finding(kind: str, changes: dict[str, object], state: State, code: str) -> None:
    assessment = diagnose_store(kind, described(kind, **changes))

    assert (assessment.state, [one.code for one in assessment.findings]) == (state, [code])


def test_a_fact_that_could_not_be_read_is_not_checked_and_says_why() -> None:
    refused = described(ttl_status=None, unknown=(("time to live", "dynamodb:DescribeTimeToLive is denied."),))
    state, summary, findings = diagnose_store(LOG_STORE, refused)

    assert (state, summary) == (
        State.NOT_CHECKED,
        "Time to live could not be read: dynamodb:DescribeTimeToLive is denied.",
    )
    assert [one.code for one in findings] == ["not-read-time-to-live"]
