"""The sheet for the bad day as its page shows it."""

from dataclasses import dataclass

from backups.models import Plan, RestorePoint, Run
from backups.sheet.text import PROGRAM, SheetStep, kept_points, said_of, steps_of

MOST_SHOWN = 200
"""Restore points on the page; the text in the backup names all."""


@dataclass(frozen=True, slots=True)
class SheetPage:
    """`wrote` is the run that wrote the newest text in the backup, `why_not` says why the newest of all wrote none, and
    `more` counts restore points beyond MOST_SHOWN."""

    wrote: Run | None
    why_not: str
    steps: list[SheetStep]
    points: list[tuple[RestorePoint, str]]
    more: int
    program: str = PROGRAM


def sheet_page(plan: Plan) -> SheetPage:
    proofs, points = Run.objects.proofs().filter(plan=plan), kept_points(plan)
    newest, wrote = proofs.first(), proofs.filter(evidence__sheet__uri__startswith="s3a://").first()
    why_not = newest.evidence.get("sheet", {}).get("why_not", "") if newest else ""
    stored = wrote.evidence["sheet"]["uri"] if wrote else ""
    destination = next((one.destination for one in (wrote, newest) if one), plan.destination)
    steps = steps_of(plan, destination, stored, points.first())
    shown = [(one, said_of(one)) for one in points[:MOST_SHOWN]]
    return SheetPage(wrote, why_not, steps, shown, points.count() - len(shown))
