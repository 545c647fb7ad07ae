"""The pages of backups: status, plan, run; what they say in each state, and what they let whom do."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection as database
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backups.actions import save_plan
from backups.models import Inventory, Plan, RestorePoint, Run, RunState
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
HOUR = timedelta(hours=1)
PLAN = "/backups/plans/lake-nightly/"
PREFLIGHT = f'href="{PLAN}policies/#preflight">Check the permissions</a>'
NO_ROLE = "S3 refused copy job 1: no role. Run the preflight of the plan."


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


def text(client: Client, address: str) -> str:
    """The page's words, without its marks."""
    answer = client.get(address)
    assert answer.status_code == 200, address
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", flat(answer))).split())


def address(run: Run) -> str:
    return f"/backups/runs/{run.pk}/"


def late() -> None:
    make_run(make_plan("fine"))
    make_run(make_plan("late"), age=50 * HOUR)


def failed() -> None:
    late()
    make_run(make_plan("broken"), "failed", sentence="The role has expired.", age=HOUR)


def waiting() -> None:
    plan = make_plan()
    make_run(plan, age=30 * HOUR)
    make_run(plan, "waiting_for_approval", age=HOUR)


def never_copied() -> None:
    run = make_run(make_plan(), "failed", age=HOUR)
    Run.objects.filter(pk=run.pk).update(created_at=NOW - 37 * HOUR, state="cancelled")


def of_unknown_age() -> None:
    points = {"proven": 2, "unprovable": 1}
    tables = {"count": 3, "largest": [], "points": points}
    make_run(make_plan(), "complete_with_gaps", holds_until=None, not_known_since=NOW - HOUR, tables=tables)


def under_way() -> None:
    run = make_run(make_plan(), "running", started_at=NOW - timedelta(minutes=10))
    Run.objects.filter(pk=run.pk).update(created_at=NOW - timedelta(minutes=12))


STATUS: dict[Callable[[], object], list[str]] = {
    lambda: None: ["No plan yet", "[[plans]]"],
    lambda: make_run(make_plan()): [
        "Every plan is within its objective. When copied, 3 of 3 tables could be restored within the objective",
        "6 h of 36 h",
        "Next run",
    ],
    waiting: [
        "lake-nightly waits for your approval. The objective is missed in",
        "would cost $86.57, above the $40.00",
    ],
    lambda: make_run(make_plan(), holds_until=None): [
        "It is not known of every table of lake-nightly",
        "Not known lake-nightly Not known",
    ],
    late: ["late is up to 51 h behind, past its 36 h objective."],
    of_unknown_age: [
        "It is not known of every table of lake-nightly how far behind it is. Next run",
        "Not known of 36 h",
    ],
    lambda: make_run(make_plan(), is_proof=False): ["lake-nightly has no proven copy yet."],
    failed: ["The newest run of broken failed at the stage copy. The role has expired."],
    never_copied: ["Past objective lake-nightly", "has no proven copy, and its 36 h objective has passed."],
    under_way: [
        "Running lake-nightly Nothing proven yet",
        "has no proven copy yet",
        f"Running since {NOW - timedelta(minutes=10):%H:%M} UTC",
    ],
    lambda: make_run(make_plan(), "running", started_at=None): ["Not begun yet"],
    lambda: make_run(make_plan(), "failed", sentence="No.", age=HOUR): [
        "The newest run failed Not known lake-nightly: No. See the run"
    ],
    lambda: make_plan(schedule="never on sunday at all"): ["No schedule"],
}


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        ({}, "No table is more than 6 h behind its source; 36 h are allowed."),
        ({"age": 39 * HOUR}, "A table may be up to 40 h behind its source, past the 36 h objective."),
        ({"holds_until": None, "not_known_since": NOW}, "It is not known of every table how far behind it is."),
        ({"tables": {"points": {}}}, "There was no table to prove; what was copied is 6 h old, of 36 h allowed."),
        ({"is_proof": False}, "This plan has no proven copy yet."),
    ],
)
def test_a_plan_is_headed_by_how_far_behind_its_tables_are(viewer, changes, headline):
    make_run(make_plan(), **changes)
    assert headline in text(viewer, PLAN)


@pytest.mark.parametrize(("prepare", "words"), STATUS.items())
def test_the_status_page_is_headed_by_what_needs_a_person_most(viewer, prepare, words):
    prepare()
    said = text(viewer, "/backups/")
    assert [word for word in words if word not in said] == []


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


