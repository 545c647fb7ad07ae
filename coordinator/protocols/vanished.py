"""Versions that were published, and are gone from the end of the log although no item speaks of them any more.

A gap is seen in the log itself, and a lost file of which an item speaks has a state. What is gone from the end leaves
a shorter log that looks whole: readers see an older table, and the next writer commits another version of the number.
"""

from coordinator.protocols.judgement import Judgement
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_version
from coordinator.protocols.overwritten import first_evidence, spoken_of, survivors_of
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import thousands, verb, version_list
from lake.delta.names import commit_name

MOST_LOOKED_UP = 20
"""Of the versions that are gone, those nearest to the end of the log are looked up once more."""


def judge_vanished(view: LogView) -> Judgement:
    """One finding for all of them, once each that is to be looked up was."""
    versions = vanished_versions(view)
    if not versions or any(commit_name(version) not in view.facts.heads for version in versions[:MOST_LOOKED_UP]):
        return Judgement()
    return Judgement(findings=(_finding(view, versions),))


def vanished_versions(view: LogView) -> tuple[int, ...]:
    """Versions above the end of the log that were seen published, ascending; none where there is no log at all."""
    if view.newest is None:
        return ()
    known, named = view.facts.provenance, spoken_of(view)
    above = (version for version in sorted(known) if version > view.newest and version not in named)
    return tuple(version for version in above if is_version(version) and known[version].seen_at is not None)


def _finding(view: LogView, versions: tuple[int, ...]) -> Finding:
    many, newest = len(versions), view.newest or 0
    kept = {version: survivors_of(view, view.facts.provenance[version]) for version in versions[:MOST_LOOKED_UP]}
    return Finding(
        "vanished",
        Severity.CRITICAL,
        State.UNSAFE,
        f"{verb(many, 'Version', 'Versions')} {version_list(versions)} {verb(many, 'was', 'were')} published and "
        f"{verb(many, 'is', 'are')} gone, and no item names {verb(many, 'it', 'them')} any more. Readers silently see "
        f"{thousands(newest)}.",
        versions[-1],
        f"The next writer commits another version {thousands(newest + 1)}, and the rows of the first one stay lost. "
        "Stop the writers and bring the files back, unless the log was rewound on purpose.",
        {
            "published_version": newest,
            "gone": [
                {"version": version, "survivors": found, **first_evidence(view.facts.provenance[version])}
                for version, found in kept.items()
            ],
            "count": many,
        },
    )
