"""`levee jobs` and `levee job`."""

import uuid

import pytest
from django.core.management import CommandError
from django.utils import timezone

from dashboard.jobs.models import JobEvent
from tests.dashboard.jobs.builders import job
from tests.json_types import printed

pytestmark = pytest.mark.django_db


def test_a_job_is_one_document_with_its_log() -> None:
    made = job("failed", target_type="table", target_id="7", target_label="s3a://lake/orders", done=3, total=4)
    made.error_code, made.error_text = "AccessDenied", "Refused."
    made.save()
    JobEvent.objects.create(job=made, at=timezone.now(), text="read", data={"n": 1})
    document = printed("job", str(made.pk))
    assert (document["id"], document["state"]) == (str(made.pk), "failed")
    assert document["target"] == {"type": "table", "id": "7", "label": "s3a://lake/orders"}
    assert document["error"] == {"code": "AccessDenied", "text": "Refused."}
    assert (document["events"][0]["text"], document["events"][0]["data"]) == ("read", {"n": 1})
    assert document["created_at"].endswith("Z")


def test_jobs_filter_by_state() -> None:
    running, _ = job("running"), job("failed")
    assert [row["id"] for row in printed("jobs", "--state", "active")] == [str(running.pk)]
    assert len(printed("jobs")) == 2
    assert len(printed("jobs", "--limit", "1")) == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("job", str(uuid.uuid4())), 1),
        (("job", "nonsense"), 2),
        (("jobs", "--limit", "0"), 2),
    ],
)
def test_exit_codes(words: tuple[str, ...], code: int) -> None:
    with pytest.raises(CommandError) as caught:
        printed(*words)
    assert caught.value.returncode == code
