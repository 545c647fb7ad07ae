"""Deadlines of a bucket on its page, in its JSON and in its text."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command

from coordinator.models import Bucket
from coordinator.observation.settings_of_aws import judge_bucket_again
from dashboard.accounts.roles import Role
from tests.builders.lake import NOW, bucket_facts, make_bucket, make_commit, make_pending, make_table
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat
from tests.json_types import printed

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
RULE = {
    "ID": "tmp-4d",
    "Status": "Enabled",
    "Filter": {"Prefix": "sales/orders/_delta_log/.tmp"},
    "Expiration": {"Days": 4},
}


def judged(*rules: dict[str, Any], at: datetime = NOW + DAY) -> Bucket:
    """A bucket with a commit that waits since NOW, judged at a moment."""
    make_pending(make_table())
    bucket = make_bucket(facts=bucket_facts(lifecycle_rules=list(rules or [RULE]), tiering=[]))
    judge_bucket_again(bucket, at)
    return bucket


def section(bucket: Bucket) -> str:
    html = flat(signed_in(Role.VIEWER).get(f"/buckets/{bucket.pk}/"))
    return str(html.partition('id="deadlines"')[2].partition('id="rules"')[0])


def test_a_deadline_stands_on_the_page_with_its_date_its_commit_and_its_rule() -> None:
    shown = section(judged())

    for said in ("25 Nov 2026 00:00 UTC", "Commit 42 of sales/orders, not published", ".tmp/0000", "tmp-4d"):
        assert said in shown
    assert "Attention" in shown


def test_one_that_is_far_away_wears_no_state() -> None:
    shown = section(judged({**RULE, "Expiration": {"Days": 40}}))

    assert "More than 14 days away" in shown
    assert "Healthy" not in shown


def test_what_comes_later_is_counted_and_logs_of_several_tables_share_a_line() -> None:
    for name in ("a", "b", "c"):
        make_commit(make_table(f"s3a://lake/x/{name}"))
    for version in range(30):
        make_pending(make_table(f"s3a://lake/y/{version}"))
    shown = section(judged({**RULE, "Filter": {"Prefix": "x/"}}, {**RULE, "ID": "y", "Filter": {"Prefix": "y/"}}))

    assert "The log of x/a and of 2 other tables" in shown
    assert "Data files of x/a and of 2 other tables" in shown
    assert "14 more come later." in shown


def test_json_holds_every_deadline_and_text_names_date_state_commit_and_rule(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bucket = judged()

    document = printed("bucket", bucket.name)

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
    assert not document["settings"].keys() & {"deadlines", "judge_again_at"}
    assert [one["deadlines"] for one in printed("buckets")] == [document["deadlines"]]
    call_command("bucket", bucket.name)
    told = capsys.readouterr().out
    assert "2026-11-25 00:00 UTC attention    Commit 42 of sales/orders, not published: tmp-4d deletes" in told
