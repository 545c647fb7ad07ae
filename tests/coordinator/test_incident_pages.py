"""The pages of a table that is blocked or unsafe."""

import re
from datetime import timedelta
from html import unescape

import pytest

from coordinator.models import DeltaTable, ProvenanceRow
from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Verdict
from coordinator.repairs.guides import guide_of
from dashboard.accounts.roles import Role
from dashboard.alerts.evaluation import evaluate
from dashboard.alerts.models import Alert
from tests.builders.facts import entry, listing, log_store_facts, temp_name
from tests.builders.lake import NOW, make_commit, make_entry, make_finding, make_store, make_table
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db
FOUR = [entry(version) for version in range(4)]
TEMPS = [temp_name(version) for version in range(4)]
SCENES = {
    "C7": lambda: diagnose(log_store_facts(listing(range(3), temp=TEMPS[:3]), *FOUR)),
    "C11": lambda: diagnose(log_store_facts(listing(range(3), temp=TEMPS[:3]), *FOUR[:3], entry(3, complete=False))),
    "foreign-writer": lambda: diagnose(log_store_facts(listing(), *FOUR[:2], FOUR[3], engines={2: "delta-rs 1.6.4"})),
}  # fmt: skip


def stored(verdict: Verdict) -> DeltaTable:
    """A table with the findings of a real diagnosis."""
    table = make_table(
        "s3a://lake/orders", state=verdict.state, store=make_store(), published_version=verdict.published_version,
        accepted_version=verdict.accepted_version,
    )  # fmt: skip
    for one in verdict.findings:
        make_finding(
            table, one.code, one.version, state=one.state, severity=one.severity, summary=one.summary,
            meaning=one.meaning, evidence=dict(one.evidence), repairs=list(one.repairs),
        )  # fmt: skip
    return table


def page(table: DeltaTable, tab: str = "", role: Role = Role.OPERATOR) -> str:
    answer = signed_in(role).get(f"/tables/{table.pk}/{tab}")
    assert answer.status_code == 200
    return str(flat(answer))


@pytest.mark.parametrize("code", ["C11", "foreign-writer"])
def test_the_banner_leads_to_the_steps_and_never_to_a_loss(code: str) -> None:
    html = page(stored(SCENES[code]()))

    banner = html.partition('id="verdict"')[2].partition("</section>")[0].partition('<p class="do">')[2]
    assert '#steps">See what to do</a>' in banner
    assert "Abandon" not in banner
    assert html.count('<h2 id="steps">') == 1


def test_who_writes_is_named_with_the_trail_that_is_left() -> None:
    table = stored(SCENES["C7"]())
    make_commit(table, 2, engine="Apache-Spark/4.2.0 Delta-Lake/4.4.0", operation="MERGE")
    make_finding(table, "writers-spinning", 3, state="attention", summary="Spinning.",
        evidence={"files": 412, "newest_at": "2026-11-20T09:41:00+00:00"},
    )  # fmt: skip

    html = page(table)

    assert "Apache-Spark/4.2.0 Delta-Lake/4.4.0" in html
    assert "Tries version 3 again and again" in html
    assert re.search(r"412 files left behind, the newest <time datetime=.2026-11-20T09:41:00Z", html)


def test_a_loss_is_the_last_step_and_off_with_the_reason_for_all_but_admins() -> None:
    table = stored(SCENES["C11"]())

    html, seen = page(table, role=Role.ADMIN), page(table)

    steps = html.partition('<ol class="guide">')[2].partition("</ol>")[0]
    assert re.search('<button class="button">Abandon commit 3…', steps.rpartition("<li")[2])
    assert 'class="button primary"' not in steps
    assert re.search(r"disabled>Abandon commit 3….{,400}Needs the admin role\.", seen)


def test_the_evidence_can_be_pasted_with_the_address_of_the_page() -> None:
    table = stored(SCENES["C7"]())

    text = unescape(page(table).partition('<pre class="paste pick">')[2].partition("</pre>")[0])

    assert table.findings.get(code="C7").summary in text
    assert f"http://testserver/tables/{table.pk}/" in text


def test_the_alert_has_the_same_steps_and_the_page_names_it() -> None:
    table = stored(SCENES["C7"]())
    evaluate(NOW + timedelta(minutes=10))
    alert = Alert.objects.get(kind="table-finding")

    html = str(flat(signed_in(Role.OPERATOR).get(f"/alerts/{alert.pk}/")))

    step = guide_of(table.findings.get(code="C7")).steps[0]
    assert f"{step.title}. {step.says}" in unescape(html)
    assert f"http://testserver/alerts/{alert.pk}/" in page(table)


def test_a_lost_version_says_what_was_seen_of_it_and_nothing_unknown() -> None:
    table = stored(SCENES["C7"]())
    make_entry(table, 3, code="C7", published=False, file_present=False)
    ProvenanceRow.objects.create(table=table, version=3, size=573, etag="c07a", seen_at=NOW, file_name=TEMPS[3])

    html = page(table, "commits/3/")
    facts = html.partition('id="file"')[2].partition('id="entry"')[0]

    assert "Unknown" not in facts
    assert "573 B" in facts
    assert TEMPS[3] in facts
    assert f'/tables/{table.pk}/#steps">See what to do' in html
