"""Repairs in words before they are planned: what pages can say of a stored finding without asking AWS."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coordinator.models import TableFinding
from coordinator.protocols.verdict import State
from coordinator.repairs.declaration import Repair
from coordinator.repairs.kinds import REPAIRS
from coordinator.repairs.no_button import NO_BUTTON
from coordinator.repairs.possible import REFUSED


@dataclass(frozen=True, slots=True)
class Offer:
    """One repair of one stored finding. `anchor` names it on the table's page."""

    repair: str
    code: str
    version: int | None
    title: str
    consequence: str
    loses: bool
    finding: TableFinding

    @property
    def anchor(self) -> str:
        return f"repair-{self.repair}-{self.code}-{'' if self.version is None else self.version}"


@dataclass(frozen=True, slots=True)
class NoOffer:
    """A repair that somebody may look for, and why it has no button."""

    title: str
    reason: str


def offers_of(findings: Iterable[TableFinding]) -> list[Offer]:
    """The repairs that open findings name, in their order; a name this release does not know is left out."""
    return [
        _offer(finding, REPAIRS[name])
        for finding in findings
        if finding.resolved_at is None and finding.code not in NO_BUTTON
        for name in finding.repairs
        if name in REPAIRS
    ]


def without_repair(findings: Iterable[TableFinding]) -> list[NoOffer]:
    """What has no button about the open findings that weigh, with the reason."""
    weighing = (one for one in findings if one.resolved_at is None and one.state != State.HEALTHY)
    return [without for finding in weighing for without in _no_offers(finding)]


def _no_offers(finding: TableFinding) -> list[NoOffer]:
    refused = finding.evidence.get(REFUSED)
    if finding.code not in NO_BUTTON and isinstance(refused, Mapping) and refused:
        return [
            NoOffer(REPAIRS[name].title(finding.version), str(reason))
            for name, reason in refused.items()
            if name in REPAIRS
        ]
    if finding.code not in NO_BUTTON:
        return []
    _, title, reason = NO_BUTTON[finding.code]
    return [NoOffer(title.format(version="it" if finding.version is None else f"{finding.version:,}"), reason)]


def _offer(finding: TableFinding, repair: Repair) -> Offer:
    return Offer(
        repair=repair.name,
        code=finding.code,
        version=finding.version,
        title=repair.title(finding.version, finding.evidence.get("first_version")),
        consequence=repair.consequence,
        loses=repair.loses,
        finding=finding,
    )
