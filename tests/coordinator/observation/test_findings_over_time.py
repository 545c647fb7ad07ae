"""Findings are opened, seen again and resolved; a failed reading resolves nothing."""

from coordinator.models import DeltaTable, TableFinding


def the_finding() -> TableFinding:
    return TableFinding.objects.get(code="C2")


def pending_table(written) -> None:
    written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)


def test_a_finding_that_is_seen_again_keeps_its_row_and_its_words_are_brought_up_to_date(written, observe):
    pending_table(written)
    observe()
    first = the_finding()
    TableFinding.objects.filter(code="C2").update(summary="old", severity="critical")

    observe(in_full=True)

    again = the_finding()
    assert (again.pk, again.opened_at) == (first.pk, first.opened_at)
    assert (again.summary, again.severity) == (first.summary, first.severity)
    assert again.seen_at > first.seen_at


def test_a_finding_that_comes_back_is_opened_anew(written, observe):
    pending_table(written)
    observe()
    written.commit("sales/orders", 3)
    written.entry("sales/orders", 3)
    observe()
    written.delete(f"sales/orders/_delta_log/{3:020d}.json")
    written.pending("sales/orders", 3)

    observe()

    rows = list(TableFinding.objects.filter(code="C2").order_by("opened_at").values_list("resolved_at", flat=True))
    assert len(rows) == 2
    assert rows[0] is not None
    assert rows[1] is None


def test_a_finding_below_the_tail_stays_open_while_commits_go_on(written, observe):
    written.table("sales/orders", commits=30)
    written.delete("sales/orders/_delta_log/00000000000000000005.json")
    observe()
    table = DeltaTable.objects.get()
    before = set(table.findings.filter(resolved_at=None).values_list("key", flat=True))
    written.commit("sales/orders", 30)

    observe()

    table.refresh_from_db()
    assert before
    assert before == set(table.findings.filter(resolved_at=None).values_list("key", flat=True))
    assert (table.published_version, table.state != "healthy") == (30, True)
