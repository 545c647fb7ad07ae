"""What pages can say of a stored finding without asking AWS: its repairs before they are planned, and a guide.

A guide says what somebody can do about a finding that blocks a table or makes it unsafe, in order, and what not to do.
Nothing that can lose a commit comes before what cannot. Pure.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from coordinator.models import TableFinding
from coordinator.protocols.last_copies import OF_A_FILE_THAT_IS_THERE, OLDER_VERSIONS
from coordinator.protocols.names import commit_name
from coordinator.protocols.verdict import LOUD, State
from coordinator.protocols.wording import counted, joined, thousands
from coordinator.repairs.declaration import Repair
from coordinator.repairs.kinds import REPAIRS
from coordinator.repairs.no_button import NO_BUTTON
from coordinator.repairs.planning import REFUSED


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
    if finding.code in NO_BUTTON:
        _, title, reason = NO_BUTTON[finding.code]
        return [NoOffer(title.format(version="it" if finding.version is None else f"{finding.version:,}"), reason)]
    refused = finding.evidence.get(REFUSED, {}).items()
    return [NoOffer(REPAIRS[name].title(finding.version), reason) for name, reason in refused if name in REPAIRS]


def _offer(finding: TableFinding, repair: Repair) -> Offer:
    title = repair.title(finding.version, finding.evidence.get("first_version"))
    return Offer(repair.name, finding.code, finding.version, title, repair.consequence, repair.loses, finding)


# Guides

OPERATOR, ADMIN, OF_THE_BUCKET, OF_THE_WRITERS = (
    "An operator",
    "An admin, who types the table's name",
    "Whoever may write to the bucket",
    "Whoever runs the writers",
)

_STOP_WRITERS = frozenset(
    ("C4", "C7", "C11", "K4", "K6", "K7", "K8", "K9", "accepted-twice", "bytes-differ", "checksum-of-another",
     "empty-commit", "list-not-contiguous", "overwritten", "path-differs", "refuses-commits", "rewind-leftover",
     "staged-size-differs", "two-coordinators", "two-lock-domains", "two-log-stores", "undecided", "vanished")
)  # fmt: skip
"""Findings that each further commit, or each further try, can make worse."""

_PASTED = "Levee has the settings to paste."

_BY_HAND: Mapping[str, tuple[str, str]] = {
    "C4": ("Keep both files of version {version}, and compare them", "Write the rows that the table lacks again, as a "
           "new commit."),
    "accepted-twice": ("Compare the two commits of version {version}", "Write the rows of the one that is not in the "
                       "table again, as a new commit."),
    "bytes-differ": ("Keep both files of version {version}, and compare them", "Write the rows that the table lacks "
                     "again, as a new commit."),
    "checkpoint-broken": ("Have a new checkpoint made by a program that still opens the table", "It reads the commits "
                          "instead. Where none can, bring the checkpoint's files back from a backup."),
    "checksum-of-another": ("Compare the commit file of version {version} with its .crc", "Both name a transaction. "
                            "Find out which writer made which, and write the rows that the table lacks again."),
    "empty-commit": ("Find the rows of version {version} in what its writer has", "The file holds nothing. Write them "
                     "again, as a new commit."),
    "foreign-writer": ("Set the writer of version {version} to the table's commit store, or stop it", _PASTED),
    "incomplete-with-expiry": ("Find the writer that set the time to expire, and stop it", "No release of Delta gives "
                               "an incomplete entry one."),
    "leftover-entries": ("Bring the log back, or create the table at another path", "Another path is the safe way if "
                         "the table was dropped on purpose."),
    "old-writer": ("Set the writer to Delta 2.2.0 or newer", _PASTED),
    "rewind-leftover": ("Bring the versions below {version} back first", "In order, from the lowest one: once they are "
                        "there, the next reader publishes {version} rightly."),
    "two-coordinators": ("Find out which coordinator counts, and set every writer to it", _PASTED),
    "two-lock-domains": ("Set every writer to one spelling of the path", _PASTED),
    "two-log-stores": ("Set every writer to one commit store", _PASTED),
    "writers-spinning": ("Find out why version {version} is not published, and stop its writer meanwhile",
                         "Other findings of the table say what it meets."),
}  # fmt: skip

_BY_SETTINGS = ("foreign-writer", "old-writer", "two-coordinators", "two-lock-domains", "two-log-stores")
"""Findings that other settings of writers end."""

_DONE_BY_HAND = ("overwritten", "vanished")
"""Findings whose reason for having no button is what is done by hand."""

_GIVING_UP: Mapping[str, tuple[str, str]] = {
    "C7": (
        "Or give version {version} up",
        "Only where the file cannot be brought back, and Levee has no button for it: the writer was told of success. "
        "Once the entry is gone, by hand or by TTL, the next commit takes version {version} with other rows, and the "
        "rows of this one are lost without an error anywhere.",
    ),
    "K7": (
        "Or give version {version} up",
        "Only where the file cannot be brought back, and Levee has no button for it: the coordinator has accepted the "
        "commit, and its rows are lost once the item no longer lists it.",
    ),
}

_NEVER: Mapping[str, tuple[tuple[str, str], ...]] = {
    "C6": (("Delete the entry of version {version}", "It is all that says which file was accepted."),),
    "C7": (
        ("Delete the entry of version {version}", "The next commit takes that version with other rows."),
        ("Publish a temp file of version {version}", "None that is left is the one that the entry names."),
    ),
    "C10": (
        ("Delete the entry by hand", "It may go only while _delta_log/ is empty, and a copy has to be kept of it."),
        ("Publish another temp file as version {version}", "The entry names the one that was accepted."),
    ),
    "C11": (("Publish another temp file as version {version}", "The entry names the one that was accepted."),),
    "K6": (("Delete the item", "It says which version was accepted last."),),
    "bytes-differ": (("Delete the temp file of version {version}", "It may be the last copy of the accepted commit."),),
    "undecided": (("Delete the entry of version {version}", "It is all that says which file was accepted."),),
}


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One thing to do: `who` may do it. `offer` is the repair behind it, `commands` are shell lines; None and "" for
    none. `stops_writers` marks the step at which pages name who writes, `by_settings` the one with settings to paste.
    """

    title: str
    says: str
    who: str
    offer: Offer | None = None
    commands: str = ""
    stops_writers: bool = False
    by_settings: bool = False


