"""The pages of backups: status, plan, run; what they say in each state, and what they let whom do."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection as database
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backups import actions
from backups.actions import save_plan
from backups.models import Inventory, Plan, Run, RunState
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection
from dashboard.connections.signals import lake_emptied
from tests.backups.page_records import NOW, connection, make_copy_job, make_gaps, make_plan, make_run
from tests.builders.people import person, signed_in
from tests.dashboard.web.markup import flat

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]


@pytest.fixture(autouse=True)
def _time_stands_still(monkeypatch):
    """Ages on the pages count from the records' own now, however long the suite has been at work."""
    monkeypatch.setattr(timezone, "now", lambda: NOW)


@pytest.fixture
def viewer() -> Client:
    return signed_in(Role.VIEWER)


@pytest.fixture
def operator() -> Client:
    return signed_in(Role.OPERATOR)


def text(client: Client, address: str, **headers: str) -> str:
    """The page's words, without its marks."""
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200, address
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", flat(answer))).split())


def address(run: Run) -> str:
    return f"/backups/runs/{run.pk}/"


def test_without_a_plan_the_page_says_how_one_begins(viewer):
    said = text(viewer, "/backups/")
    assert "No plan yet" in said
    assert "[[plans]]" in said


def test_a_plan_within_its_objective_is_told_with_its_age(viewer):
    make_run(make_plan())
    said = text(viewer, "/backups/")
    assert "Every plan has copied within its objective. This counts the copying." in said
    assert "6 h old, of 36 h allowed" in said


def test_a_run_that_waits_heads_the_page_with_its_estimate(viewer):
    plan = make_plan()
    make_run(plan, age=timedelta(hours=30))
    make_run(plan, "waiting_for_approval", age=timedelta(hours=1))
    said = text(viewer, "/backups/")
    assert "lake-nightly waits for your approval. The objective is missed in" in said
    assert "would cost $86.57, above the $40.00" in said


def test_a_failed_run_and_an_old_copy_are_told_before_what_is_fine(viewer):
    make_run(make_plan("fine"))
    make_run(make_plan("late"), age=timedelta(hours=50))
    assert "late is 51 h old, past its 36 h objective." in text(viewer, "/backups/")
    make_run(make_plan("broken"), "failed", sentence="The role has expired.", age=timedelta(hours=1))
    assert "The newest run of broken failed. The role has expired." in text(viewer, "/backups/")


def test_thirty_days_are_drawn_and_told(viewer):
    plan = make_plan()
    for day in range(1, 6):
        make_run(plan, age=timedelta(days=day))
    make_run(plan, "failed", age=timedelta(days=7))
    html = flat(viewer.get("/backups/"))
    found = re.search(r'class="strip"[^>]*aria-label="([^"]*)"', html)
    assert found
    assert found[1] == "lake-nightly, 30 days: 5 copied, 1 failed, 1 without a run"


def test_the_status_page_asks_a_bounded_number_of_questions_per_plan(viewer):
    def questions() -> int:
        with CaptureQueriesContext(database) as captured:
            viewer.get("/backups/")
        return len(captured)

    for number in range(2):
        make_run(make_plan(f"plan-{number}"))
    two = questions()
    for number in range(2, 4):
        plan = make_plan(f"plan-{number}")
        for age in range(20):
            make_run(plan, age=timedelta(days=age + 1))
    assert questions() - two <= 2 * 9


def test_a_card_comes_alone_for_its_poll(viewer):
    make_run(make_plan())
    html = flat(viewer.get("/backups/plans/lake-nightly/card/"))
    assert html.lstrip().startswith('<article class="plan" id="plan-lake-nightly"')


@pytest.mark.parametrize("state", [state.value for state in RunState])
def test_a_run_can_be_read_in_every_state(viewer, state):
    run = make_run(make_plan(), state, sentence="What it does now.")
    said = text(viewer, address(run))
    assert "Cost gate" in said
    assert "s3a://acme-lake-prod/warehouse/" in said


@pytest.mark.parametrize("state", [state.value for state in RunState])
def test_only_a_run_that_goes_on_is_polled(viewer, state):
    run = make_run(make_plan(), state)
    html = flat(viewer.get(address(run)))
    is_over = state in {"complete", "complete_with_gaps", "failed", "cancelled"}
    assert ('hx-trigger="every 3s"' in html) is not is_over
    assert ("http-equiv" in html) is not is_over


def test_the_poll_brings_the_run_alone(viewer):
    run = make_run(make_plan(), "running")
    html = flat(viewer.get(address(run), headers={"HX-Request": "true"}))
    assert "<nav" not in html
    assert html.lstrip().startswith('<div id="run"')
    assert 'value="20500"' in html


