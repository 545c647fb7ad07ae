"""S3's completion reports, meddled with before they are read: what is missing or altered proves nothing.

Copies and reports are those of the sandbox's S3 Batch Operations; planning and reconciling are plain Python.
"""

import json
from collections.abc import Callable
from decimal import Decimal

import pytest

from backups import actions
from backups.advancing import advance_here
from backups.models import Run
from backups.runs.stages import reconcile
from dashboard.accounts.actor import Actor
from tests.backups.runs.ground import KEYS, Ground, counts
from tests.backups.runs.world import start

pytestmark = pytest.mark.django_db
DENIED = "t/part-1"
OTHERS = len(KEYS) - 1
Meddle = Callable[[Ground, str, str, str], None]
"""Gets the ground, the report's folder, and the keys of its file of successes and of its file of failures."""


@pytest.fixture
def ground(ground) -> Ground:
    """One object of the source is denied."""
    ground.policy("Deny", DENIED)
    return ground


def backed_up(ground: Ground, monkeypatch: pytest.MonkeyPatch, meddle: Meddle) -> Run:
    """A run through S3, whose report somebody meddles with between the copies and their reconciliation."""
    read = reconcile.reports_of

    def read_later(s3, rows):
        [manifest] = [key for key, _ in ground.client.list(ground.vault, "") if key.endswith("/manifest.json")]
        files = {
            one["TaskExecutionStatus"]: one["Key"]
            for one in json.loads(ground.client.get(ground.vault, manifest))["Results"]
        }
        meddle(ground, manifest.removesuffix("manifest.json"), files["succeeded"], files["failed"])
        return read(s3, rows)

    monkeypatch.setattr(reconcile, "reports_of", read_later)
    run = advance_here(start(ground.plan(engine="s3-batch", cost_ceiling_usd=Decimal(100))))
    monkeypatch.setattr(reconcile, "reports_of", read)
    return run


def alter(ground: Ground, folder: str, succeeded: str, failed: str) -> None:
    ground.client.put(ground.vault, succeeded, ground.client.get(ground.vault, succeeded).replace(b"200", b"201", 1))


def lose(ground: Ground, folder: str, succeeded: str, failed: str) -> None:
    ground.client.delete(ground.vault, succeeded)


def alter_manifest(ground: Ground, folder: str, succeeded: str, failed: str) -> None:
    key = f"{folder}manifest.json"
    ground.client.put(ground.vault, key, ground.client.get(ground.vault, key) + b" ")


def lose_manifest(ground: Ground, folder: str, succeeded: str, failed: str) -> None:
    ground.client.delete(ground.vault, f"{folder}manifest.json")


def lead_elsewhere(ground: Ground, folder: str, succeeded: str, failed: str) -> None:
    """The same bytes, under a key that is not of the report."""
    ground.client.put(ground.vault, "elsewhere.csv", ground.client.get(ground.vault, succeeded))
    key = f"{folder}manifest.json"
    said = ground.client.get(ground.vault, key).replace(succeeded.encode(), b"elsewhere.csv")
    ground.client.put(ground.vault, key, said)
    ground.client.delete(ground.vault, f"{key}.md5")


def add_lines(ground: Ground, folder: str, succeeded: str, failed: str) -> None:
    """A file beside the others, which says of what was denied that it was copied, and the reverse."""
    lines = f"{ground.source},t/part-2,,failed,403,AccessDenied,\n{ground.source},{DENIED},,succeeded,200,,\n"
    ground.client.put(ground.vault, f"{folder}results/extra.csv", lines.encode())


def test_what_the_manifest_does_not_name_is_not_read(ground, monkeypatch):
    run = backed_up(ground, monkeypatch, add_lines)
    assert (run.state, counts(run)) == ("complete_with_gaps", {"listed": len(KEYS), "copied": OTHERS, "denied": 1})
    assert "not believed" not in run.sentence


@pytest.mark.parametrize(
    ("meddle", "why"),
    [(alter, "has the MD5"), (lose, "is not there"), (lead_elsewhere, "which is not of this report")],
)
def test_what_a_missing_or_altered_file_spoke_of_is_not_copied_and_the_other_files_count(
    ground, monkeypatch, meddle, why
):
    run = backed_up(ground, monkeypatch, meddle)
    assert (run.state, counts(run)) == ("complete_with_gaps", {"listed": len(KEYS), "denied": 1, "failed": OTHERS})
    assert "The report of copy job 1 is not believed: " in run.sentence
    assert why in run.sentence
    assert f"Of {len(KEYS)} objects, 0 are known to be at the destination" in run.sentence
    unknown = run.failures.get(outcome="failed")
    assert (unknown.code, unknown.object_count) == ("ReportNotBelieved", OTHERS)
    assert "What became of it is not known" in unknown.cause


@pytest.mark.parametrize(("meddle", "why"), [(alter_manifest, "manifest.json.md5 says"), (lose_manifest, "not there")])
def test_without_a_whole_manifest_nothing_of_a_report_counts(ground, monkeypatch, meddle, why):
    run = backed_up(ground, monkeypatch, meddle)
    assert (run.state, counts(run)) == ("complete_with_gaps", {"listed": len(KEYS), "failed": len(KEYS)})
    assert why in run.sentence
    assert len(run.evidence["doubts"]) == 1


def test_a_second_try_finds_what_was_copied_and_copies_nothing_of_it_again(ground, monkeypatch):
    run = backed_up(ground, monkeypatch, alter)
    assert run.worth_retry == len(KEYS)
    again = advance_here(actions.retry(Actor.command(), run, enqueue=False))
    assert (again.already_there, again.denied) == (OTHERS, 1)
