"""What `levee apply` takes, refuses and stores of backup plans."""

import re

import pytest

from backups.models import Plan
from dashboard.declaration.declaring import difference, store
from dashboard.declaration.differences import read_declaration
from dashboard.declaration.reading import DeclarationError

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("constraints")]

LISTED = {"inventory": "s3a://lists/lake/daily/"}
PLAN = {"name": "nightly", "connection": "prod", "source": "s3a://lake/x/", "destination": "s3a://vault/"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": "s3a://lake/\0"}, "plans[0].source holds a NUL character"),
        ({"source": "s3a://lake/" + "k" * 2_000}, "plans[0].source has 2,011 characters"),
        ({"minimum_lag_hours": 10**20}, "plans[0].minimum_lag_hours is 100000000000000000000: write a number up to"),
        ({"cost_ceiling_usd": float("nan")}, "plans[0].cost_ceiling_usd is nan"),
        ({"cost_ceiling_usd": float("inf")}, "plans[0].cost_ceiling_usd is inf"),
        ({"cost_ceiling_usd": 0.001}, "plans[0].cost_ceiling_usd: 0.001 has parts of a cent."),
        ({"cost_ceiling_usd": 1e12}, "plans[0].cost_ceiling_usd is 1000000000000.0"),
        ({"schedule": "1" * 100 + " * * * *"}, "plans[0].schedule has 108 characters"),
        ({"keep": {"daily": 10**20}}, "plans[0].keep.daily is 100000000000000000000"),
        ({"notify": ["a\0@acme.example"]}, "plans[0].notify: 'a\\x00@acme.example' is not a mail address."),
        ({"vault_connection": "vault"}, "plans[0].vault_connection names 'vault', which is not declared"),
    ],
)
def test_a_plan_that_no_row_can_hold_is_refused(changes, sentence):
    with pytest.raises(DeclarationError, match="^" + re.escape(sentence)):
        read_declaration(document(PLAN | changes))


def test_a_plan_declared_twice_is_refused():
    with pytest.raises(DeclarationError, match=re.escape("plans[1] declares the same plan as plans[0].")):
        read_declaration(document(PLAN, PLAN))


def test_what_is_taken_is_stored_and_then_there_is_no_difference():
    declared = read_declaration(document(PLAN | {"cost_ceiling_usd": 19.99, "keep": {"daily": 7}}))

    store(declared)

    assert difference(declared).changes == ()


@pytest.mark.parametrize(
    ("changes", "hours"),
    [
        ({}, 36),
        (LISTED, 60),
        (LISTED | {"minimum_lag_hours": 0}, 36),
        ({"objective_hours": 2}, 2),
        ({"schedule": "@weekly"}, 169),
        (LISTED | {"schedule": "@weekly"}, 204),
        (LISTED | {"schedule": "@hourly"}, 60),
    ],
)
def test_an_objective_that_is_not_named_is_one_that_can_be_kept(changes, hours):
    store(read_declaration(document(PLAN | changes)))

    assert Plan.objects.get().objective_hours == hours


def test_an_objective_that_an_inventory_cannot_keep_is_refused():
    sentence = "plans[0].objective_hours: 59 hours cannot be kept."
    with pytest.raises(DeclarationError, match="^" + re.escape(sentence)):
        store(read_declaration(document(PLAN | LISTED | {"objective_hours": 59})))
    store(read_declaration(document(PLAN | LISTED | {"objective_hours": 60})))


def test_an_objective_that_the_schedule_cannot_keep_is_refused():
    sentence = (
        "24 hours cannot be kept. Up to 24 pass between two runs of its schedule, and copying takes up to 1: allow 25"
    )
    daily = PLAN | {"schedule": "0 3 * * *"}
    with pytest.raises(DeclarationError, match=re.escape(sentence)):
        store(read_declaration(document(daily | {"objective_hours": 24})))
    store(read_declaration(document(daily | {"objective_hours": 25})))
    with pytest.raises(DeclarationError, match="168 pass between two runs"):
        store(read_declaration(document(daily | {"objective_hours": 25, "schedule": "@weekly"})))


def test_a_stored_objective_that_cannot_be_kept_stays_until_what_it_rests_on_is_changed():
    late = PLAN | LISTED | {"minimum_lag_hours": 0, "objective_hours": 36}
    store(read_declaration(document(late)))
    Plan.objects.update(minimum_lag_hours=24)
    store(read_declaration(document(late | {"minimum_lag_hours": 24, "paused": True})))
    assert Plan.objects.get().paused
    with pytest.raises(DeclarationError, match="36 hours cannot be kept"):
        store(read_declaration(document(late | {"minimum_lag_hours": 25, "paused": True})))


def document(*plans):
    return {"connections": {"prod": {"region": "us-west-2"}}, "plans": list(plans)}
