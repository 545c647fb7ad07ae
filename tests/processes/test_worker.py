"""A real worker, a real Redis and a database in a file: what no test inside one process can show."""

import json
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings

from dashboard.processes import redis
from dashboard.processes.programs import redis_server
from dashboard.processes.supervisor import Program
from dashboard.web.health import redis_answers
from tests.processes.builders import short_folder, wait_for
from tests.waiting import scaled

pytestmark = pytest.mark.process

OPTIONS = ("worker", "--queues=aws", "--concurrency=1", "--without-gossip", "--without-mingle", "--loglevel=INFO")
WORKER = Program("worker", (sys.executable, "-m", "celery", "--app=tests.dashboard.jobs.worker_app", *OPTIONS))
BEGIN = """
import sys, django
django.setup()
import tests.dashboard.jobs.kinds
from dashboard.accounts.actor import Actor
from dashboard.jobs.actions import cancel, submit
from dashboard.jobs.models import Job
"""
SUBMIT = f"{BEGIN}print(submit(Actor.command(), sys.argv[1], 'From outside').pk)"
CANCEL = f"{BEGIN}print(cancel(Actor.command(), Job.objects.get(pk=sys.argv[1])))"


def run(*words: str) -> str:
    """What a Python program prints in this home."""
    done = subprocess.run(
        [sys.executable, *words], cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=scaled(60), check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def job(number: str) -> dict[str, Any]:
    return json.loads(run("manage.py", "job", number, "--json"))


def test_a_worker_runs_a_job_and_obeys_a_cancel(supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    with short_folder() as home:
        monkeypatch.setenv("LEVEE_HOME", str(home))
        server = redis.find_server()
        assert server is not None
        redis.prepare(home)
        boss, out = supervisor(grace_period=scaled(15))
        boss.start(redis_server(server, home))
        wait_for(lambda: redis_answers(redis.broker_url(home)))
        run("manage.py", "migrate", "--verbosity=0")
        counting, waiting = (run("-c", SUBMIT, kind) for kind in ("test-count", "test-wait"))
        boss.start(WORKER)

        wait_for(lambda: job(counting)["state"] == "succeeded")
        document = job(counting)
        assert (document["message"], document["result"]) == ("Counted to 3.", {"counted": 3})
        assert [event["text"] for event in document["events"]] == ["Counted."]

        wait_for(lambda: job(waiting)["state"] == "running")
        assert run("-c", CANCEL, waiting) == "True"
        wait_for(lambda: job(waiting)["state"] == "cancelled")

        boss.stop()
        assert "did not stop" not in out.getvalue()