def test_a_complete_run_says_that_everything_is_there(viewer):
    said = text(viewer, address(make_run(make_plan())))
    assert "412,604 of 412,604 objects are at the destination with their size and ETag." in said
    assert "$86.40" in said
    assert "estimate $86.57" in said


def test_gaps_are_told_by_cause_with_what_to_do(viewer):
    said = text(viewer, address(make_gaps(make_plan())))
    assert "412,522 of 412,604 objects are at the destination with their size and ETag; 82 are not." in said
    for word in ("NoSuchKey", "Removed by VACUUM", "SlowDown", "Worth a retry", "part-0001.parquet"):
        assert word in said


def test_what_is_left_over_can_be_taken_along(viewer):
    run = make_gaps(make_plan())
    answer = viewer.get(f"{address(run)}failures.csv")
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0].startswith("outcome,code,cause,objects")
    assert len(lines) == 3


def test_nothing_is_said_to_be_safe_before_it_is_reconciled(viewer):
    said = text(viewer, address(make_run(make_plan(), "running")))
    assert "Not known yet said once the destination has been listed" in said
    assert "are at the destination" not in said


def test_copy_jobs_carry_the_name_that_aws_knows_them_by(viewer):
    run = make_run(make_plan(), "running")
    make_copy_job(run)
    assert "0f2d7a4e-8f6d-4ab6-9d26-0b8e7a9c1d11" in text(viewer, address(run))


def test_the_estimate_is_a_bill_with_its_prices(viewer):
    said = text(viewer, address(make_run(make_plan(), "waiting_for_approval")))
    words = (
        "41,182 $0.005 per thousand requests 86.27",
        "< 0.01",
        "Once 86.57",
        "sales.orders",
        "72.8 %",
        "All others",
    )
    for word in words:
        assert word in said


def test_an_operator_approves_the_estimate_that_was_shown(operator):
    run = make_run(make_plan(), "waiting_for_approval")
    page = flat(operator.get(address(run)))
    assert 'name="estimate" value="86.57"' in page
    assert operator.post(f"{address(run)}approve/", {"estimate": "86.57"}).status_code == 302
    run.refresh_from_db()
    assert (run.state, run.approved_by_name) == ("running", "operator")


def test_another_estimate_than_was_shown_is_not_approved(operator):
    run = make_run(make_plan(), "waiting_for_approval")
    Run.objects.filter(pk=run.pk).update(estimate_usd=Decimal("500.00"))
    answer = operator.post(f"{address(run)}approve/", {"estimate": "86.57"}, follow=True)
    assert "look again before approving" in flat(answer)
    run.refresh_from_db()
    assert run.state == "waiting_for_approval"


@pytest.mark.parametrize("estimate", ["x", "NaN", "1e9999999", "-1"])
def test_an_estimate_that_is_no_sum_approves_nothing(operator, estimate):
    run = make_run(make_plan(), "waiting_for_approval")
    operator.post(f"{address(run)}approve/", {"estimate": estimate})
    run.refresh_from_db()
    assert run.state == "waiting_for_approval"


def test_an_approval_without_the_sum_that_was_shown_approves_nothing(operator):
    run = make_run(make_plan(), "waiting_for_approval")
    operator.post(f"{address(run)}approve/")
    run.refresh_from_db()
    assert run.state == "waiting_for_approval"


def test_a_rejected_run_copies_nothing(operator):
    run = make_run(make_plan(), "waiting_for_approval")
    operator.post(f"{address(run)}reject/", {"reason": "too dear"})
    run.refresh_from_db()
    assert run.state == "cancelling"


def test_a_run_under_way_is_cancelled(operator):
    run = make_run(make_plan(), "running")
    operator.post(f"{address(run)}cancel/")
    run.refresh_from_db()
    assert run.state == "cancelling"


def test_a_retry_is_a_run_of_its_own_that_names_the_first(operator):
    run = make_gaps(make_plan())
    answer = operator.post(f"{address(run)}retry/")
    again = Run.objects.get(retry_of=run)
    assert answer["Location"] == address(again)
    assert "Retries" in text(operator, address(again))
    assert "Retried by" in text(operator, address(run))


def test_a_run_without_gaps_offers_no_retry_and_refuses_one(operator):
    run = make_run(make_plan())
    assert "Try again" not in text(operator, address(run))
    answer = operator.post(f"{address(run)}retry/", follow=True)
    assert "nothing that is worth another try" in flat(answer)


