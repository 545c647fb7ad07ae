"""The first thing to do about a finding of a table, and where it is done: what a row has room for."""

import re
from dataclasses import dataclass

from django.urls import reverse

from coordinator.models import TableFinding
from coordinator.protocols.verdict import LOUD
from coordinator.repairs.guides import Guide, Offer, guide_of

_NOUNS = re.compile(r"(the (accepted staged )?file of )?((commit|entry) )?(?=\d)")


@dataclass(frozen=True, slots=True)
class NextStep:
    """`says` is a sentence, empty where Levee knows no step; `label` is the button's, `path` where it leads.

    `offer` is the repair that the step is, where it is one.
    """

    says: str
    label: str
    path: str
    offer: Offer | None = None

    @property
    def short(self) -> str:
        """The label where a row has room for two words: Publish 17…"""
        return _NOUNS.sub("", self.label)


def next_step(finding: TableFinding, guide: Guide | None = None) -> NextStep:
    """The first step of the finding's guide. Other words than "See …" on its button begin a repair."""
    steps = (guide or guide_of(finding)).steps
    table = reverse("table", args=[finding.table_id])
    if not steps:
        return NextStep("", "See the table", table)
    first = steps[0]
    says = f"{first.title}."
    if first.offer:
        return NextStep(says, f"{first.title}…", f"{table}#{first.offer.anchor}", first.offer)
    if first.by_settings:
        return NextStep(says, "See the writers", reverse("table-writers", args=[finding.table_id]))
    if finding.state in LOUD:
        return NextStep(says, "See the steps", f"{table}#steps")
    return NextStep(says, "See the table", table)