def test_polls_bring_the_card_and_the_run_alone(viewer):
    run = make_run(make_plan(), "running")
    card = flat(viewer.get(f"{PLAN}card/"))
    assert card.lstrip().startswith('<article class="plan" id="plan-lake-nightly"')
    part = flat(viewer.get(address(run), headers={"HX-Request": "true"}))
    assert "<nav" not in part
    assert part.lstrip().startswith('<div id="run"')
    assert 'value="20500"' in part


@pytest.mark.parametrize("state", RunState.values)
def test_a_run_can_be_read_in_every_state_and_is_polled_while_it_goes_on(viewer, state):
    run = make_run(make_plan(), state, sentence="What it does now.")
    html = flat(viewer.get(address(run)))
    assert "Cost gate" in html
    assert "s3a://acme-lake-prod/warehouse/" in html
    is_over = state in {"complete", "complete_with_gaps", "failed", "cancelled"}
    assert ('hx-trigger="every 3s"' in html, "http-equiv" in html) == (not is_over, not is_over)


def in_stage(of_run: str, stage: str, /, attempts: int = 0, **changes: object) -> Callable[[], Run]:
    def prepare() -> Run:
        run = make_run(make_plan(), of_run, failed_attempts=attempts)
        run.stages.filter(name=stage).update(**changes)
        return run

    return prepare


def copying() -> Run:
    run = make_run(make_plan(), "running")
    make_copy_job(run)
    return run


LIVE = {
    "left_out": {"objects": 1234, "bytes": 5_000_000},
    "unread": {"count": 7, "examples": [{"table": "sales/orders", "reason": "The log lacks version 4."}]},
    "references": {"inside": 3, "outside": 2, "examples": [{"table": "sales/clone", "inside": 3, "outside": 2}]},
}
RUNS: list[tuple[Callable[[], Run], list[str], list[str]]] = [
    (
        lambda: make_run(make_plan()),
        [
            "412,604 of 412,604 objects are at the destination with their size and ETag or checksum.",
            "$86.40 estimate $86.57",
            "What was copied, the most objects first",
            "412,604 at the destination, 0 left over",
        ],
        ["Try again", "Left out"],
    ),
    (
        lambda: make_gaps(make_plan()),
        [
            "412,522 of 412,604 objects are at the destination. 82 are not: see the causes.",
            *("NoSuchKey", "Removed by VACUUM", "SlowDown", "Worth a retry", "part-0001.parquet"),
            "Needs the operator role.",
        ],
        [],
    ),
    (
        copying,
        [
            "Not known yet said once the destination has been listed",
            "What is to be copied, the most objects first",
            "Active Copy S3 Batch Operations 20,500 3 41,182 0f2d7a4e-8f6d-4ab6-9d26-0b8e7a9c1d11",
        ],
        ["are at the destination"],
    ),
    (
        lambda: make_run(make_plan(), "waiting_for_approval"),
        [
            "41,182 $0.005 per thousand requests 86.27",
            *("< 0.01", "Once 86.57", "sales.orders", "72.8 %", "All others", "Needs the operator role."),
        ],
        [],
    ),
    (
        in_stage("running", "copy", attempts=1, state="waiting", detail="Tried again in 2 minutes."),
        ["Copy : Queued", "Tried again in 2 minutes."],
        ["Waiting for approval"],
    ),
    (in_stage("running", "copy", state="waiting"), ["Copy : Running"], []),
    (
        in_stage("complete", "inventory", detail="31 files of CSV, every MD5 right."),
        ["412,604 objects listed. 31 files of CSV, every MD5 right."],
        [],
    ),
    (
        lambda: make_run(make_plan(), "failed", sentence=NO_ROLE, error_code="CopyJobRefused"),
        [
            "S3 refused copy job 1: no role. Run the preflight of the plan. It failed at the stage copy. The code of",
            "Check the permissions",
        ],
        [],
    ),
    (
        lambda: make_run(make_plan(), "failed", sentence="It overlaps.", error_code="SourceIsDestination"),
        ["It overlaps."],
        ["Check the permissions"],
    ),
    (
        lambda: make_run(make_plan(), tables=LIVE),
        [
            *("Left out 1,234", "sales/orders The log lacks version 4.", "And 6 more."),
            *("3 in the bucket, copied with it 2 elsewhere, not copied", "Named by sales/clone"),
        ],
        [],
    ),
]


