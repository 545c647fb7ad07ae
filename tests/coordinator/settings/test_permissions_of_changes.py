"""What a change of a store or a bucket really sends is in the policy of its feature, and nothing in it is to spare."""

import pytest

from coordinator.settings.iam_features import feature_policies
from coordinator.settings.iam_names import names_of
from coordinator.settings.requests import (
    Capacity,
    ChangeCapacity,
    ChangeProtection,
    ChangeRecovery,
    CreateStore,
    EnableTtl,
    SetMultipartRule,
    SetTempRule,
)
from tests.iam.evaluating import Asked, actions_of, allows, refused, without
from tests.iam.levees_requests import Noted
from tests.iam.recording import ACCOUNT, OWN


@pytest.fixture
def noted(console, monkeypatch) -> Noted:
    return Noted(console.connection.region).install(monkeypatch)


def policy(console, feature: str, new_stores: str = "delta_") -> dict:
    names = names_of(console.connection, ACCOUNT, new_stores)
    return {one.feature: one.document for one in feature_policies(names)}[feature]


def assert_exact(document: dict, observe: dict, asked: list[Asked]) -> None:
    assert [str(one) for one in asked if not allows(document, one) and not allows(observe, one)] == []
    own = [one for one in asked if one.action in actions_of(document)]  # the rest its job reads as observing does
    assert refused(document, own) == []
    assert {one for one in actions_of(document) if not refused(without(document, one), own)} == set()


def test_stores_are_changed_with_the_policy_of_it(ready, noted):
    store = ready.lake.log_store
    noted.forget()

    changes = (ChangeCapacity(store, Capacity(5, 5)), ChangeProtection(store, on=True), ChangeRecovery(store, on=True))
    for change in (*changes, EnableTtl(store)):
        assert ready.applied(change).state == "succeeded"

    assert_exact(policy(ready, "change-stores"), policy(ready, "observe"), noted.asked)


def test_stores_are_created_with_the_policy_of_it_and_no_other_name_is_touched(console, noted):
    console.observe()
    noted.forget()
    made = CreateStore("new_log", capacity=Capacity(), tags=(("team", "lake"),))

    assert console.applied(made).state == "succeeded"

    document = policy(console, "create-stores", "new_")
    # DynamoDB asks for it where CreateTable has tags (Service Authorization Reference).
    region = console.connection.region
    tagged = Asked("dynamodb:TagResource", f"arn:aws:dynamodb:{region}:{ACCOUNT}:table/new_log", OWN)
    assert_exact(document, policy(console, "observe"), [*noted.asked, tagged])
    strangers = f"arn:aws:dynamodb:{region}:{ACCOUNT}:table/customers"
    assert not any(allows(document, Asked(action, strangers, OWN)) for action in actions_of(document))


def test_rules_are_changed_with_the_policy_of_it(ready, noted):
    bucket = ready.lake.bucket
    noted.forget()

    for change in (SetMultipartRule(bucket), SetTempRule(bucket, "sales/orders")):
        assert ready.applied(change).state == "succeeded"

    assert_exact(policy(ready, "change-lifecycle"), policy(ready, "observe"), noted.asked)


def test_a_sweep_needs_the_policy_of_it(swept, lately, noted):
    noted.forget()

    assert swept.applied(lately).state == "succeeded"

    assert_exact(policy(swept, "sweep"), policy(swept, "observe"), noted.asked)
