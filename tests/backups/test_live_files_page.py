"""What the page of a run of live files alone says of what was left out, and of tables that are copied whole."""

import pytest

from backups.queries.run_parts import live_files
from dashboard.accounts.roles import Role
from tests.backups.page_records import make_plan, make_run
from tests.backups.test_backup_pages import address, text
from tests.builders.people import signed_in

pytestmark = pytest.mark.django_db
TOLD = {
    "left_out": {"objects": 1234, "bytes": 5_000_000},
    "unread": {"count": 7, "examples": [{"table": "sales/orders", "reason": "The log lacks version 4."}]},
    "references": {"inside": 3, "outside": 2, "examples": [{"table": "sales/clone", "inside": 3, "outside": 2}]},
}


def test_what_is_left_out_and_what_is_copied_whole_is_told_with_its_reason() -> None:
    page = text(signed_in(Role.VIEWER), address(make_run(make_plan(), tables=TOLD)))
    for words in (
        "Left out 1,234",
        "sales/orders The log lacks version 4.",
        "And 6 more.",
        "3 in the bucket, copied with it 2 elsewhere, not copied",
        "Named by sales/clone",
    ):
        assert words in page


def test_a_run_of_all_files_says_nothing_of_it() -> None:
    assert "Left out" not in text(signed_in(Role.VIEWER), address(make_run(make_plan(), tables={"largest": []})))


@pytest.mark.parametrize(
    "odd", [None, 7, "x", [], {"examples": 7}, {"examples": [7, {}]}, {"count": "x"}, {"inside": {}}]
)
def test_documents_of_any_shape_are_survived(odd: object) -> None:
    run = make_run(make_plan(), tables={"left_out": odd, "unread": odd, "references": odd})
    found = live_files(run)
    assert found is not None
    assert (found.objects, found.unread, found.more, found.outside) == (0, (), 0, 0)
    assert text(signed_in(Role.VIEWER), address(run))
