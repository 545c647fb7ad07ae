"""Commits that somebody wrote past the log store.

A log store commit leaves an item that lives at least `ddb.ttl` seconds after completion. A younger published version
without an item was therefore written by someone who takes no lock, and whose file the next locked writer can overwrite.

How young a version is, S3's LastModified does not say: a repair or a restore puts an old file anew. So, in this order:

- An item that was seen before, or a temp file with the same bytes, proves that the log store was used. One of the same
  size and another ETag is compared; until then nothing is concluded.
- A look within half the life of an entry that did not find the version yet, while the entry of an older one lived,
  proves that it is young, whatever clocks say; the other half is left to the writer's clock, by which entries expire.
  Without that older entry the version may as well have been lost and brought back.
- The commit's own time is by the clock that its entry's `expireTime` would be by: TTL can have removed the entry of an
  old one, and not that of a young one. A file that S3 or an earlier look shows to be older is no young one either.
- Where a file says no time of its own, or an old one although it has just appeared, nothing is concluded.

Three kinds of gaps are no sign of such a writer. Coordinated commits leave no items. Versions older than the oldest
entry that is or was seen may date from before the table used the log store, so only later ones count; where none ever
was, every one counts. And writers may be set to a shorter life than assumed, which entries show.
"""

from datetime import datetime
from itertools import islice

from coordinator.protocols.absence import ENTRY
from coordinator.protocols.judgement import MOST_FINDINGS, undecided
from coordinator.protocols.log_store_entries import look_evidence, own_domains
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_temp_of, is_version
from coordinator.protocols.overwritten import is_what_was_seen
from coordinator.protocols.provenance import is_same_file
from coordinator.protocols.verdict import Absence, Finding, unsafe
from coordinator.protocols.wording import they_were, thousands, verb
from lake.delta.facts import LogStoreEntry, Mechanism, Provenance

MOST_LIVES = 10
"""Entries that TTL has removed, the newest ones, whose lives still tell what writers are set to."""


def judge_foreign_writers(view: LogView) -> list[Finding]:
    """C8 where it is an alarm: a finding for each foreign version, of very many the newest ones."""
    life = entry_life(view)
    answers = {version: is_foreign(view, version, life) for version in young_versions(view, life)}
    foreign = [version for version, answer in answers.items() if answer]
    unclear = [version for version, answer in answers.items() if answer is None]
    found = [_finding(view, one, len(foreign)) for one in foreign[-MOST_FINDINGS:]]
    return [*found, _unclear(view, unclear)] if unclear else found


def untimed_versions(view: LogView) -> tuple[int, ...]:
    """Versions of which it is not decided until their files are read, ascending."""
    life = entry_life(view)
    young = (version for version in young_versions(view, life) if own_time(view, version) is None)
    return tuple(version for version in young if is_foreign(view, version, life) is None)


def young_versions(view: LogView, life: float) -> tuple[int, ...]:
    """Published versions without an entry that are so young, as far as S3 tells, that one has to be there; ascending.

    `life` is that of an entry, in seconds. Empty where the table uses no log store, or its entries were not read.
    """
    facts = view.facts
    if facts.mechanism is not Mechanism.LOG_STORE or not view.knows_log_store:
        return ()
    if view.unread("entries") or facts.elsewhere:
        return ()  # entries that were not read may be those of the versions without one
    coordinated = [r.table_version for r in view.facts.registrations if r.has_accepted_commits is not False]
    if any(not is_version(version) for version in coordinated):
        return ()
    with_entry = {entry.version for entry in _entries(view) if entry.version is not None}
    known = facts.provenance.values()  # staged files are the coordinator's
    once = {one.version for one in known if one.file_name and is_temp_of(one.file_name, one.version)}
    oldest = min(with_entry | once, default=-1)
    after = max((oldest, view.facts.entries_from - 1, *(one for one in coordinated if one is not None)))
    without = (version for version in sorted(view.published) if version > after and version not in with_entry)
    young = [version for version in without if _is_young(view, version, life)]
    return tuple(v for v in young if True not in view.temp_copies.get(v, ()) and not _was_accepted(view, v))


def is_uncompared(view: LogView, version: int) -> bool:
    """Whether a temp file of the version may or may not hold the published bytes: S3 gives equal ones other ETags."""
    return None in view.temp_copies.get(version, ())


def is_foreign(view: LogView, version: int, life: float) -> bool | None:
    """Whether a young version was written without the log store; None where nothing read so far decides it."""
    if is_uncompared(view, version):
        return None
    known, said = view.facts.provenance.get(version), own_time(view, version)
    age = view.age(known.absent_at) if known is not None and _is_its_file(view, known) else None
    has_just_appeared = age is not None and age < life / 2
    if known is not None and has_just_appeared and _an_older_entry_lived(view, known):
        return True
    if said is None:
        return None
    is_young = view.facts.observed_at.timestamp() - said / 1_000 < life
    return True if is_young else None if has_just_appeared else False