@dataclass(frozen=True, slots=True)
class Guide:
    """`steps` in the order in which they are to be taken; `never` is what not to do, and why."""

    steps: tuple[GuideStep, ...]
    never: tuple[NoOffer, ...]


def guide_of(finding: TableFinding) -> Guide:
    """The guide of a loud finding; of any other one it holds the repairs alone."""
    offers, without = offers_of([finding]), without_repair([finding])
    safe = [_offered(one) for one in offers if not one.loses]
    losing = [_offered(one) for one in offers if one.loses]
    is_by_hand = finding.code in _DONE_BY_HAND
    texts = [*_named(_BY_HAND, finding), *((one.title, one.reason) for one in without if is_by_hand)]
    by_hand = [GuideStep(*text, OF_THE_WRITERS, by_settings=finding.code in _BY_SETTINGS) for text in texts]
    if finding.state not in LOUD:
        of_writers = by_hand if finding.code in (*_BY_SETTINGS, "writers-spinning") else []
        return Guide((*safe, *of_writers, *losing), tuple(without))
    steps = (
        *(_stop() if finding.code in _STOP_WRITERS and not safe else ()),
        *safe,
        *(() if safe else _older_versions(finding)),
        *by_hand,
        *losing,
        *(GuideStep(title, says, "An admin, by hand") for title, says in _named(_GIVING_UP, finding)),
    )
    never = [NoOffer(*_filled(one, finding)) for one in _NEVER.get(finding.code, ())]
    return Guide(steps, (*never, *(() if is_by_hand else without)))


def in_words(steps: Sequence[GuideStep]) -> str:
    """The steps as an alert and its mails tell them, one a line; "" for none."""
    if len(steps) == 1:
        return f"{steps[0].title}. {steps[0].says}"
    return "\n".join(f"{number}. {step.title}. {step.says}" for number, step in enumerate(steps, start=1))


def _stop() -> Iterator[GuideStep]:
    says = "Levee cannot: stop the jobs where they are scheduled, and start them again once the table is healthy."
    yield GuideStep("Stop the writers of this table", says, OF_THE_WRITERS, stops_writers=True)


def _offered(offer: Offer) -> GuideStep:
    return GuideStep(offer.title, offer.consequence, ADMIN if offer.loses else OPERATOR, offer)


