"""What was seen of a version once, and is said by no item and no file any more: it stands while the version does.

TTL takes entries, registrations are removed, and a lifecycle rule deletes temp files: none of that brings back a commit
that is missing from the table. Only the version's own end, or a published file that is shown to be right, ends it.

A gap is seen in the log itself, and a lost file of which an item speaks has a state. What is gone from the end leaves
a shorter log that looks whole: readers see an older table, and the next writer commits another version of the number.

A commit counts from its acceptance on, published or not: TTL takes finished entries whatever became of their files, and
takes no others. Only delta-rs removes the entry of a commit that it gives up, before it is complete
(`S3DynamoDbLogStore::abort_commit_entry`): whether that became of an entry of such a writer, nothing left tells.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from coordinator.protocols.absence import commit_files
from coordinator.protocols.deadlines import moment_in_words
from coordinator.protocols.judgement import MOST_FINDINGS, MOST_UNDECIDED, accepted_twice, undecided
from coordinator.protocols.log_store_entries import look_evidence
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_moved_temp, is_version
from coordinator.protocols.overwritten import accepted_look, first_evidence, is_published, spoken_of, survivors_of
from coordinator.protocols.provenance import is_same_file
from coordinator.protocols.verdict import Finding, State, unsafe
from coordinator.protocols.wording import (
    counted,
    joined,
    named_versions,
    runs_of,
    they_were,
    thousands,
    verb,
    version_list,
)
from lake.delta.facts import Acceptance, Provenance
from lake.delta.names import commit_name

_SAID = ("bytes-differ", "C4", "K4", "overwritten")
"""Codes that say of a version, where they are unsafe, that its published file is not the accepted one."""

MOST_LOOKED_UP = 20
"""Of the versions that are gone, those nearest to the end of the log are looked up once more."""


def judge_vanished(view: LogView) -> list[Finding]:
    """One finding for all that are lost, and others for those that may be, once each that is to be looked up was."""
    gone = gone_versions(view)
    if not gone or any(commit_name(version) not in view.facts.heads for version in gone[:MOST_LOOKED_UP]):
        return []
    known = view.facts.provenance
    lost = [version for version in gone if _is_lost(view, known[version])]
    unclear = sorted(set(gone).difference(lost))
    unread = [version for version in unclear if _unread_store(view, known[version])]
    given_up = sorted(set(unclear).difference(unread))
    found = [_vanished(view, lost)] if lost else []
    if unread:
        stores = dict.fromkeys(_unread_store(view, known[version]) for version in unread)
        missing = f"{joined(list(stores))}, which accepted {verb(len(unread), 'it', 'them')}, was not read"
        found.append(undecided(f"Whether {they_were(unread)} lost", missing, *unread))
    found += [_given_up_or_lost(they_were(given_up), given_up)] if given_up else []
    return found


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


def _vanished(view: LogView, versions: Sequence[int]) -> Finding:
    many, newest = len(versions), view.newest or 0
    known = [view.facts.provenance[version] for version in versions]
    kept = {one.version: survivors_of(view, one) for one in known[:MOST_LOOKED_UP]}
    return unsafe(
        "vanished",
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


def _given_up_or_lost(what: str, versions: Sequence[int]) -> Finding:
    """Commits of delta-rs of which nothing left tells whether it gave them up; `what` becomes "Whether … was lost"."""
    many = len(versions)
    entry = verb(many, "its entry was gone before it was", "their entries were gone before they were")
    missing = f"{entry} complete, and delta-rs, which wrote {verb(many, 'it', 'them')}, removes what it gives up"
    return undecided(f"Whether {what} lost", missing, *versions)


def remembered_findings(view: LogView, found: Sequence[Finding]) -> list[Finding]:
    """What `found`, the findings of what is there now, do not say of versions of which more is known."""
    known = [one for version, one in sorted(view.facts.provenance.items()) if is_version(version)]
    known = [one for one in known if not view.is_cleaned(one.version)]
    twice, differs = _spoken_of(found, ("accepted-twice",)), _spoken_of(found, _SAID)
    of_two = [one for one in known if one.version not in twice and twice_accepted(view, one)]
    again = [one for one in known if one.version not in twice | differs and accepted_again(view, one)]
    lost = [one for one in again if not _may_all_be_given_up(view, one)]
    given_up = [one.version for one in again if one not in lost]
    now = view.published
    replaced = [one for one in known if one.version in now and one.version not in differs]
    replaced = [one for one in replaced if one.is_accepted and not one.disputed]
    replaced = [one for one in replaced if one.differs_etag == now[one.version].etag]
    of_two_times = [one.version for one in known if one.version not in twice | differs and _has_two_times(view, one)]
    told = [
        *_drawn_together(view, of_two, partial(_twice, of=twice_accepted)),
        *_drawn_together(view, lost, partial(_twice, of=accepted_again)),
        *_drawn_together(view, replaced, _not_the_accepted),
    ]
    if given_up:
        told.append(_given_up_or_lost(f"a first commit of {named_versions(given_up)} was", given_up))
    if times := of_two_times:
        of_it = verb(len(times), "it", "them")
        missing = (
            f"the coordinator held another in-commit timestamp of {of_it} before, and no file of that commit is left"
        )
        told.append(undecided(f"Whether {they_were(times)} accepted twice", missing, *times))
    return told


def _drawn_together(
    view: LogView, known: Sequence[Provenance], finding: Callable[[LogView, Provenance], Finding]
) -> Iterator[Finding]:
    """A finding for each of the newest; the oldest of these speaks for all below it, which a rule reaches first."""
    shown, more = known[-MOST_FINDINGS:], [one.version for one in known[:-MOST_FINDINGS]][-MOST_UNDECIDED:]
    for place, one in enumerate(shown):
        found = finding(view, one)
        if place or not more:
            yield found
            continue
        told = f"{found.summary} So it is with {counted(len(more), 'older version')}: {version_list(more)}."
        yield replace(found, summary=told, evidence={**found.evidence, "all_versions": [*more, one.version]})


def twice_accepted(view: LogView, known: Provenance) -> tuple[Acceptance, ...]:
    """Acceptances of the version under locks that do not exclude each other; none where they are shown to be one.

    Entries beside a coordinator's list may speak of the same commit.
    """
    first, *rivals = known.acceptances or (None,)
    others = [one for one in rivals if first and one.identity != first.identity]
    return _unless_one_commit(view, known, others)


def accepted_again(view: LogView, known: Provenance) -> tuple[Acceptance, ...]:
    """Acceptances of a published version under one lock, the first of which has gone; none where all are published.

    A lock accepts a version again only after its item has gone. Where the first commit was published by then, the files
    tell whether it was lost.
    """
    first, *rivals = known.acceptances or (None,)
    if known.version not in view.published or twice_accepted(view, known):
        return ()
    return _unless_one_commit(view, known, [one for one in rivals if first and one.identity == first.identity])


def _unless_one_commit(view: LogView, known: Provenance, others: Sequence[Acceptance]) -> tuple[Acceptance, ...]:
    first = known.acceptances[0] if known.acceptances else None
    others = [one for one in others if first and one.is_of_log_store == first.is_of_log_store]
    if first is None or not others or not known.disputed:
        return ()
    accepted = (first, *others)
    return () if all(is_published(view, known, one) for one in accepted) else accepted


def _may_all_be_given_up(view: LogView, known: Provenance) -> bool:
    """Whether each commit that is not the published one may have been given up by its writer.

    The last that the lock accepted is the published one, unless it is shown not to be.
    """
    *earlier, last = accepted_again(view, known)
    unpublished = [one for one in earlier if is_published(view, known, one) is not True]
    unpublished += [last] if is_published(view, known, last) is False else []
    return all(may_be_given_up(one) for one in unpublished)


def _has_two_times(view: LogView, known: Provenance) -> bool:
    """Whether an item said two times of the version, and the published file is not shown to be of the first one."""
    times = {one.timestamp for one in known.acceptances if one.timestamp is not None}
    file, info = view.published.get(known.version), view.info(known.version)
    if file is None or known.disputed or len(times) < 2:
        return False
    of_file = known.in_commit_timestamp if is_same_file(known, file.size, file.etag) else None
    said = info.in_commit_timestamp if info and info.in_commit_timestamp is not None else of_file
    return said != known.accepted_timestamp


def _spoken_of(found: Iterable[Finding], codes: Sequence[str]) -> set[int]:
    unsafe = (one for one in found if one.code in codes and one.state is State.UNSAFE)
    return {version for one in unsafe for version in one.versions}


def _twice(view: LogView, known: Provenance, of: Callable[[LogView, Provenance], tuple[Acceptance, ...]]) -> Finding:
    accepted, version = of(view, known), known.version
    several = len({one.store for one in accepted}) > 1
    word, names = "under", [one.store if several else one.lock_domain for one in accepted]
    if len({one.identity for one in accepted}) == 1:
        word, names = "as", [one.file_name or one.lock_domain for one in accepted]
    told = [f"{word} {name} (seen {_when(one)})" for name, one in zip(names, accepted, strict=True)]
    held = [is_published(view, known, one) for one in accepted]
    return accepted_twice(
        version,
        f": {joined(told)}. {_which_is_missing(view, version, names, held)}",
        {
            "accepted": [_evidence(view, version, one, is_held) for one, is_held in zip(accepted, held, strict=True)],
            "s3": [look_evidence(view.file(version))],
        },
        " This stands until log clean-up takes the version.",
    )


def _when(one: Acceptance) -> str:
    return moment_in_words(one.accepted_at) if one.accepted_at else "at an unknown time"


def _which_is_missing(view: LogView, version: int, names: Sequence[str], held: Sequence[bool | None]) -> str:
    if not view.file(version).present:
        return "Neither is published."
    published = [name for name, is_held in zip(names, held, strict=True) if is_held]
    missing = [name for name, is_held in zip(names, held, strict=True) if is_held is False]
    if published:
        return f"…{version}.json is that of {joined(published)}: rows of the other are not in the table."
    if missing:
        return f"…{version}.json is not that of {joined(missing)}, whose rows are not in the table."
    return f"Which of them …{version}.json holds is not known."


def _not_the_accepted(view: LogView, known: Provenance) -> Finding:
    version, accepted = known.version, known.acceptances[0]
    copy = accepted_look(view, version, accepted.file_name)
    is_there = copy is not None and copy.present is not False
    kept = "Keep it" if is_there else "It is gone: look for it among S3 versions and in backups, and keep what is left"
    name = accepted.file_name or "the accepted one"
    return unsafe(
        "bytes-differ",
        f"…{version}.json was shown to hold another commit than {name}, which {accepted.store} was seen to accept "
        f"{_when(accepted)}.",
        version,
        f"That file {'is' if is_there else 'was'} the last known copy of the accepted commit, whose rows "
        f"are not in the table. {kept} until the loss is understood. This stands until …{version}.json is shown to be "
        "right, or log clean-up takes it.",
        {
            "accepted": [_evidence(view, version, accepted, False)],
            "s3": [look_evidence(view.file(version))],
            "bytes_equal": False,
        },
    )


def _evidence(view: LogView, version: int, one: Acceptance, is_held: bool | None) -> dict[str, object]:
    copy = accepted_look(view, version, one.file_name)
    return {
        "store": one.store,
        "region": one.region,
        "lock_domain": one.lock_domain,
        "file": one.file_name,
        "size": one.size,
        "etag": one.etag,
        "in_commit_timestamp": one.timestamp,
        "seen_at": one.accepted_at.isoformat() if one.accepted_at else None,
        "file_present": copy.present if copy else None,
        "is_published": is_held,
    }
