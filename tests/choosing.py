"""What `make test` runs, and to which part of `make test-all` each test belongs.

Of what is dear (real Spark, Chromium, other implementations of the protocols) `make test` runs what KEPT names, of the
schedules what a seed draws, and of all else what is not marked `slow`. What it leaves out is marked so here.
"""

import os
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from django.db import connection

from tests.grouping import fixtures_of

KEPT = (
    # A table with a hostile name, at Amazon's own DynamoDB: created, enabled, repaired, dropped and read.
    "tests/conformance/test_names.py::test_a_table_of_any_name_is_enabled_repaired_and_dropped[quotes]",
    "tests/backups/runs/test_on_spark.py::test_a_run_takes_the_inventory_that_s3_delivered",
    # A coordinated table with deletion vectors, opened in place, and restored and committed to beside its original.
    "tests/backups/restores/test_restored_by_spark.py::test_a_coordinated_table_opens_and_is_committed_to_beside_its_"
    "living_original",
    "tests/lake/spark/test_jvm_death.py::test_a_job_whose_jvm_is_killed_at_its_work_is_lost_and_the_next_one_is_done_by_"
    "another",
    "tests/lake/spark/test_backup_live.py",
    # An operator, an admin; every page by axe.
    "tests/browser/test_journey.py::test_from_sign_in_to_the_end_of_a_job[with-script]",
    # On call: one of each journey, in one of three ways.
    "tests/browser/test_on_call.py::test_paged_at_night[by-keyboard]",
    "tests/browser/test_on_call.py::test_blocked_beyond_repair[with-script]",
    "tests/browser/test_on_call.py::test_a_purge_announced[without-script]",
    "tests/browser/test_on_call.py::test_a_viewer_asks_for_an_act[without-script]",
    "tests/browser/test_on_call.py::test_a_drop_with_its_progress[with-script]",
    "tests/browser/test_who_is_told.py::test_an_admin_adds_a_person_who_comes_in_by_a_link",
    "tests/browser/test_accessibility.py::test_every_page_is_sound_and_quiet[light]",
    "tests/browser/test_accessibility.py::test_faults_would_be_found",
)
"""Beginnings of the names of the dear tests that `make test` runs: one for each promise that nothing cheaper proves."""
KEPT_ON_POSTGRESQL = {"constraints", "locks", "migrations", "triggers"}
"""Reasons of tests/databases.py for which `make test` runs a test on PostgreSQL too."""
PLACES = {
    "tests/conformance/test_soak": "soaks",
    "tests/conformance/": "tables",
    "tests/lake/spark/test_worker_places": "clusters",
    "tests/schedules/": "schedules",
}
"""Parts that are places; of all other tests the part is what they need."""
DEAR = {"browser", "clusters", "soaks", "spark", "tables"}
SEED = "LEVEE_SEED"
DRAWN_SCENES = 20
"""How many of the tests that play schedules `make test` draws."""
LIMIT, DEAR_LIMIT, SLOW_LIMIT = 180, 600, 3_600
"""Seconds after which a test is ended: several times what the slowest of its kind takes while both cores are busy."""


def slowly(*values: object) -> Any:
    """Parameters of a test with which `make test` does not run it: a further variant."""
    return pytest.param(*values, marks=pytest.mark.slow)


def part_of(item: pytest.Item) -> str:
    """The part of `make test-all` that runs a test on SQLite."""
    if part := next((part for place, part in PLACES.items() if item.nodeid.startswith(place)), ""):
        return part
    if item.get_closest_marker("spark"):
        return "spark"
    if item.get_closest_marker("browser"):
        return "browser"
    return "processes" if item.get_closest_marker("process") else "plain"


def choose(items: Sequence[pytest.Item], *, everything: bool = False) -> None:
    """Mark what `make test` leaves out as slow, and give each test a limit: a long one where it does `everything`."""
    drawn = _drawn([item.nodeid for item in items if _plays_schedules(item)])
    for item in items:
        if not _is_kept(item, drawn):
            item.add_marker(pytest.mark.slow)
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_LIMIT if everything else _limit(item)))


def of_part(items: Iterable[pytest.Item], part: str) -> list[pytest.Item]:
    """The tests that a part runs."""
    if part == "postgres":
        return [item for item in items if item.get_closest_marker("postgres")]
    return [item for item in items if part_of(item) == part]


def seed() -> str:
    """What the draw depends on: the runner hands the hash of the tree in, so that each change draws others."""
    return os.environ.get(SEED, "0")


def _is_kept(item: pytest.Item, drawn: set[str]) -> bool:
    if connection.vendor == "postgresql" and not _kept_on_postgresql(item):
        return False
    if _plays_schedules(item):
        return item.nodeid in drawn
    return part_of(item) not in DEAR or item.nodeid.startswith(KEPT)


def _kept_on_postgresql(item: pytest.Item) -> bool:
    return any(KEPT_ON_POSTGRESQL & set(mark.args) for mark in item.iter_markers("postgres"))


def _plays_schedules(item: pytest.Item) -> bool:
    return "theatre" in fixtures_of(item)


def _drawn(names: list[str]) -> set[str]:
    return set(random.Random(seed()).sample(sorted(names), min(DRAWN_SCENES, len(names))))


def _limit(item: pytest.Item) -> int:
    if item.get_closest_marker("slow"):
        return SLOW_LIMIT
    return DEAR_LIMIT if part_of(item) in DEAR else LIMIT
