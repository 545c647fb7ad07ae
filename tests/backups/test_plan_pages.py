"""Adding and editing plans, their policies, and the preflight's list of ticks."""

import re
from html import unescape

import pytest
from django.test import Client

from backups.models import Plan
from backups.policies.preflight import PREFLIGHT_KIND
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job, JobState
from tests.backups.page_records import NOW, connection, make_plan
from tests.builders.people import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("JSON")]
FORM = {
    "name": "lake-nightly",
    "connection": "prod",
    "vault_connection": "vault",
    "source": "s3a://acme-lake-prod/warehouse/",
    "destination": "s3a://acme-vault/warehouse/",
    "inventory": "",
    "minimum_lag_hours": "24",
    "engine": "s3-batch",
    "selection": "incremental",
    "taken": "all",
    "window_hours": "168",
    "schedule": "0 3 * * *",
    "objective_hours": "36",
    "cost_ceiling_usd": "40.5",
    "daily": "14",
    "weekly": "",
    "monthly": "0",
    "storage_class": "GLACIER_IR",
    "notify": "a@acme.example, b@acme.example",
}
PAGE = "/backups/plans/lake-nightly/"


@pytest.fixture
def admin() -> Client:
    connection(), connection("vault")
    return signed_in(Role.ADMIN)


def test_a_plan_is_added_and_audited(admin):
    assert admin.get("/backups/new/").status_code == 200
    answer = admin.post("/backups/new/", FORM)
    assert answer["Location"] == PAGE
    plan = Plan.objects.get()
    assert (plan.keep, plan.notify) == ({"daily": 14}, ["a@acme.example", "b@acme.example"])
    assert (str(plan.cost_ceiling_usd), plan.storage_class, plan.files) == ("40.50", "GLACIER_IR", "all")
    entry = AuditEntry.objects.get(action="backup.plan")
    assert (entry.target_label, entry.after["schedule"]) == ("lake-nightly", "0 3 * * *")


def test_the_edit_form_holds_what_is_stored_and_saving_it_changes_nothing(admin):
    admin.post("/backups/new/", FORM)
    html = admin.get(f"{PAGE}edit/").content.decode()
    found = {name: unescape(value) for name, value in re.findall(r'<input[^>]*name="(\w+)" value="([^"]*)"', html)}
    assert (found["schedule"], found["daily"], found["notify"]) == ("0 3 * * *", "14", FORM["notify"])
    before = Plan.objects.values().get()
    assert admin.post(f"{PAGE}edit/", {**FORM, "cost_ceiling_usd": found["cost_ceiling_usd"]}).status_code == 302
    assert Plan.objects.values().get() == before
    assert AuditEntry.objects.filter(action="backup.plan").count() == 1


def test_an_edit_is_audited_with_what_was_before_and_renames_nothing(admin):
    make_plan()
    taken = admin.post("/backups/new/", FORM)
    assert taken.status_code == 422
    assert "is called 'lake-nightly' already" in unescape(taken.content.decode())
    admin.post(f"{PAGE}edit/", {**FORM, "objective_hours": "72", "name": "other"})
    entry = AuditEntry.objects.get(action="backup.plan")
    assert (entry.before["objective_hours"], entry.after["objective_hours"]) == (36, 72)
    assert Plan.objects.get().name == "lake-nightly"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "Lake Nightly"}, "is not 1 to 64 of a-z"),
        ({"source": "acme"}, "is not a place in S3"),
        ({"destination": ""}, "This field is required"),
        ({"schedule": "61 3 * * *"}, "bad minute"),
        ({"objective_hours": "0"}, "greater than or equal to 1"),
        ({"objective_hours": "36", "inventory": "s3a://lists/daily/"}, "36 hours cannot be kept."),
        ({"encryption_key": "key"}, "is not an ARN of kms"),
        ({"notify": "nobody"}, "is not a mail address"),
        ({"engine": "rsync"}, "not one of the available choices"),
        ({"source": "s3a://b/\0"}, "Null characters"),
    ],
)
def test_what_cannot_be_read_is_said_at_its_field_and_kept(admin, change, said):
    answer = admin.post("/backups/new/", {**FORM, **change})
    html = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert said in html
    assert 'aria-invalid="true"' in html
    assert not Plan.objects.exists()


