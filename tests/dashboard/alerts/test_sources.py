"""What Levee sees wrong with itself."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.alerts import own_health
from dashboard.alerts.matching import ensure_default_rules
from dashboard.alerts.models import Rule
from dashboard.alerts.own_health import failed_jobs, long_queues, refused_passwords, silent_workers, stuck_messages
from dashboard.alerts.problems import Problem, kinds
from dashboard.audit.log import record
from dashboard.jobs.beats import note_beat
from tests.builders.people import person
from tests.dashboard.alerts.test_mail import message
from tests.dashboard.alerts.week import MONDAY
from tests.dashboard.jobs.builders import job

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
MINUTE = timedelta(minutes=1)


def test_a_worker_that_never_beat_counts_from_the_first_that_did() -> None:
    note_beat("default", "default@here", MONDAY - 7 * MINUTE)
    assert {problem.facts[0][1]: problem.measure for problem in silent_workers(MONDAY)}["spark"] == 7


def test_jobs_that_wait_are_counted() -> None:
    for _ in range(3):
        job("queued")
    (problem,) = long_queues(timezone.now() + 3 * MINUTE)
    assert problem.measure == 3
    assert list(long_queues(timezone.now())) == []


def test_messages_that_wait_are_measured_by_the_oldest_and_say_why() -> None:
    message(None, error="The mail server said 451", created_at=MONDAY - 30 * MINUTE)
    (problem,) = stuck_messages(MONDAY + MINUTE)
    assert (problem.measure, problem.meaning) == (31, "The mail server said 451")


def failed(**changes: Any) -> Any:
    return job("failed", requested_by=person(), finished_at=timezone.now(), error_text="DynamoDB said no.", **changes)


def found() -> list[Problem]:
    return list(failed_jobs(timezone.now()))


def test_a_job_of_a_person_that_failed_is_told_with_its_reason() -> None:
    failed()
    assert [problem.meaning for problem in found()] == ["DynamoDB said no."]


def test_a_failed_look_of_the_schedule_is_not() -> None:
    job("failed", requested_by_name="schedule", finished_at=timezone.now())
    assert found() == []


def test_a_job_that_went_well_later_makes_it_good() -> None:
    first = failed()
    job("succeeded", kind=first.kind, target_key=first.target_key)
    assert found() == []


def test_wrong_passwords_of_an_hour_are_told_together() -> None:
    for address, at in [("192.0.2.7", -70), ("192.0.2.7", -50), ("192.0.2.7", -3), ("192.0.2.8", -1)]:
        with time_machine.travel(MONDAY + at * MINUTE, tick=False):
            guesser = Actor(name="anonymous", source="page", ip=address)
            record(guesser, "account.sign_in", target_label="admin", outcome="refused")
            record(guesser, "table.repair", outcome="refused")
    (problem,) = refused_passwords(MONDAY)
    assert (problem.measure, problem.since) == (3, MONDAY - 50 * MINUTE)
    assert problem.facts == (("Names", "admin (3)"), ("Addresses", "192.0.2.7 (2), 192.0.2.8 (1)"))
    assert list(refused_passwords(MONDAY + 60 * MINUTE)) == []


def test_day_one_has_a_rule_for_every_kind_and_keeps_what_was_changed() -> None:
    Rule.objects.all().delete()
    ensure_default_rules()
    Rule.objects.filter(kind="worker-silent").update(threshold=9)
    ensure_default_rules()
    assert set(Rule.objects.values_list("kind", flat=True)) == {kind.name for kind in kinds()}
    assert Rule.objects.get(kind="worker-silent").threshold == 9


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[str]:
    urls: list[str] = []
    settings.DEAD_MAN_URL = "https://watch.acme.example/levee"
    monkeypatch.setattr(own_health, "_call", lambda url: urls.append(url) is None)
    return urls


def test_the_dead_mans_url_is_called_while_all_is_well(called: list[str]) -> None:
    assert own_health.call_while_well(MONDAY)
    assert called == ["https://watch.acme.example/levee"]


def test_it_is_not_called_when_a_worker_is_silent(called: list[str]) -> None:
    note_beat("aws", "aws@here", MONDAY - 10 * MINUTE)
    assert not own_health.call_while_well(MONDAY)
    assert called == []


def test_a_url_that_does_not_answer_is_no_error() -> None:
    assert not own_health._call("http://127.0.0.1:1/")
