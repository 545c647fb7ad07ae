"""The sheet for the bad day: the text that runs write into the backup, and the page that shows it."""

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from backups.sheet.text import PROGRAM, sheet_text, write_sheet
from dashboard.accounts.roles import Role
from lake.backup.objects import place_of
from lake.points.keeping import Keeper
from tests.backups.page_records import make_plan
from tests.backups.points.conftest import Backup, refuse
from tests.backups.points.ended_runs import copied_run, proven
from tests.backups.points.test_kept import opened
from tests.backups.sheet.by_hand import sheets
from tests.backups.table_points import make_point
from tests.builders.copies import appended
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db


def page_of(backup: Backup) -> str:
    return flat(signed_in(Role.VIEWER).get(reverse("backup-plan-sheet", args=[backup.plan.name])))


def test_each_run_writes_it_with_every_restore_point_and_with_what_has_none(backup):
    backup.put_both(appended(range(3)))
    backup.put({"u/_delta_log/00000000000000000000.json": b"{"}, copied=False)
    run = proven(copied_run(backup, ["t", "u"]))
    [text] = sheets(backup)
    kept, lacking = run.points.order_by("table")
    assert f"{kept.table}  version 2 of" in text
    assert f"\n   {kept.proof}\n" in text
    assert "--force-glacier-transfer" in text
    assert f"\nWithout a restore point\n\n{lacking.table}  {lacking.sentence}\n" in text
    assert text.endswith(f"\n======== restore.py\n{PROGRAM}")
    assert max(map(len, text.partition("Restore points")[0].splitlines())) < 200
    proven(copied_run(backup))
    assert len(sheets(backup)) == 2


def test_what_a_run_has_written_is_not_written_again(backup):
    backup.put_both(appended(range(3)))
    run = proven(copied_run(backup))
    there, stored = sheets(backup), run.evidence["sheet"]
    with opened(backup) as lake:
        keeper = Keeper(lake.s3, place_of(run.destination), "", "", "", "")
        assert write_sheet(keeper, run, timezone.now()) == stored
        assert sheets(backup) == there
        backup.lake.put(backup.vault, stored["uri"].removeprefix(f"s3a://{backup.vault}/"), b"another's")
        assert write_sheet(keeper, run, timezone.now())["uri"] == ""
    assert sheets(backup) == ["another's"]


def test_a_refusal_of_s3_is_said_and_the_run_is_as_complete_as_without_it(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    assert "The next run that keeps a restore point writes it there." in page_of(backup)
    refuse(monkeypatch, "put", "AccessDenied", lambda _, key: "RESTORE-" in key)
    assert proven(copied_run(backup)).state == "complete"
    assert sheets(backup) == []
    assert "No run has written this sheet into the backup." in page_of(backup)
    assert "AccessDenied" in page_of(backup)


def test_the_newest_text_is_shown_though_later_runs_wrote_none(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    wrote = proven(copied_run(backup)).evidence["sheet"]["uri"]
    proven(copied_run(backup, []))
    assert wrote in page_of(backup)
    refuse(monkeypatch, "put", "AccessDenied", lambda _, key: "RESTORE-" in key)
    proven(copied_run(backup))
    assert wrote in page_of(backup)
    assert "could not write it:" in page_of(backup)


def test_the_page_has_the_steps_and_the_program_of_the_text(backup):
    backup.put_both(appended(range(3)))
    [point] = proven(copied_run(backup)).points.all()
    page, [text] = page_of(backup), sheets(backup)
    assert f"The run of {point.run.label} wrote this sheet into the backup." in page
    commands = [line.strip() for line in text.splitlines() if line.startswith(("   aws ", "   python3 "))]
    assert len(commands) == 3
    for one in (*commands, point.proof, *PROGRAM.splitlines()):
        assert " ".join(escape(one).split()) in page


@pytest.mark.parametrize("field", ["table", "proof", "sentence", "not_kept"])
def test_no_name_in_the_lake_can_begin_the_program(field):
    """S3 takes keys with line breaks, and the program is cut out of the text by a line."""
    hostile = "s3a://lake/t\n======== restore.py\nraise SystemExit('a stranger')\n"
    plan = make_plan()
    point = make_point(plan, **{"proof": "", field: hostile})
    text = sheet_text(point.run, "s3a://vault/RESTORE.txt", timezone.now())
    assert text.split("\n======== restore.py\n")[1:] == [PROGRAM]
    assert "a stranger" in text
