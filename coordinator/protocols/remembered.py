"""What was proven of a version once, and is said by no item and no file any more: it stands while the version does.

TTL takes entries, registrations are removed, and a lifecycle rule deletes temp files: none of that brings back a commit
that is missing from the table. Only the version's own end, or a published file that is shown to be right, ends it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from coordinator.protocols.accepted_copies import accepted_look, is_published
from coordinator.protocols.deadlines import moment_in_words
from coordinator.protocols.judgement import MOST_FINDINGS, MOST_UNDECIDED, undecided
from coordinator.protocols.log_store_entries import look_evidence
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_version
from coordinator.protocols.provenance import is_same_file
from coordinator.protocols.vanished import may_be_given_up
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import counted, joined, named_versions, thousands, verb, version_list
from lake.delta.facts import Acceptance, Provenance

_SAID = ("bytes-differ", "C4", "K4", "overwritten")
"""Codes that say of a version, where they are unsafe, that its published file is not the accepted one."""


def remembered_findings(view: LogView, found: Sequence[Finding]) -> list[Finding]:
    """What `found`, the findings of what is there now, do not say of versions of which more is known."""
    known = [one for version, one in sorted(view.facts.provenance.items()) if is_version(version)]
    known = [one for one in known if not view.is_cleaned(one.version)]
    twice, differs = _spoken_of(found, ("accepted-twice",)), _spoken_of(found, _SAID)
    of_two = [one for one in known if one.version not in twice and twice_accepted(view, one)]
    again = [one for one in known if one.version not in twice | differs and accepted_again(view, one)]
    lost = [one for one in again if not _may_all_be_given_up(view, one)]
    replaced = [one for one in known if one.version not in differs and _is_not_the_accepted(view, one)]
    return [
        *_drawn_together(view, of_two, partial(_twice, of=twice_accepted)),
        *_drawn_together(view, lost, partial(_twice, of=accepted_again)),
        *_drawn_together(view, replaced, _not_the_accepted),
        *_given_up_or_lost([one.version for one in again if one not in lost]),
        *_of_other_times(
            [one.version for one in known if one.version not in twice | differs and _has_two_times(view, one)]
        ),
    ]


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


def _of_other_times(versions: Sequence[int]) -> Iterator[Finding]:
    if versions:
        many = len(versions)
        named = f"{named_versions(versions)} {verb(many, 'was', 'were')}"
        of_it = verb(many, "it", "them")
        missing = (
            f"the coordinator held another in-commit timestamp of {of_it} before, and no file of that commit is left"
        )
        yield undecided(f"Whether {named} accepted twice", missing, versions[-1], versions)


def _given_up_or_lost(versions: Sequence[int]) -> Iterator[Finding]:
    if versions:
        many = len(versions)
        named = named_versions(versions)
        entry = verb(many, "its entry was gone before it was", "their entries were gone before they were")
        missing = f"{entry} complete, and delta-rs, which wrote {verb(many, 'it', 'them')}, removes what it gives up"
        yield undecided(f"Whether a first commit of {named} was lost", missing, versions[-1], versions)


def _spoken_of(found: Iterable[Finding], codes: Sequence[str]) -> set[int]:
    unsafe = (one for one in found if one.code in codes and one.state is State.UNSAFE)
    return {version for one in unsafe for version in one.versions}


def _is_not_the_accepted(view: LogView, known: Provenance) -> bool:
    file = view.published.get(known.version)
    return file is not None and known.is_accepted and not known.disputed and known.differs_etag == file.etag


def _twice(view: LogView, known: Provenance, of: Callable[[LogView, Provenance], tuple[Acceptance, ...]]) -> Finding:
    accepted, version = of(view, known), known.version
    names = _names(accepted)
    word = "as" if _is_one_lock(accepted) else "under"
    told = [f"{word} {name} (seen {_when(one)})" for name, one in zip(names, accepted, strict=True)]
    held = [is_published(view, known, one) for one in accepted]
    return Finding(
        "accepted-twice",
        Severity.CRITICAL,
        State.UNSAFE,
        f"Version {thousands(version)} was accepted twice, as different commits: {joined(told)}. "
        f"{_which_is_missing(view, version, names, held)}",
        version,
        "Both writers may have reported success. Keep every file until the loss is understood, and write the missing "
        "rows again. This stands until log clean-up takes the version.",
        {
            "accepted": [_evidence(view, version, one, is_held) for one, is_held in zip(accepted, held, strict=True)],
            "s3": [look_evidence(view.file(version))],
        },
    )


def _names(accepted: Sequence[Acceptance]) -> list[str]:
    if _is_one_lock(accepted):
        return [one.file_name or one.lock_domain for one in accepted]
    several = len({one.store for one in accepted}) > 1
    return [one.store if several else one.lock_domain for one in accepted]


def _is_one_lock(accepted: Sequence[Acceptance]) -> bool:
    return len({one.identity for one in accepted}) == 1


def _when(one: Acceptance) -> str:
    return moment_in_words(one.accepted_at) if one.accepted_at else "at an unknown time"


def _which_is_missing(view: LogView, version: int, names: Sequence[str], held: Sequence[bool | None]) -> str:
    if not view.file(version).present:
        return "Neither is published."
    published = [name for name, is_held in zip(names, held, strict=True) if is_held]
    missing = [name for name, is_held in zip(names, held, strict=True) if is_held is False]
    if published:
        return f"{version}.json is that of {joined(published)}: rows of the other are not in the table."
    if missing:
        return f"{version}.json is not that of {joined(missing)}, whose rows are not in the table."
    return f"Which of them {version}.json holds is not known."


def _not_the_accepted(view: LogView, known: Provenance) -> Finding:
    version, accepted = known.version, known.acceptances[0]
    copy = accepted_look(view, version, accepted.file_name)
    is_there = copy is not None and copy.present is not False
    kept = "Keep it" if is_there else "It is gone: look for it among S3 versions and in backups, and keep what is left"
    name = accepted.file_name or "the accepted one"
    return Finding(
        "bytes-differ",
        Severity.CRITICAL,
        State.UNSAFE,
        f"{version}.json was shown to hold another commit than {name}, which {accepted.store} was seen to accept "
        f"{_when(accepted)}.",
        version,
        f"That file {'is' if is_there else 'was'} the last known copy of the accepted commit, whose rows "
        f"are not in the table. {kept} until the loss is understood. This stands until {version}.json is shown to be "
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