@pytest.mark.parametrize("act", ["approve", "reject", "cancel", "retry"])
def test_a_viewer_is_refused_and_sees_why(viewer, act):
    run = make_gaps(make_plan()) if act == "retry" else make_run(make_plan(), "waiting_for_approval")
    assert viewer.post(f"{address(run)}{act}/").status_code == 403
    assert "Needs the operator role." in text(viewer, address(run))
    assert Run.objects.count() == 1


def test_a_run_begins_from_the_page_of_its_plan_once(operator):
    plan = make_plan()
    first = operator.post("/backups/plans/lake-nightly/run/")
    second = operator.post("/backups/plans/lake-nightly/run/")
    assert first["Location"] == second["Location"]
    assert plan.runs.count() == 1
    assert "A run of this plan is under way." in text(operator, "/backups/plans/lake-nightly/")


def test_an_admin_pauses_and_resumes_the_schedule():
    admin, plan = signed_in(Role.ADMIN), make_plan()
    for paused in (True, False):
        admin.post("/backups/plans/lake-nightly/switch/")
        plan.refresh_from_db()
        assert plan.paused is paused


def test_the_plan_shows_its_settings_its_runs_and_its_inventories(viewer):
    plan = make_plan()
    make_run(plan)
    Inventory.objects.create(
        plan=plan, name="2026-11-19T00-00Z", state="refused", reason="2 of 31 files are missing.", checked_at=NOW
    )
    said = text(viewer, "/backups/plans/lake-nightly/")
    for word in (
        "0 3 * * *",
        "$40.00",
        "none may go by itself",
        "2 of 31 files are missing.",
        "Refused",
        "read through prod",
    ):
        assert word in said


def test_runs_are_paged_by_key(viewer):
    plan = make_plan()
    for age in range(25):
        make_run(plan, age=timedelta(hours=age + 1))
    first = flat(viewer.get("/backups/plans/lake-nightly/?size=20"))
    following = re.search(r'href="(\?[^"]*after=[^"]*)"', first)
    assert following
    second = flat(viewer.get("/backups/plans/lake-nightly/" + unescape(following[1])))
    assert second.count('<tbody class="item">') >= 5
    assert "To the beginning" in second


def test_only_the_cost_gate_is_said_to_wait_for_a_person(viewer):
    run = make_run(make_plan(), "running", failed_attempts=1)
    run.stages.filter(name="copy").update(state="waiting", detail="Tried again in 2 minutes.")
    said = text(viewer, address(run))
    assert "Copy : Queued" in said
    assert "Waiting for approval" not in said


def test_a_copy_that_aws_works_at_is_running(viewer):
    run = make_run(make_plan(), "running")
    run.stages.filter(name="copy").update(state="waiting")
    assert "Copy : Running" in text(viewer, address(run))


def test_each_stage_that_is_done_says_what_its_number_counts(viewer):
    run = make_run(make_plan())
    run.stages.filter(name="inventory").update(detail="31 files of CSV, every MD5 right.")
    said = text(viewer, address(run))
    assert "objects listed. 31 files of CSV, every MD5 right." in said
    assert "412,604 at the destination, 0 left over" in said


def test_a_run_that_lacks_a_permission_leads_to_the_preflight(viewer):
    sentence = "S3 refused copy job 1: no role. Run the preflight of the plan."
    run = make_run(make_plan(), "failed", sentence=sentence, error_code="CopyJobRefused")
    run.stages.filter(name="cost_gate").update(state="failed", detail=sentence)
    html = flat(viewer.get(address(run)))
    assert html.count("S3 refused copy job 1") == 1
    assert ">S3 refused copy job 1: no role.</h2>" in html
    assert "Run the preflight of the plan. The code of the refusal is CopyJobRefused." in html
    assert 'href="/backups/plans/lake-nightly/policies/#preflight">Check the permissions</a>' in html


def test_a_plan_whose_newest_run_lacks_a_permission_leads_to_the_preflight_and_not_to_a_run(operator):
    plan = make_plan()
    make_run(plan, age=timedelta(hours=9))
    make_run(plan, "failed", sentence="S3 refused copy job 1: no role.", error_code="CopyJobRefused")
    way = 'href="/backups/plans/lake-nightly/policies/#preflight">Check the permissions</a>'
    html = flat(operator.get("/backups/plans/lake-nightly/"))
    assert "The newest run failed." in html
    assert "S3 refused copy job 1: no role." in html
    assert f'class="button" {way}' in html
    assert f'class="button primary" {way}' in html
    assert 'button primary">Run lake-nightly' not in html
    assert way in flat(operator.get("/backups/"))


