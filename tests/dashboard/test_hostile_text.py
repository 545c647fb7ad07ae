"""Text from tables, workers, browsers and people is shown as text, on the pages as they really are."""

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.log import record
from dashboard.jobs.models import JobEvent
from tests.builders.people import signed_in
from tests.dashboard.jobs.builders import ago, job

HOSTILE = "<img src=x onerror=alert(1)>'\"{{ 7|add:7 }}"

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("JSON")]


def assert_harmless(html: str) -> None:
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "<img src=x" not in html


def hostile_job() -> str:
    step = {"name": HOSTILE, "state": "failed", "detail": HOSTILE, "started": ago(seconds=3).isoformat(), "ended": ""}
    texts = {"message": HOSTILE, "error_text": HOSTILE, "error_code": HOSTILE, "reason": HOSTILE, "worker": HOSTILE}
    made = job("failed", title=HOSTILE, target_label=HOSTILE, steps=[step], result={HOSTILE: HOSTILE}, **texts)
    JobEvent.objects.create(job=made, at=timezone.now(), text=HOSTILE, step="<b>")
    return str(made.pk)


@pytest.mark.parametrize("page", ["/jobs/", "/jobs/ID/", "/jobs/ID/progress/"])
def test_on_the_pages_of_jobs(page: str) -> None:
    path = page.replace("ID", hostile_job())
    assert_harmless(signed_in(Role.OPERATOR).get(path).content.decode())


def test_in_the_audit_log_and_its_filters() -> None:
    record(
        Actor(name=HOSTILE, source="page", user_agent=HOSTILE),
        "lake.observe",
        target_label=HOSTILE,
        detail=HOSTILE,
        before={HOSTILE: HOSTILE},
        aws_request_ids=[HOSTILE],
    )
    query = {"text": "img", "actor": HOSTILE}
    assert_harmless(signed_in(Role.VIEWER).get("/audit/", query).content.decode())


def test_on_the_sign_in_page() -> None:
    response = Client().post("/login/", {"username": HOSTILE, "password": "x", "next": f"/jobs/?kind={HOSTILE}"})
    assert_harmless(response.content.decode())
