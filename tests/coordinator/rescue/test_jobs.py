"""Putting a copy back as a job: confirmed by digest, refused where nothing may be changed, overtaken, and cut short."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from changes import carrying_out
from changes.gate import NameNotTyped, PlanNeeded
from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.connections.writable import ChangeRefused
from dashboard.jobs.models import Job
from tests.builders.people import actor, person
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.world import Meddled, refusal
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db
Scene = Callable[[Console], tuple[Any, str]]


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)


def a_temp_file(console: Console) -> tuple[Any, str]:
    table, _, _ = saved.removed_temp_file(console)
    return table, saved.only_copy(console, table, "temp-file")["id"]


def a_named_file(console: Console) -> tuple[Any, str]:
    """An entry names it, so that readers may see another state."""
    table, _, _ = saved.named_temp_file(console)
    return table, saved.only_copy(console, table, "temp-file")["id"]


SCENES: list[Scene] = [a_temp_file, a_named_file]


def state(console: Console) -> Any:
    return console.state()


@pytest.mark.slow
def test_planning_and_listing_change_nothing(console: Console) -> None:
    table, copy = a_named_file(console)
    before = state(console)

    saved.plan(console, table, copy)
    saved.copies(console, table)

    assert state(console) == before


@pytest.mark.slow
def test_an_operator_puts_back_what_can_show_nobody_another_state(console: Console) -> None:
    table, copy = a_temp_file(console)

    job = console.run(saved.ask(table, copy, saved.plan(console, table, copy), by=actor(Role.OPERATOR), confirm=""))

    assert (job.state, job.error_text) == ("succeeded", "")


def test_what_can_lose_something_needs_an_admin_and_the_tables_name(console: Console) -> None:
    table, copy = a_named_file(console)
    made = saved.plan(console, table, copy)

    with pytest.raises(NotAllowed):
        saved.ask(table, copy, made, by=actor(Role.OPERATOR))
    for typed in ("", "sales", table.name.upper()):
        with pytest.raises(NameNotTyped):
            saved.ask(table, copy, made, confirm=typed)
    assert not Job.objects.filter(kind="restore-rescue").exists()


@pytest.mark.slow
def test_the_worker_asks_again_whether_the_person_is_an_admin(console: Console) -> None:
    table, copy = a_named_file(console)
    job = saved.ask(table, copy, saved.plan(console, table, copy))
    person(Role.ADMIN).groups.clear()
    before = state(console)

    job = console.run(job)

    assert (job.state, job.error_code) == ("failed", "NotAllowed")
    assert state(console) == before


def test_the_worker_asks_again_for_the_typed_name(console: Console) -> None:
    table, copy = a_named_file(console)
    job = saved.ask(table, copy, saved.plan(console, table, copy))
    Job.objects.filter(pk=job.pk).update(params={**job.params, "confirm": ""})
    before = state(console)

    job = console.run(job)

    assert (job.state, job.error_code) == ("failed", "NameNotTyped")
    assert state(console) == before


@pytest.mark.slow
def test_a_plan_lasts_15_minutes(console: Console) -> None:
    table, copy = a_temp_file(console)
    made = saved.plan(console, table, copy)
    Job.objects.filter(kind="plan-rescue").update(created_at=timezone.now() - timedelta(minutes=16))

    with pytest.raises(PlanNeeded):
        saved.ask(table, copy, made)


def test_a_digest_confirms_only_the_copy_that_it_was_shown_for(console: Console) -> None:
    table, copy = a_temp_file(console)
    made = saved.plan(console, table, copy)

    with pytest.raises(PlanNeeded):
        saved.ask(table, f"{copy}x", made)
    with pytest.raises(PlanNeeded):
        saved.ask(table, copy, {**made, "digest": "0" * 32})


@pytest.mark.slow
def test_the_same_plan_confirmed_twice_is_one_job(console: Console) -> None:
    table, copy = a_temp_file(console)
    made = saved.plan(console, table, copy)

    first = saved.ask(table, copy, made)
    console.run(first)

    assert saved.ask(table, copy, made) == first


# Rivals


def test_a_rival_that_writes_the_key_between_reading_and_writing_keeps_its_bytes(
    console: Console, meddled: Any
) -> None:
    table, key, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    job = saved.ask(table, copy, saved.plan(console, table, copy))
    meddled(lambda port: port.before("put_if_absent", lambda: console.lake.put(key, b"a rival's")))

    job = console.run(job)

    assert job.state == "overtaken"
    assert console.bytes_of(key) == b"a rival's"


def test_a_rival_that_wrote_the_key_after_the_plan_keeps_its_bytes(console: Console) -> None:
    table, key, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    job = saved.ask(table, copy, saved.plan(console, table, copy))
    console.lake.put(key, b"a rival's")

    job = console.run(job)

    assert job.state == "overtaken"
    assert console.bytes_of(key) == b"a rival's"


def test_a_copy_that_was_replaced_after_the_plan_is_not_put_back(console: Console) -> None:
    table, key, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    job = saved.ask(table, copy, saved.plan(console, table, copy))
    console.lake.put(copy.removeprefix(f"s3a://{console.lake.bucket}/"), b"others")

    job = console.run(job)

    assert (job.state, job.message) == (
        "overtaken",
        "Stopped before any change: what the plan rests on has changed since it was shown: plan it again.",
    )
    assert key not in {one for one, _ in console.state()[0]}


@pytest.fixture
def meddled(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Meddled], Any]], None]:
    """Let something happen to the lake while the calls of a restore are made."""

    def meddle(arrange: Callable[[Meddled], Any]) -> None:
        real = carrying_out.execute

        def execute(calls: Any, sending: Any, steps: Any) -> Any:
            port = Meddled(sending.lake)
            arrange(port)
            return real(calls, type(sending)(port, check_cancelled=sending.check_cancelled), steps)

        monkeypatch.setattr(carrying_out, "execute", execute)

    return meddle


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_a_restore_that_fails_at_any_request_comes_to_its_end_when_asked_again(
    console: Console, meddled: Any, monkeypatch: pytest.MonkeyPatch, scene: Scene
) -> None:
    table, copy = scene(console)
    made, failures = saved.plan(console, table, copy), 0
    real = carrying_out.execute
    for number in range(12):
        job = saved.ask(table, copy, made)
        meddled(lambda port, number=number: port.at(number, refusal("InternalError")))
        job = console.run(job)
        monkeypatch.setattr(carrying_out, "execute", real)
        if job.state == "succeeded":
            break
        failures += 1
        assert (job.state, job.error_code) == ("failed", "InternalError")
        again = saved.planned(console, table, copy)
        if again.result["plan"] is None:
            break
        made = again.result["plan"]

    assert failures
    assert saved.refusal(console, table, copy)["why"] == "nothing-to-do"


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_a_restore_whose_answer_was_lost_is_there_when_asked_again(
    console: Console, meddled: Any, scene: Scene
) -> None:
    table, copy = scene(console)
    job = saved.ask(table, copy, saved.plan(console, table, copy))
    lost = refusal("ConnectionFailed")
    meddled(lambda port: port.after("put_if_absent", lost))

    job = console.run(job)

    assert (job.state, job.error_code) == ("failed", "ConnectionFailed")
    assert saved.refusal(console, table, copy)["why"] == "nothing-to-do"


def test_a_refusal_is_recorded(console: Console) -> None:
    table, copy = a_temp_file(console)
    with pytest.raises(ChangeRefused):
        saved.ask(table, copy, {"digest": "0" * 32})
    refused = AuditEntry.objects.get(outcome="refused", action="table.repair")
    assert (refused.actor_name, refused.target_id) == ("admin", str(table.pk))
