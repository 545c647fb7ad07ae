"""Whether the published file of a version holds what an item was seen to accept, by all that is known of both."""

from dataclasses import replace

from coordinator.protocols.log_view import LogView, ObjectPresence
from coordinator.protocols.names import is_temp_of, staged_file_version
from coordinator.protocols.provenance import is_same_file
from lake.delta.facts import Acceptance, LogObject, Provenance


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
    compared = _compared(view, known.version, one)
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


def _compared(view: LogView, version: int, one: Acceptance) -> bool | None:
    look = accepted_look(view, version, one.file_name)
    if look is None or look.object is None:
        return None
    equal = view.equal(version, view.file(version), look)
    return equal if equal is not None else view.is_copy(look.object)


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
