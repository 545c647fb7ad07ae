"""Published files that are not what they were: not the file that was seen first, or not the one that was accepted.

A settled version never changes. An ETag that changed says only that the file was put again: by a repair, by a restore
of an older S3 version, or by somebody else. Equal ETags mean equal bytes; unequal ones mean nothing where S3 encrypted
the file with a key of KMS or took it in parts. So the accepted temp or staged file decides where it survives, then the
`.crc` of the version, which names the transaction that wrote it, then the size, then the MD5 of the bytes, then the
times in commitInfo; where none of them does, nothing is concluded.
"""

from dataclasses import replace

from coordinator.protocols.judgement import MOST_FINDINGS, undecided
from coordinator.protocols.log_store_entries import look_evidence, own_domains
from coordinator.protocols.log_view import LogView, ObjectPresence
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.names import is_temp_of, same_place, staged_file_version
from coordinator.protocols.provenance import is_same_file
from coordinator.protocols.published_log import is_of_another_transaction
from coordinator.protocols.registrations import is_split
from coordinator.protocols.verdict import Finding, unsafe
from coordinator.protocols.wording import they_were, thousands, verb
from lake.delta.facts import Acceptance, LogObject, Provenance, Registration


def accepted_look(view: LogView, version: int, name: str | None) -> ObjectPresence | None:
    """The temp or staged file that an item named; None where the name cannot be one of this version."""
    if name is None:
        return None
    if "/" not in name and staged_file_version(name) == version:
        return view.staged(name)
    return view.temp(name) if is_temp_of(name, version) else None


def is_published(view: LogView, known: Provenance, one: Acceptance) -> bool | None:
    """Whether the published file is the commit that was accepted; None where nothing shows it, or nothing is published.

    What was shown once of this very file holds after the accepted one has gone.
    """
    file = view.published.get(known.version)
    if file is None:
        return None
    if one.size not in (None, file.size):
        return False
    if one.etag is not None and one.etag in (file.etag, _digest(view, known, file)):
        return True
    look = accepted_look(view, known.version, one.file_name)
    if look is not None and look.object is not None:
        equal = view.equal(known.version, view.file(known.version), look)
        compared = equal if equal is not None else view.is_copy(look.object)
        if compared is not None:
            return compared
    return False if file.etag == one.differs_etag or _is_of_another_time(view, known, one, file) else None


def with_proofs(view: LogView, known: Provenance) -> Provenance:
    """What is known of a version with what this reading shows: that the published file is not the accepted one."""
    file = view.published.get(known.version)
    if file is None or not known.is_accepted:
        return known
    wrong = [is_published(view, known, one) is False for one in known.acceptances]
    if not any(wrong):
        return known
    first, *rivals = (
        replace(one, differs_etag=file.etag) if is_wrong else one
        for one, is_wrong in zip(known.acceptances, wrong, strict=True)
    )
    return replace(known, differs_etag=first.differs_etag, rivals=tuple(rivals))


def _digest(view: LogView, known: Provenance, file: LogObject) -> str | None:
    """The MD5 of the published bytes; an ETag that equals it was made of them alone."""
    info = view.info(known.version)
    if info is not None and info.digest is not None:
        return info.digest
    return known.digest if is_same_file(known, file.size, file.etag) else None


def _is_of_another_time(view: LogView, known: Provenance, one: Acceptance, file: LogObject) -> bool:
    """Whether its in-commit timestamp is another than the accepted one; equal times prove nothing.

    An item without its list holds the time of a version only as long as nobody raises it by hand and leaves the time.
    """
    if one.file_name is None:
        return False
    info = view.info(known.version)
    said = info.in_commit_timestamp if info else None
    if said is None and is_same_file(known, file.size, file.etag):
        said = known.in_commit_timestamp
    return None not in (said, one.timestamp) and said != one.timestamp


def judge_overwritten(view: LogView) -> list[Finding]:
    """A finding for each overwritten version, of very many the newest; one for all that cannot be decided."""
    answers = {version: is_what_was_seen(view, version) for version in changed_versions(view)}
    answers |= dict.fromkeys(contradicted_versions(view), False)
    overwritten = sorted(version for version, same in answers.items() if same is False)
    unclear = [version for version, same in answers.items() if same is None]
    found = [_finding(view, version, len(overwritten)) for version in overwritten[-MOST_FINDINGS:]]
    if unclear:
        file = verb(len(unclear), "its file was", "their files were")
        missing = f"{file} put again with another ETag and the same size, and the first bytes were not read"
        found.append(undecided(f"Whether {they_were(unclear)} overwritten", missing, *unclear))
    return found


def changed_versions(view: LogView) -> tuple[int, ...]:
    """Versions whose published file was put again since it was seen first, ascending."""
    known = view.facts.provenance
    return tuple(
        version
        for version, file in sorted(view.published.items())
        if version in known and known[version].seen_at and not is_same_file(known[version], file.size, file.etag)
    )


def is_what_was_seen(view: LogView, version: int) -> bool | None:
    """Whether the published file of a changed version holds the bytes that were accepted, else those seen first."""
    known, file = view.facts.provenance[version], view.published[version]
    by_acceptance = _by_acceptance(view, known, file)
    if by_acceptance is not None:
        return by_acceptance
    if is_of_another_transaction(view, version) is False:
        return True
    if known.is_accepted and known.differs_etag is not None and not known.disputed:
        if known.differs_etag == file.etag:
            return False
        if known.differs_etag == known.etag:
            return _is_the_accepted(view, known)
    if known.size != file.size:
        return False
    by_digest = _by_digest(view, known)
    return by_digest if by_digest is not None else _by_time(view, known)