def _named(texts: Mapping[str, tuple[str, str]], finding: TableFinding) -> list[tuple[str, str]]:
    return [_filled(texts[finding.code], finding)] if finding.code in texts else []


def _filled(text: tuple[str, str], finding: TableFinding) -> tuple[str, str]:
    version = "it" if finding.version is None else thousands(finding.version)
    return text[0].format(version=version), text[1].format(version=version)


# What versioning keeps

_PUT = "aws s3api put-object"


def _older_versions(finding: TableFinding) -> Iterator[GuideStep]:
    """What was found of the files that are gone; nothing where nobody has looked yet."""
    looks = finding.evidence.get(OLDER_VERSIONS, [])
    found = [one for one in looks if one.get("versions")]
    refused = [one for one in looks if one.get("reason")]
    if found:
        names = joined([_noun(one) for one in found])
        commands = [line for one in found for line in _commands(one, is_there=finding.code in OF_A_FILE_THAT_IS_THERE)]
        goes_back = any(line.startswith(_PUT) for line in commands)
        title = f"{'Bring back' if goes_back else 'Look at'} the older version of {names}"
        yield GuideStep(title, " ".join(map(_kept, found)), OF_THE_BUCKET, commands="\n".join(commands))
    elif refused:
        title = f"Look for an older version of {joined([_noun(one) for one in refused])}"
        bucket, key = shlex.quote(str(refused[0]["bucket"])), shlex.quote(str(refused[0]["key"]))
        line = f"aws s3api list-object-versions --bucket {bucket} --prefix {key}"
        yield GuideStep(title, f"Levee could not: {refused[0]['reason']}", OF_THE_BUCKET, commands=line)
    elif looks:
        names = joined([_name(one) for one in looks])
        says = f"Levee has looked in S3: no older version is kept of {names}. "
        says += "A backup's copy of the very file may be put back, where its key is still free."
        yield GuideStep("Look for the file in a backup", says, OF_THE_BUCKET)


def _kept(look: Mapping[str, Any]) -> str:
    """What S3 keeps of one file, and whether it is the one that was seen."""
    versions = look["versions"]
    seen = next((one for one in versions if one.get("seen")), None)
    told = seen or versions[0]
    deleted = f", deleted {_at(look['deleted_at'])}" if look.get("deleted_at") else ""
    which = "1 older version" if len(versions) == 1 else f"{counted(len(versions), 'older version')}, the newest"
    size, at = f"{told['size']:,} B", _at(told["modified_at"])
    what = f"S3 keeps {'the version' if seen else which} of {_name(look)} with {size}, written {at}{deleted}."
    if seen:
        return f"{what} By length and ETag it is the file that Levee saw as version {look['version']:,}."
    if _is_of_one_commit(look):
        return f"{what} Each try of a commit gives its file a name of its own."
    return f"{what} Levee never saw this very file: compare it before anything is put back."


def _commands(look: Mapping[str, Any], *, is_there: bool) -> Iterator[str]:
    """Fetch the version and, where it is the right one, put it back only while the key is free.

    Nothing where it is not known which of several it is.
    """
    versions = look["versions"]
    seen = next((one for one in versions if one.get("seen")), None)
    one = seen or (versions[0] if len(versions) == 1 else None)
    if one is None:
        return
    parts = (look["bucket"], look["key"], _name(look).rpartition("/")[2], one["version_id"])
    bucket, key, file, version = (shlex.quote(str(part)) for part in parts)
    yield f"aws s3api get-object --bucket {bucket} --key {key} --version-id {version} {file}"
    if not is_there and (seen or _is_of_one_commit(look)):
        yield f"{_PUT} --bucket {bucket} --key {key} --body {file} --if-none-match '*'"


def _is_of_one_commit(look: Mapping[str, Any]) -> bool:
    """Temp and staged files have names of their own; a commit file has that of its version."""
    return _name(look) != commit_name(int(look["version"]))


def _noun(look: Mapping[str, Any]) -> str:
    """The file in a title, which has no room for the name of a temp file."""
    kind = "temp file" if _name(look).startswith((".tmp/", "_commit_")) else "staged file"
    return f"the {kind} of version {look['version']:,}" if _is_of_one_commit(look) else _name(look)


def _name(look: Mapping[str, Any]) -> str:
    return str(look["file"])


def _at(moment: object) -> str:
    return f"{datetime.fromisoformat(str(moment)):%d %b %Y %H:%M:%S} UTC"