@pytest.mark.parametrize(("form", "word"), [("json", '"Version"'), ("cli", "aws iam")])
def test_policies_are_shown_for_the_real_names_in_each_form(form, word):
    make_plan()
    html = unescape(signed_in(Role.VIEWER).get(f"{PAGE}policies/?form={form}").content.decode())
    assert word in html
    names = ("acme-lake-prod", "acme-vault", "acme-manifests", "levee-batch-lake-nightly", "SOURCE_ACCOUNT_ID")
    for said in (*names, "add the statements to what is there"):
        assert said in html
    Connection.objects.filter(name="prod").update(role_arn="arn:aws:iam::111111111111:role/levee")
    Plan.objects.update(role_arn="arn:aws:iam::222222222222:role/batch/copies")
    html = signed_in(Role.VIEWER).get(f"{PAGE}policies/?form={form}").content.decode()
    assert "ACCOUNT_ID" not in html
    assert "arn:aws:iam::222222222222:role/batch/copies" in html


def test_an_operator_has_the_permissions_checked():
    plan = make_plan()
    answer = signed_in(Role.OPERATOR).post(f"{PAGE}preflight/")
    assert answer["Location"] == f"{PAGE}policies/"
    job = Job.objects.get(kind=PREFLIGHT_KIND)
    assert (job.target_type, job.target_id, job.params) == ("plan", str(plan.pk), {"plan": plan.pk})


def checked(plan: Plan, *checks: dict[str, str]) -> Job:
    return Job.objects.create(
        kind=PREFLIGHT_KIND,
        title="Check",
        queue="aws",
        state=JobState.SUCCEEDED,
        target_type="plan",
        target_id=str(plan.pk),
        requested_by_name="admin",
        message="1 of 3 permissions are there, 1 missing.",
        result={"checked_at": NOW.isoformat(), "checks": list(checks)},
        finished_at=NOW,
    )


def test_ticks_show_what_is_missing_first():
    plan = make_plan()
    base = {"policy": "levee-vault", "account": "vault", "who": "Levee", "resource": "arn:aws:s3:::acme-vault"}
    checked(
        plan,
        {**base, "action": "s3:ListBucket", "held": "yes", "how": "simulated", "reason": ""},
        {**base, "action": "s3:CreateJob", "held": "unknown", "how": "", "reason": "IAM does not simulate it."},
        {**base, "action": "s3:PutObject", "held": "no", "how": "simulated", "reason": "AccessDenied <b>"},
    )
    html = signed_in(Role.VIEWER).get(f"{PAGE}policies/").content.decode()
    ticks = html[html.index('class="ticks"') :]
    assert ticks.index("s3:PutObject") < ticks.index("s3:CreateJob") < ticks.index("s3:ListBucket")
    assert "Missing, simulated by IAM" in ticks
    assert "AccessDenied &lt;b&gt;" in ticks
    assert "1 of 3 permissions are there" in signed_in(Role.VIEWER).get(PAGE).content.decode()


def test_what_restoring_lacks_stands_apart_with_all_actions_of_a_resource_together():
    plan = make_plan()
    base = {"policy": "levee-restore", "account": "vault", "who": "Levee", "resource": "arn:r", "reason": "", "how": ""}
    archives = {**base, "action": "s3:Archive", "held": "no", "purpose": "to restore what is archived"}
    restoring = {**base, "purpose": "to restore to a new path"}
    lacks = [{**restoring, "action": f"s3:{name}", "held": "no"} for name in ("Get", "Put")]
    has = {**restoring, "action": "s3:Delete", "held": "yes"}
    checked(plan, archives, *lacks, has, {**base, "action": "s3:List", "held": "yes"})

    html = signed_in(Role.VIEWER).get(f"{PAGE}policies/").content.decode()

    back_up, archived, restore = html.partition("<h3>To back up</h3>")[2].split("<h3>To restore")[:3]
    assert "s3:List" in back_up
    assert "Missing" not in back_up + archived
    assert "Not granted" in archived
    assert "<code>s3:Get</code>, <code>s3:Put</code>" in restore
    assert "Missing" not in restore  # which is no fault, before it is needed
    assert "<code>s3:Delete</code>" in restore.partition("1 held")[2]


def test_the_poll_brings_the_ticks_alone_until_the_check_has_ended():
    job = checked(make_plan())
    viewer = signed_in(Role.VIEWER)
    ended = viewer.get(f"{PAGE}policies/", headers={"HX-Request": "true"}).content.decode()
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, finished_at=None)
    going = viewer.get(f"{PAGE}policies/", headers={"HX-Request": "true"}).content.decode()
    assert "<nav" not in ended + going
    assert ("every 2s" in ended, "every 2s" in going) == (False, True)