def contradicted_versions(view: LogView) -> tuple[int, ...]:
    """Versions whose published file is for certain not the accepted one, though no item says so any more.

    While an item speaks of a version, the states C and K compare both files.
    """
    known, named = view.facts.provenance, spoken_of(view)
    return tuple(
        version
        for version, file in view.published.items()
        if version in known and version not in named and _contradicts(view, known[version], file)
    )


def proven_copies(view: LogView) -> dict[int, str]:
    """The ETag of the published file of each changed version that holds the right bytes after all."""
    equal = (version for version in changed_versions(view) if is_what_was_seen(view, version))
    return {version: view.published[version].etag for version in equal}


def accepted_file(view: LogView, known: Provenance) -> ObjectPresence | None:
    """The temp or staged file that was accepted as the version; None where none is known, or more than one was."""
    return None if known.disputed else accepted_look(view, known.version, known.file_name)


def _by_acceptance(view: LogView, known: Provenance, file: LogObject) -> bool | None:
    copy = accepted_file(view, known)
    if copy is None:
        return None
    if file.etag in (known.accepted_etag, copy.object.etag if copy.object else None):
        return True
    return view.equal(known.version, view.file(known.version), copy) if copy.present else None


def _is_the_accepted(view: LogView, known: Provenance) -> bool | None:
    """The same where the file that was seen first was shown not to be the accepted one: only that one counts then."""
    by_record = is_published(view, known, known.acceptances[0])
    if by_record is not None:
        return by_record
    info = view.info(known.version)
    return False if info and info.digest is not None and info.digest in (known.digest, known.etag) else None


def _by_digest(view: LogView, known: Provenance) -> bool | None:
    """An ETag that equals the MD5 of the bytes was made of them alone."""
    info = view.info(known.version)
    if info is None or info.digest is None:
        return None
    if info.digest in (known.digest, known.etag):
        return True
    return False if known.digest is not None else None


def _by_time(view: LogView, known: Provenance) -> bool | None:
    """Other times prove another commit; equal ones prove nothing, since rivals for one version can share them."""
    info = view.info(known.version)
    if info is None:
        return None
    pairs = (
        (info.in_commit_timestamp, known.in_commit_timestamp),
        (info.timestamp, known.commit_timestamp),
    )
    return False if any(None not in pair and pair[0] != pair[1] for pair in pairs) else None


def _contradicts(view: LogView, known: Provenance, file: LogObject) -> bool:
    if not known.is_accepted or known.disputed:
        return False
    if known.accepted_size not in (None, file.size):
        return True
    info = view.info(known.version)
    said = info.in_commit_timestamp if info else None
    return None not in (said, known.accepted_timestamp) and said != known.accepted_timestamp


def spoken_of(view: LogView) -> set[int]:
    """Versions of which an item of a commit store speaks now, and which have a state by it."""
    versions = {entry.version for entries in own_domains(view).values() for entry in entries}
    for registration in view.facts.registrations:
        versions |= {commit.version for commit in registration.commits}
        if _accepts_here(view, registration):
            versions.add(registration.table_version)
    return {version for version in versions if version is not None}


def _accepts_here(view: LogView, registration: Registration) -> bool:
    """Whether its `tableVersion` is a commit of this table: not of one that accepted nothing, or is left over."""
    table_id = registration_id(view.facts.protocol)
    if registration.has_accepted_commits is False or not same_place(registration.path, view.facts.uri):
        return False
    return registration.table_id == table_id or view.facts.protocol is None or is_split(view.facts)


def _finding(view: LogView, version: int, count: int) -> Finding:
    known, look, info = view.facts.provenance[version], view.file(version), view.info(version)
    survivors = survivors_of(view, known)
    now = {
        **look_evidence(look),
        "etag": look.object.etag if look.object else None,
        "in_commit_timestamp": info.in_commit_timestamp if info else None,
    }
    kept = f" {survivors[0]} still holds what was." if survivors else ""
    return unsafe(
        "overwritten",
        f"Version {thousands(version)} was overwritten: …{version}.json is not the file that was committed.{kept}",
        version,
        "The rows of the first file are gone from the table without an error, and readers disagree about this version. "
        "Keep its temp and staged files and its S3 versions until the loss is understood.",
        {"first": first_evidence(known), "now": now, "survivors": survivors, "overwritten_versions": count},
    )


def survivors_of(view: LogView, known: Provenance) -> list[str]:
    """Files that hold what was committed: the accepted one as it was, and those with the first file's size and ETag."""
    copy = accepted_file(view, known)
    accepted = [copy.name] if copy and copy.object and copy.object.etag == known.accepted_etag else []
    files = (*(view.facts.listing.temp_files or ()), *(view.facts.listing.staged or ()))
    equal = (one.name for one in files if one.size == known.size and one.etag in (known.etag, known.digest))
    return list(dict.fromkeys((*accepted, *equal)))


def first_evidence(known: Provenance) -> dict[str, object]:
    """What was seen first of a version, as JSON."""
    return {
        "size": known.size if known.seen_at else known.accepted_size,
        "etag": known.etag if known.seen_at else known.accepted_etag,
        "in_commit_timestamp": known.accepted_timestamp or known.in_commit_timestamp,
        "seen_at": known.seen_at.isoformat() if known.seen_at else None,
        "accepted_size": known.accepted_size,
        "accepted_file": known.file_name,
        "store": known.store,
        "lock_domain": known.lock_domain,
    }
