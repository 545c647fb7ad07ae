"""Deadlines of a bucket on its page, in its JSON and in its text."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from coordinator.models import Bucket
from coordinator.observation.settings_of_aws import judge_bucket_again, judge_by_clock
from dashboard.accounts.roles import Role
from tests.builders.lake import NOW, bucket_facts, make_bucket, make_commit, make_pending, make_table
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
RULE = {
    "ID": "tmp-4d",
    "Status": "Enabled",
    "Filter": {"Prefix": "sales/orders/_delta_log/.tmp"},
    "Expiration": {"Days": 4},
}


def judged(*rules: dict[str, Any], at: datetime = NOW + DAY, **facts: Any) -> Bucket:
    """A bucket with a commit that waits since NOW, judged at a moment."""
    make_pending(make_table())
    bucket = make_bucket(facts=bucket_facts(lifecycle_rules=list(rules or [RULE]), **{"tiering": [], **facts}))
    judge_bucket_again(bucket, at)
    return bucket


def shown(bucket: Bucket) -> str:
    return flat(signed_in(Role.VIEWER).get(f"/buckets/{bucket.pk}/"))


def printed(capsys: pytest.CaptureFixture[str], *command: str) -> Any:
    call_command(*command, "--json")
    return json.loads(capsys.readouterr().out)


def test_a_deadline_stands_on_the_page_with_its_date_its_commit_and_its_rule() -> None:
    html = shown(judged())

    section = html[html.index('id="deadlines"') : html.index('id="rules"')]
    for said in (
        "25 Nov 2026 00:00 UTC",
        "Commit 42 of sales/orders, not published",
        ".tmp/0000",
        "tmp-4d",
        "Attention",
    ):
        assert said in section
    assert html.count("will delete the only copy of an unpublished commit of sales/orders at 25 Nov 2026") == 1


def test_one_that_is_far_away_wears_no_state(client: Client) -> None:
    html = shown(judged({**RULE, "Expiration": {"Days": 40}}))

    section = html[html.index('id="deadlines"') : html.index('id="rules"')]
    assert "More than 14 days away" in section
    assert "Healthy" not in section
    assert "badge crit" not in html[html.index('id="rules"') :]


def test_a_bucket_without_deadlines_has_no_such_section() -> None:
    assert 'id="deadlines"' not in shown(judged({**RULE, "Status": "Disabled"}))


def test_what_comes_later_is_counted() -> None:
    bucket = judged()
    table = make_table("s3a://lake/sales/returns")
    for version in range(30):
        make_pending(table, version)
    bucket.facts["lifecycle_rules"] = [{**RULE, "Filter": {"Prefix": "sales/returns/_delta_log/.tmp/"}}]
    judge_bucket_again(bucket, NOW + DAY)

    assert "10 more come later." in shown(bucket)


def test_json_holds_every_deadline(capsys: pytest.CaptureFixture[str]) -> None:
    bucket = judged()

    document = printed(capsys, "bucket", bucket.name)

    assert document["deadlines"] == [
        {
            "at": "2026-11-25T00:00:00Z",
            "state": "attention",
            "what": "unpublished commit",
            "rule": "tmp-4d",
            "does": "deletes",
            "table": "sales/orders",
            "tables": 1,
            "version": 42,
            "file": f".tmp/{42:020d}.json.7f3c9b52",
            "condition": "",
        }
    ]
    assert document["deadlines_in_all"] == 1
    assert "deadlines" not in document["settings"]
    assert [one["deadlines"] for one in printed(capsys, "buckets")] == [document["deadlines"]]
    assert document["lifecycle"]["rules"][0]["state"] in ("attention", "unsafe")


def test_text_names_date_state_commit_and_rule(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("bucket", judged().name)

    told = capsys.readouterr().out
    assert "2026-11-25 00:00 UTC attention    Commit 42 of sales/orders, not published: tmp-4d deletes" in told
    assert "judge_again_at" not in told


def test_logs_of_several_tables_share_a_line() -> None:
    for name in ("a", "b", "c"):
        make_commit(make_table(f"s3a://lake/x/{name}"))
    bucket = make_bucket(facts=bucket_facts(tiering=[], lifecycle_rules=[{**RULE, "Filter": {"Prefix": "x/"}}]))
    judge_bucket_again(bucket, NOW)

    html = shown(bucket)
    assert "The log of x/a and of 2 other tables" in html
    assert "Data files of x/a and of 2 other tables" in html


@pytest.mark.parametrize(
    ("tiering", "said"),
    [
        (
            [{"Id": "cold-logs", "Status": "Enabled", "Filter": {"Prefix": "z/"}, "Tierings": []}],
            "<code>cold-logs</code>",
        ),
        ([], "<dt>Archive tiers</dt><dd>None</dd>"),
        (None, '<dt>Archive tiers</dt><dd><span class="dim">Unknown</span></dd>'),
    ],
)
def test_archive_tiers_are_among_the_settings(tiering: Any, said: str) -> None:
    assert said in shown(judged(tiering=tiering))


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "text",
        [None, 7, {}],
        [{"at": "never", "state": "<script>", "what": "<script>alert(1)</script>", "tables": "x", "version": "y"}],
        [{"at": "2026-99-99T00:00:00", "what": "data files", "tables": True}],
        [{"at": 5, "state": None, "what": "published log", "table": "<script>alert(1)</script>", "tables": 3}],
    ],
)
def test_deadlines_of_any_shape_break_no_page_and_no_document(stored: Any, capsys: pytest.CaptureFixture[str]) -> None:
    bucket = make_bucket(facts=bucket_facts(deadlines=stored, deadlines_in_all="many", judge_again_at=stored))
    judge_by_clock(NOW)

    html = shown(bucket)

    assert "<script>alert(1)</script>" not in html
    document = printed(capsys, "bucket", bucket.name)
    assert (type(document["deadlines"]), type(document["deadlines_in_all"])) == (list, int)