@pytest.mark.parametrize(("prepare", "words", "absent"), RUNS)
def test_a_run_says_what_is_known_of_it_and_no_more(viewer, prepare, words, absent):
    said = text(viewer, address(prepare()))
    assert [word for word in words if word not in said] == []
    assert [word for word in absent if word in said] == []


def test_a_card_has_the_numbers_of_its_runs_and_no_estimate_counts_as_spent(viewer):
    plan = make_plan()
    make_run(plan, "failed", age=HOUR, finished_at=NOW)
    assert "Spent this month Not known 1 run ended before the cost was counted" in text(viewer, PLAN)
    run = make_run(plan, finished_at=NOW)
    said = text(viewer, PLAN)
    card, runs = said[: said.index("Newest first")], said[said.index("Newest first") :]
    assert [
        one for one in ("412,604 of 412,604 objects", "41,182 objects", "$86.40 1 run ended before") if one not in card
    ] == []
    assert [one for one in ("412,604 41,182 0 $86.40", "estimate $86.57") if one not in runs] == []
    assert 'href="/tables/?q=sales/orders"><bdi>sales.orders' in flat(viewer.get(address(run)))


def test_a_failed_stage_does_not_repeat_the_sentence_of_its_run(viewer):
    run = make_run(make_plan(), "failed", sentence=NO_ROLE, error_code="CopyJobRefused")
    run.stages.filter(name="cost_gate").update(state="failed", detail=NO_ROLE)
    assert text(viewer, address(run)).count("S3 refused copy job 1") == 1


def test_what_is_left_over_can_be_taken_along(viewer):
    answer = viewer.get(f"{address(make_gaps(make_plan()))}failures.csv")
    lines = answer.content.decode().splitlines()
    assert lines[0] == "outcome,code,cause,objects,bytes,tables,worth_retry,examples"
    assert len(lines) == 3


def test_a_plan_whose_newest_run_lacks_a_permission_leads_to_the_preflight_and_not_to_a_run(operator):
    plan = make_plan()
    make_run(plan, age=9 * HOUR)
    make_run(plan, "failed", sentence="S3 refused copy job 1: no role.", error_code="CopyJobRefused")
    html = flat(operator.get(PLAN))
    assert "The newest run failed at the stage copy." in html
    assert html.count("S3 refused copy job 1: no role.") == 1
    assert f'class="button primary" {PREFLIGHT}' in html
    assert 'button primary">Run lake-nightly' not in html
    assert PREFLIGHT in flat(operator.get("/backups/"))


def test_an_operator_approves_the_estimate_that_was_shown(operator):
    run = make_run(make_plan(), "waiting_for_approval")
    assert 'name="estimate" value="86.57"' in flat(operator.get(address(run)))
    assert operator.post(f"{address(run)}approve/", {"estimate": "86.57"}).status_code == 302
    run.refresh_from_db()
    assert (run.state, run.approved_by_name) == ("running", "operator")


@pytest.mark.parametrize("sent", [{"estimate": "86.56"}, {"estimate": "1e9999999"}, {}])
def test_another_estimate_or_none_approves_nothing(operator, sent):
    run = make_run(make_plan(), "waiting_for_approval")
    answer = operator.post(f"{address(run)}approve/", sent, follow=True)
    assert re.search("look again before approving|approve it again", flat(answer))
    run.refresh_from_db()
    assert run.state == "waiting_for_approval"


@pytest.mark.parametrize(("state", "act"), [("waiting_for_approval", "reject"), ("running", "cancel")])
def test_a_run_is_stopped(operator, state, act):
    run = make_run(make_plan(), state)
    operator.post(f"{address(run)}{act}/", {"reason": "too dear"})
    run.refresh_from_db()
    assert run.state == "cancelling"
    assert "It is being cancelled." in text(operator, address(run))


def test_a_retry_is_a_run_of_its_own_that_names_the_first(operator):
    run = make_gaps(make_plan())
    answer = operator.post(f"{address(run)}retry/")
    again = Run.objects.get(retry_of=run)
    assert answer["Location"] == address(again)
    assert "Retries" in text(operator, address(again))
    assert "Retried by" in text(operator, address(run))


