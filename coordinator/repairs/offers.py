"""Repairs in words before they are planned: what pages can say of a stored finding without asking AWS."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coordinator.models import TableFinding
from coordinator.protocols.verdict import State
from coordinator.repairs.facts import RepairName
from coordinator.repairs.possible import REFUSED
from coordinator.repairs.refusals import NO_BUTTON

_KNOWN = frozenset(RepairName)
_LOUD = (State.BLOCKED, State.UNSAFE)


@dataclass(frozen=True, slots=True)
class Words:
    """What a repair is called, of one version, of none and of a run of versions, and what it does and leaves alone."""

    act: str
    consequence: str
    plain: str = ""
    loses: bool = False
    run: str = ""

    def title(self, version: int | None, first: int | None = None) -> str:
        if version is None:
            return self.plain or self.act
        if first is not None and self.run:
            return self.run.format(first=f"{first:,}", version=f"{version:,}")
        return self.act.format(version=f"{version:,}")


WORDS: Mapping[RepairName, Words] = {
    RepairName.PUBLISH_COMMIT: Words(
        "Publish commit {version}",
        "Copies the temp file to its commit file, only if that key is still absent, compares every byte, and marks "
        "the entry complete, only if it is still the one shown. Deletes nothing.",
    ),
    RepairName.COMPLETE_ENTRY: Words(
        "Complete entry {version}",
        "Compares the published file with the temp file and marks the entry complete, only if every byte is equal. "
        "Changes nothing on S3.",
    ),
    RepairName.REPUBLISH_FILE: Words(
        "Republish the file of commit {version}",
        "Copies the surviving temp file to the commit file that is gone, only if that key is still absent, and "
        "compares every byte. Changes no entry and deletes nothing.",
        run="Republish the files of commits {first} to {version}",
    ),
    RepairName.BACKFILL: Words(
        "Backfill up to commit {version}",
        "Copies each staged file to its commit file, oldest first, only where that key is absent, and then empties "
        "the coordinator's list, only if it is still the one shown. Deletes no file.",
        "Backfill",
    ),
    RepairName.CLEAR_ENTRIES: Words(
        "Clear the listed commits up to {version}",
        "Compares each backfilled file with its staged file and empties the coordinator's list, only if it is still "
        "the one shown. Changes nothing on S3.",
        "Clear the listed commits",
    ),
    RepairName.PUBLISH_ACCEPTED_STAGED_FILE: Words(
        "Publish the accepted staged file of commit {version}",
        "Finds the one staged file whose in-commit timestamp the coordinator accepted and copies it to the commit "
        "file, only if that key is still absent. Deletes nothing.",
    ),
    RepairName.RAISE_COORDINATOR_VERSION: Words(
        "Raise the coordinator above version {version}",
        "Sets the coordinator's version to the newest published one, only if the item is still the one shown. "
        "Changes nothing on S3.",
        "Raise the coordinator's version",
    ),
    RepairName.RE_REGISTER: Words(
        "Register the table again at version {version}",
        "Puts the registration that the table names, only if none exists. Changes nothing on S3.",
        "Register the table again",
    ),
    RepairName.REMOVE_ORPHANS: Words(
        "Remove what no commit needs",
        "Deletes what no entry and no registration names, after looking at each once more. What may be the last copy "
        "of a commit needs an admin and the table's name, and is kept aside first.",
    ),
    RepairName.ABANDON_COMMIT: Words(
        "Abandon commit {version}",
        "Saves the entry aside and removes it, so that the table can be used again. The rows of this commit are lost "
        "if its writer reported it as done.",
        loses=True,
    ),
}


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
        _offer(finding, RepairName(name))
        for finding in findings
        if finding.resolved_at is None and finding.code not in NO_BUTTON
        for name in finding.repairs
        if name in _KNOWN
    ]


def without_repair(findings: Iterable[TableFinding]) -> list[NoOffer]:
    """What has no button about the open findings that weigh, with the reason."""
    weighing = (one for one in findings if one.resolved_at is None and one.state != State.HEALTHY)
    return [without for finding in weighing for without in _no_offers(finding)]


def _no_offers(finding: TableFinding) -> list[NoOffer]:
    refused = finding.evidence.get(REFUSED)
    if finding.code not in NO_BUTTON and isinstance(refused, Mapping) and refused:
        return [
            NoOffer(WORDS[RepairName(name)].title(finding.version), str(reason))
            for name, reason in refused.items()
            if name in _KNOWN
        ]
    if finding.code in NO_BUTTON or (not finding.repairs and finding.state in _LOUD):
        return [_no_offer(finding)]
    return []


def _no_offer(finding: TableFinding) -> NoOffer:
    version = f"{finding.version:,}" if finding.version is not None else "it"
    if finding.code in NO_BUTTON:
        _, title, reason = NO_BUTTON[finding.code]
        return NoOffer(title.format(version=version), reason)
    about = f" of version {version}" if finding.version is not None else ""
    return NoOffer(f"Repair {finding.code}{about}", finding.meaning or finding.summary)


def _offer(finding: TableFinding, repair: RepairName) -> Offer:
    words = WORDS[repair]
    return Offer(
        repair=repair.value,
        code=finding.code,
        version=finding.version,
        title=words.title(finding.version, finding.evidence.get("first_version")),
        consequence=words.consequence,
        loses=words.loses,
        finding=finding,
    )
