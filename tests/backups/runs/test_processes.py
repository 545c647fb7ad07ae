"""A plan in the hands of two real processes at once."""

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.backups.runs.ground import KEYS, Ground
from tests.backups.runs.processes import Home
from tests.choosing import slowly

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("runs-in-processes"), pytest.mark.postgres("locks")]
PLANS = {"twice-spark": "spark", "twice-s3-batch": "s3-batch"}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Iterator[Home]:
    """A home on the kind of database that the suite runs on."""
    url, folder = os.environ.get("DATABASE_URL", ""), tmp_path_factory.mktemp("home")
    if not url.startswith("postgres"):
        yield Home(folder, Ground(), PLANS)
        return
    name = f"levee_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield Home(folder, Ground(), PLANS, urlsplit(url)._replace(path=f"/{name}").geturl())
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("plan", ["twice-spark", slowly("twice-s3-batch")])
def test_two_processes_that_start_a_plan_at_once_do_one_run(home, plan):
    both = [home.begin("backup", "run", plan, "--json") for _ in range(2)]
    first, second = (json.loads(home.finish(process)) for process in both)
    for place in ("ready", "started"):
        shutil.rmtree(home.folder / place)

    assert first["id"] == second["id"]
    assert first["state"] == second["state"] == "complete"
    assert (first["objects"]["listed"], first["objects"]["copied"]) == (len(KEYS), len(KEYS))
    assert home.ground.copies(f"{plan}/") == home.ground.originals()
    assert len(first["copy_jobs"]) == 1
    assert len(home.ground.jobs_of(first["id"])) == (PLANS[plan] == "s3-batch")