def test_a_retry_of_an_older_snapshot_than_the_one_that_is_proven_is_refused(operator):
    plan = make_plan(destination="s3a://acme-vault-{date}/")
    older = make_gaps(plan, age=30 * HOUR, destination="s3a://acme-vault-2026-11-19/")
    newer = make_run(plan, destination="s3a://acme-vault-2026-11-20/")
    assert "at s3a://acme-vault-2026-11-20/: start a new run" in flat(
        operator.post(f"{address(older)}retry/", follow=True)
    )
    assert not Run.objects.exclude(retry_of=None).exists()

    Run.objects.filter(pk=newer.pk).update(destination=older.destination)
    operator.post(f"{address(older)}retry/")
    assert Run.objects.filter(retry_of=older).exists()


def test_a_run_begins_from_the_page_of_its_plan_once(operator):
    plan = make_plan()
    first, second = (operator.post(f"{PLAN}run/")["Location"] for _ in range(2))
    assert first == second == address(plan.runs.get())
    assert "A run of this plan is under way." in text(operator, PLAN)


def test_an_admin_pauses_and_resumes_the_schedule():
    admin, plan = signed_in(Role.ADMIN), make_plan()
    for paused in (True, False):
        admin.post(f"{PLAN}switch/")
        plan.refresh_from_db()
        assert plan.paused is paused


def test_the_plan_shows_its_settings_its_runs_and_its_inventories(viewer):
    plan = make_plan(notify=["a@acme.example", "b@acme.example"], encryption_key="arn:aws:kms:key/1")
    make_run(plan)
    Inventory.objects.create(
        plan=plan, name="2026-11-19T00-00Z", state="refused", reason="2 of 31 files are missing.", checked_at=NOW
    )
    said = text(viewer, PLAN)
    for word in (
        "Schedule 0 3 * * * UTC",
        "Cost ceiling $40.00",
        "Keep Everything copies in a pool share objects: none can be deleted alone",
        "2 of 31 files are missing.",
        "Refused",
        "read through prod",
        "Takes What the destination lacks all files; the log always",
        "Key of the copies arn:aws:kms:key/1",
        "Notifies a@acme.example, b@acme.example",
    ):
        assert word in said


def test_runs_are_paged_by_key(viewer):
    plan = make_plan()
    for age in range(25):
        make_run(plan, age=(age + 1) * HOUR)
    first = flat(viewer.get(f"{PLAN}?size=20"))
    following = re.search(r'href="(\?[^"]*after=[^"]*)"', first)
    assert following
    second = flat(viewer.get(PLAN + unescape(following[1])))
    assert second.count('<tbody class="item">') >= 5
    assert "To the beginning" in second


def test_an_admin_of_the_vault_alone_cannot_have_another_source_read():
    mine, theirs = connection("mine"), connection("theirs")
    make_plan("ours", connection=mine, vault_connection=mine)
    user = person(None, name="sam")
    Grant.objects.create(user=user, connection=mine, role=Role.ADMIN.value)
    values = {"name": "ours", "source": "s3a://a/", "destination": "s3a://b/", "connection": theirs.name}
    sam = Actor(name="sam", source="page", user=user, proved_at=timezone.now())
    with pytest.raises(NotAllowed):
        save_plan(sam, {**values, "vault_connection": "mine"}, Plan.objects.get())


def test_copies_in_a_vault_that_the_sandbox_has_emptied_have_no_age() -> None:
    own = make_plan("own", vault_connection=connection("vault"))
    namesake = make_plan("namesake", vault_connection=connection("sandbox"))
    kept, gone = make_run(own), make_run(namesake)
    for run in (kept, gone):
        told = {"table": "s3a://a/t", "state": "proven", "anchored": True, "proven_at": timezone.now()}
        RestorePoint.objects.create(plan=run.plan, run=run, **told)
    lake_emptied.send(None, connection="sandbox")
    assert list(namesake.runs.copies()) == [gone]

    Connection.objects.filter(name="sandbox").update(endpoint_url="http://127.0.0.1:5005")
    lake_emptied.send(None, connection="sandbox")

    assert list(own.runs.copies()) == [kept]
    assert not namesake.runs.copies().exists()
    assert not namesake.runs.proofs().exists()
    assert [point.run for point in RestorePoint.objects.all()] == [kept]
    gone.refresh_from_db()
    assert (gone.state, gone.sentence) == ("cancelled", "The sandbox was started again, with an empty vault.")
