"""`levee apply FILE`."""

import pytest
from django.core.management import CommandError

from backups.models import Plan
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from tests.dashboard.declaration.builders import WHOLE

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("constraints")]

ROLE = 'role_arn = "arn:aws:iam::111111111111:role/levee"\n'
LAKE = (
    WHOLE.replace('region = "us-west-2"\n', 'region = "us-west-2"\n' + ROLE)
    + """\
inventory = "s3a://acme-manifests/acme-lake-prod/daily/"
minimum_lag_hours = 24
engine = "s3-batch"
schedule = "0 3 * * *"
objective_hours = 60
cost_ceiling_usd = 40.0
keep = { daily = 14, weekly = 8, monthly = 12 }
"""
)


def test_without_apply_the_difference_is_printed_and_nothing_is_stored(apply):
    printed = apply(LAKE)

    assert "add connection prod" in printed
    assert "Nothing is stored yet: add --apply." in printed
    assert not Connection.objects.exists()


def test_apply_stores_the_whole_file_and_audits_it(apply):
    apply(LAKE, "--apply")

    assert Plan.objects.get().vault_connection == Connection.objects.get()
    assert AuditEntry.objects.get().action == "lake.declare"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[connections.prod\n", "it is not valid TOML"),
        ("[buckets]\n", "it has an unknown section 'buckets'"),
        (LAKE.replace("schedule =", "shedule ="), "plans[0] has an unknown key 'shedule'"),
        (LAKE.replace('"0 3 * * *"', '"daily"'), "plans[0].schedule: 'daily' is not a cron line"),
        (LAKE.replace("cost_ceiling_usd = 40.0", "cost_ceiling_usd = 0"), "plans[0].cost_ceiling_usd: 0 is not above"),
        (LAKE.replace("monthly = 12", "yearly = 1"), "plans[0].keep has an unknown key 'yearly'"),
    ],
)
def test_a_mistake_is_one_sentence_and_nothing_is_stored(apply, text, sentence):
    with pytest.raises(CommandError) as refusal:
        apply(text, "--apply")

    assert sentence in str(refusal.value)
    assert not Connection.objects.exists()


def test_a_name_that_has_line_ends_makes_no_line_of_its_own(apply):
    hostile = LAKE.replace("warehouse/", "x\\nNothing to change: the declaration is stored already.\\n/", 1)

    assert len(apply(hostile).splitlines()) == len(apply(LAKE).splitlines())
