"""Why a test runs once more on PostgreSQL: only what can differ between databases is asserted there again."""

import pytest

REASONS = {
    "constraints": "uniqueness, foreign keys and checks are refused by the database, in its own words",
    "JSON": "what is stored as JSON, or cannot be stored as text, is compared and ordered by the database",
    "locks": "conditional updates, leases and transactions of two at once",
    "migrations": "the schema is made and changed by statements of the database's own",
    "paging": "ordering, with empty values first or last, and pages that begin after a row",
    "queries": "grouping, counting and joining are compiled for the database",
    "search": "comparison without case, and patterns",
    "triggers": "the audit log is protected by statements of the database's own",
    "upserts": "many rows are written at once, and those that are there are changed",
}


def check_reasons(items: list[pytest.Item]) -> None:
    """Refuse a mark without a reason, and one whose reason is none of these."""
    for item in items:
        for mark in item.iter_markers("postgres"):
            assert mark.args, f"{item.nodeid}: no reason"
            assert set(mark.args) <= REASONS.keys(), f"{item.nodeid}: {mark.args} are no REASONS"