def test_tables_of_a_run_have_the_names_of_the_list_and_lead_there(viewer):
    html = flat(viewer.get(address(make_run(make_plan()))))
    assert 'href="/tables/?q=sales/orders"><bdi>sales.orders</bdi></a>' in html
    assert "What was copied, the most objects first" in html
    running = flat(viewer.get(address(make_run(make_plan("other"), "running"))))
    assert "What is to be copied, the most objects first" in running


def test_a_run_that_failed_otherwise_leads_to_no_preflight(viewer):
    run = make_run(make_plan(), "failed", sentence="It overlaps.", error_code="SourceIsDestination")
    assert "Check the permissions" not in text(viewer, address(run))


def test_how_a_run_ended_is_told_in_its_own_sentence_once(viewer):
    run = make_run(make_plan(), sentence="Everything is there.")
    assert text(viewer, address(run)).count("Everything is there.") == 1


@pytest.mark.parametrize("odd", [{}, [], "text", {"largest": [7, None, {"objects": None}]}, {"largest": "x"}])
def test_documents_of_any_shape_are_survived(viewer, odd):
    run = make_run(
        make_plan(), "waiting_for_approval", tables=odd if odd is not None else {}, estimate_lines=[7, {}, {"usd": "x"}]
    )
    assert text(viewer, address(run))


def test_a_plan_of_an_unreadable_schedule_is_shown(viewer):
    make_plan(schedule="never on sunday at all")
    assert "No schedule" in text(viewer, "/backups/")


def test_an_admin_of_the_vault_alone_cannot_have_another_source_read():
    mine, theirs = connection("mine"), connection("theirs")
    make_plan("ours", connection=mine, vault_connection=mine)
    user = person(None, name="sam")
    Grant.objects.create(user=user, connection=mine, role=Role.ADMIN.value)
    values = {"name": "ours", "source": "s3a://a/", "destination": "s3a://b/", "connection": theirs.name}
    sam = Actor(name="sam", source="page", user=user, proved_at=timezone.now())
    with pytest.raises(NotAllowed):
        save_plan(sam, {**values, "vault_connection": "mine"}, Plan.objects.get())


def test_actions_are_what_the_pages_call(monkeypatch, operator):
    called: list[str] = []
    for name in ("approve", "reject", "cancel"):
        monkeypatch.setattr(actions, name, lambda *_, name=name: called.append(name))
    run = make_run(make_plan(), "waiting_for_approval")
    for name in ("approve", "reject", "cancel"):
        operator.post(f"{address(run)}{name}/", {"estimate": "86.57"})
    assert called == ["approve", "reject", "cancel"]
    assert Plan.objects.count() == 1


def test_copies_in_a_vault_that_the_sandbox_has_emptied_have_no_age() -> None:
    own = make_plan("own", vault_connection=connection("vault"))
    namesake = make_plan("namesake", vault_connection=connection("sandbox"))
    kept, of_namesake = make_run(own), make_run(namesake)
    lake_emptied.send(None, connection="sandbox")
    assert list(namesake.runs.copies()) == [of_namesake]

    Connection.objects.filter(name="sandbox").update(endpoint_url="http://127.0.0.1:5005")
    gone = of_namesake
    lake_emptied.send(None, connection="sandbox")

    assert list(own.runs.copies()) == [kept]
    assert not namesake.runs.copies().exists()
    gone.refresh_from_db()
    assert (gone.state, gone.sentence) == ("cancelled", "The sandbox was started again, with an empty vault.")


def test_a_first_run_under_way_is_not_past_its_objective(viewer):
    make_run(make_plan(), "running", age=timedelta(hours=1))
    said = text(viewer, "/backups/")
    assert "Past objective 0 1 without a copy yet" in said
    assert "has no copy yet" in said


def test_a_plan_that_never_made_a_copy_is_past_its_objective_once_that_time_is_over(viewer):
    run = make_run(make_plan(), "failed", age=timedelta(hours=1))
    Run.objects.filter(pk=run.pk).update(created_at=NOW - timedelta(hours=37), state="cancelled")
    said = text(viewer, "/backups/")
    assert "Past objective 1" in said
    assert "has no copy, and its 36 h objective has passed." in said


def test_a_run_runs_since_the_moment_at_which_it_began(viewer):
    run = make_run(make_plan(), "running", started_at=NOW - timedelta(minutes=10))
    Run.objects.filter(pk=run.pk).update(created_at=NOW - timedelta(minutes=12))
    assert f"Running since {NOW - timedelta(minutes=10):%H:%M} UTC" in text(viewer, "/backups/")