def own_time(view: LogView, version: int) -> int | None:
    """When the file says it was committed, epoch milliseconds by its writer's clock; None where that is not known.

    An in-commit timestamp is the later of that clock and its predecessor's successor, so the earlier of both counts.
    """
    info, known = view.info(version), view.facts.provenance.get(version)
    said = [info.in_commit_timestamp, info.timestamp] if info else []
    if known is not None and _is_its_file(view, known):
        said += [known.in_commit_timestamp, known.commit_timestamp]
    return min((one for one in said if one is not None), default=None)


def entry_life(view: LogView) -> float:
    """Seconds an entry surely lives after its commit: the longest seen on this table, and never above the assumed."""
    shown = [life for entry in _entries(view) if (life := _life_of(view, entry)) is not None and life > 0]
    lives = shown or _remembered_lives(view)
    return min(max(lives), view.facts.ttl_seconds) if lives else view.facts.ttl_seconds


def _life_of(view: LogView, entry: LogStoreEntry) -> float | None:
    file = view.published.get(entry.version) if entry.version is not None else None
    if not entry.complete or entry.version is None or entry.expire_time is None or file is None:
        return None
    times = (file.modified_at, _first_seen(view, entry.version))
    return entry.expire_time - min(one for one in times if one is not None).timestamp()


def _remembered_lives(view: LogView) -> list[float]:
    """Of the newest entries that have gone: from when their files were first seen to when they expired."""
    newest_first = (known for _, known in sorted(view.facts.provenance.items(), reverse=True))
    lives = (
        known.expire_time - known.seen_at.timestamp()
        for known in newest_first
        if known.expire_time is not None and known.seen_at is not None
    )
    return list(islice((life for life in lives if life > 0), MOST_LIVES))


def _an_older_entry_lived(view: LogView, known: Provenance) -> bool:
    """Whether an entry of an older version had not expired when the version was not there yet.

    Its own, had it been lost and brought back, would have expired after that one, and been seen.
    """
    if known.absent_at is None:
        return False
    before, absent_at = view.facts.provenance.values(), known.absent_at.timestamp()
    expiries = [(entry.version, entry.expire_time) for entry in _entries(view) if entry.complete]
    expiries += [(one.version, one.expire_time) for one in before]
    return any(
        version is not None and version < known.version and expire_time is not None and expire_time > absent_at
        for version, expire_time in expiries
    )


def _entries(view: LogView) -> list[LogStoreEntry]:
    return [one for domain in own_domains(view).values() for one in domain if is_version(one.version)]


def _was_accepted(view: LogView, version: int) -> bool:
    """Whether an item was seen that accepted the version, and nothing says that this is another file."""
    file, known = view.published[version], view.facts.provenance.get(version)
    if known is None or not known.is_accepted:
        return False
    if known.disputed:
        return True
    is_as_long = known.accepted_size in (None, file.size)
    return is_as_long and (_is_its_file(view, known) or is_what_was_seen(view, version) is not False)


def _is_young(view: LogView, version: int, life: float) -> bool:
    """Whether neither S3 nor an earlier reading shows that the file is older than an entry lives."""
    ages = (view.age(view.published[version].modified_at), view.age(_first_seen(view, version)))
    return all(age < life for age in ages if age is not None)


def _first_seen(view: LogView, version: int) -> datetime | None:
    """When the file that is published now was first read, before a restore may have put it anew."""
    known = view.facts.provenance.get(version)
    return known.seen_at if known is not None and _is_its_file(view, known) else None


def _is_its_file(view: LogView, known: Provenance) -> bool:
    """Whether what is known of the version is known of the file that is published now."""
    file = view.published[known.version]
    return known.seen_at is None or is_same_file(known, file.size, file.etag)


def _unclear(view: LogView, versions: list[int]) -> Finding:
    many = len(versions)
    proof = f"nothing read so far proves when {verb(many, 'it was', 'they were')} committed"
    if any(is_uncompared(view, version) for version in versions):
        proof += ", or that a temp file holds the same bytes"
    missing = f"{verb(many, 'it has', 'they have')} no entry, and {proof}"
    return undecided(f"Whether {they_were(versions)} written through the log store", missing, *versions)


def _finding(view: LogView, version: int, count: int) -> Finding:
    info = view.facts.commit_infos.get(version)
    known = view.facts.provenance.get(version)
    said = own_time(view, version)
    by = f" by {info.engine}" if info and info.engine else ""
    return unsafe(
        code="foreign-writer",
        summary=f"Version {thousands(version)} was written without the log store{by}. "
        "Such a writer can overwrite a commit of Spark, or lose its own.",
        version=version,
        meaning="The writer takes no lock. When it meets a locked writer on one version, the loser's rows are gone "
        "without an error.",
        evidence={
            "s3": look_evidence(view.file(version)),
            "dynamodb": None,
            "engine": info.engine if info else "",
            "committed_at": said,
            "not_there_at": known.absent_at.isoformat() if known and known.absent_at else None,
            "foreign_versions": count,
        },
        absent=(Absence(ENTRY, version, version),),
    )
