"""Runs in the hands of real processes: killed by the system, or two of them at once."""

import json
import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.backups.runs.ground import KEYS, Ground
from tests.backups.runs.outside import MEETING
from tests.backups.runs.processes import Home
from tests.choosing import slowly

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("runs-in-processes"), pytest.mark.postgres("locks")]
KILLS = {
    "killed-while-copying": ("spark", "s3:CopyObject"),
    "killed-in-the-gate": ("s3-batch", "s3:CreateJob"),
    "killed-while-s3-copies": ("s3-batch", "s3:UpdateJobStatus"),
}
TWICE = {"twice-spark": "spark", "twice-s3-batch": "s3-batch"}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Home:
    plans = {**TWICE, **{name: engine for name, (engine, _) in KILLS.items()}}
    return Home(tmp_path_factory.mktemp("home"), Ground(), plans)


@pytest.mark.slow
@pytest.mark.parametrize("plan", KILLS)
def test_the_next_process_finishes_the_run_of_one_that_was_killed(home, plan):
    engine, operation = KILLS[plan]
    home.kill_after(operation, plan)
    run = json.loads(home.finish(home.begin("backup", "run", plan, "--json")))

    assert_whole(home, plan, engine, run)
    with closing(sqlite3.connect(home.folder / "levee.sqlite3")) as database:
        wanted = "SELECT count(*) FROM backups_run JOIN backups_plan ON plan_id = backups_plan.id WHERE name = ?"
        assert database.execute(wanted, [plan]).fetchone() == (1,)


@pytest.fixture(scope="module")
def shared(request, tmp_path_factory) -> Iterator[Home]:
    """A home on the kind of database that the suite runs on."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield request.getfixturevalue("home")
        return
    name = f"levee_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield Home(
                tmp_path_factory.mktemp("shared"), Ground(), TWICE, urlsplit(url)._replace(path=f"/{name}").geturl()
            )
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("plan", ["twice-spark", slowly("twice-s3-batch")])
def test_two_processes_that_start_a_plan_at_once_do_one_run(shared, plan):
    both = [shared.begin("backup", "run", plan, "--json", pause_after=MEETING) for _ in range(2)]
    first, second = (json.loads(shared.finish(process)) for process in both)
    for place in ("ready", "started"):
        shutil.rmtree(shared.folder / place)

    assert first["id"] == second["id"]
    assert first["state"] == second["state"]
    assert_whole(shared, plan, TWICE[plan], first)


def assert_whole(home: Home, plan: str, engine: str, run: dict[str, Any]) -> None:
    """Each object is at the destination and counted once, and S3 had one job at most."""
    assert run["state"] == "complete"
    assert {name: count for name, count in run["objects"].items() if count} == dict.fromkeys(
        ("listed", "copied"), len(KEYS)
    )
    assert home.ground.copies(f"{plan}/") == home.ground.originals()
    assert len(run["copy_jobs"]) == 1
    assert len(home.ground.jobs_of(run["id"])) == (engine == "s3-batch")
