"""Versions that were published or accepted, and are gone from the end of the log although no item speaks of them now.

A gap is seen in the log itself, and a lost file of which an item speaks has a state. What is gone from the end leaves
a shorter log that looks whole: readers see an older table, and the next writer commits another version of the number.

A commit counts from its acceptance on, published or not: TTL takes finished entries whatever became of their files, and
takes no others. Only delta-rs removes the entry of a commit that it gives up, before it is complete
(`S3DynamoDbLogStore::abort_commit_entry`): whether that became of an entry of such a writer, nothing left tells.
"""

from collections.abc import Iterable, Sequence

from coordinator.protocols.absence import commit_files
from coordinator.protocols.judgement import Judgement, undecided
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_moved_temp, is_version
from coordinator.protocols.overwritten import first_evidence, spoken_of, survivors_of
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import joined, named_versions, runs_of, thousands, verb, version_list
from lake.delta.facts import Acceptance, Provenance
from lake.delta.names import commit_name

MOST_LOOKED_UP = 20
"""Of the versions that are gone, those nearest to the end of the log are looked up once more."""


def judge_vanished(view: LogView) -> Judgement:
    """One finding for all that are lost, and others for those that may be, once each that is to be looked up was."""
    gone = gone_versions(view)
    if not gone or any(commit_name(version) not in view.facts.heads for version in gone[:MOST_LOOKED_UP]):
        return Judgement()
    known = view.facts.provenance
    lost = [version for version in gone if _is_lost(view, known[version])]
    unclear = sorted(set(gone).difference(lost))
    unread = [version for version in unclear if _unread_store(view, known[version])]
    given_up = sorted(set(unclear).difference(unread))
    found = [_finding(view, lost)] if lost else []
    found += [_not_read(view, unread)] if unread else []
    return Judgement(findings=(*found, *([_given_up_or_lost(given_up)] if given_up else [])))


def gone_versions(view: LogView) -> tuple[int, ...]:
    """Versions above the end of the log that were seen, ascending; none where there is no log at all."""
    if view.newest is None:
        return ()
    known, named = view.facts.provenance, spoken_of(view)
    above = (known[version] for version in sorted(known) if version > view.newest and version not in named)
    return tuple(one.version for one in above if is_version(one.version) and one.is_known)


def vanished_versions(view: LogView) -> tuple[int, ...]:
    """Those of them that were published, or accepted for good by an item that would be seen if it still were."""
    known = view.facts.provenance
    return tuple(version for version in gone_versions(view) if _is_lost(view, known[version]))


def may_be_given_up(one: Acceptance) -> bool:
    """Whether its writer may have removed the entry itself: delta-rs does, as long as it is not complete."""
    return one.file_name is not None and is_moved_temp(one.file_name) and one.expire_time is None


def _is_lost(view: LogView, known: Provenance) -> bool:
    if known.seen_at is not None:
        return True
    if _unread_store(view, known):
        return False
    return any(not may_be_given_up(one) for one in known.acceptances)


def _unread_store(view: LogView, known: Provenance) -> str:
    """The store that accepted it and was not read this time: its item may stand there; "" where all were."""
    return next((one.store for one in known.acceptances if not _was_read(view, one)), "")


def _was_read(view: LogView, one: Acceptance) -> bool:
    facts = view.facts
    if view.unread("entries" if one.is_of_log_store else "registrations"):
        return False
    if facts.region and one.region and one.region != facts.region:
        return False
    if any(problem.place.endswith(f" {one.store}") for problem in facts.unread_stores):
        return False
    return facts.asked_stores is None or facts.asked_stores.would_show(one)


def _finding(view: LogView, versions: Sequence[int]) -> Finding:
    many, newest = len(versions), view.newest or 0
    known = [view.facts.provenance[version] for version in versions]
    kept = {one.version: survivors_of(view, one) for one in known[:MOST_LOOKED_UP]}
    return Finding(
        "vanished",
        Severity.CRITICAL,
        State.UNSAFE,
        f"{verb(many, 'Version', 'Versions')} {version_list(versions)} {_what_happened(known)}, and no item names "
        f"{verb(many, 'it', 'them')} any more. Readers silently see {thousands(newest)}.",
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
        absent=commit_files(runs_of(versions)),
    )


def _what_happened(known: Sequence[Provenance]) -> str:
    were = verb(len(known), "was", "were")
    if all(one.seen_at for one in known):
        return f"{were} published and {verb(len(known), 'is', 'are')} gone"
    if not any(one.seen_at for one in known):
        return f"{were} accepted and {were} never seen published"
    return "were published or accepted and are gone"


def _not_read(view: LogView, versions: Sequence[int]) -> Finding:
    many = len(versions)
    stores = dict.fromkeys(_unread_store(view, view.facts.provenance[version]) for version in versions)
    named = f"{named_versions(versions)} {verb(many, 'was', 'were')}"
    missing = f"{joined(list(stores))}, which accepted {verb(many, 'it', 'them')}, was not read"
    return undecided(f"Whether {named} lost", missing, versions[-1], versions)


def _given_up_or_lost(versions: Iterable[int]) -> Finding:
    kept = list(versions)
    many = len(kept)
    named = f"{named_versions(kept)} {verb(many, 'was', 'were')}"
    entry = verb(many, "its entry was gone before it was", "their entries were gone before they were")
    missing = f"{entry} complete, and delta-rs, which wrote {verb(many, 'it', 'them')}, removes what it gives up"
    return undecided(f"Whether {named} lost", missing, kept[-1], kept)
