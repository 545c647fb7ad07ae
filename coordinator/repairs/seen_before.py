"""What earlier looks saw of a version beside the file that a repair would publish as it."""

from coordinator.protocols.survivors import was_named
from coordinator.repairs.facts import FileCheck
from lake.delta.facts import Provenance


def was_published(seen: Provenance | None, file: FileCheck) -> bool | None:
    """Whether the version was seen to be published with exactly these bytes; None where nothing tells."""
    if seen is None or seen.size is None:
        return None
    if seen.size != file.size:
        return False
    if seen.digest and file.md5:
        return seen.digest == file.md5
    return True if seen.etag and seen.etag == file.etag else None


def was_accepted(seen: Provenance | None, file: FileCheck) -> bool | None:
    """Whether an item was seen that accepted this very file, not written again since; None where nothing tells."""
    named = was_named(seen, file.name)
    if seen is None or not named or seen.disputed:
        return named if named is False else None
    if seen.accepted_size not in (None, file.size):
        return False
    return None if is_rewritten(seen, file) else True


def is_rewritten(seen: Provenance | None, file: FileCheck) -> bool:
    """Whether the object is another than when it was accepted, and nothing shows that its bytes are the same."""
    if seen is None or not was_named(seen, file.name):
        return False
    changed = seen.accepted_etag not in (None, file.etag, file.md5)
    return changed and was_published(seen, file) is not True


def why_contradicted(seen: Provenance | None, file: FileCheck, version: int) -> str:
    """Why this file cannot be the accepted commit of the version, by what was seen of it; "" where it may be."""
    if seen is None:
        return ""
    if was_named(seen, file.name) is False:
        return f"{seen.file_name} was seen to be accepted as version {version:,}; bring that file back from a backup."
    if was_accepted(seen, file) is False:
        return f"{file.name} had {seen.accepted_size:,} B when it was accepted, and has {file.size:,} B now."
    return ""


def doubt(seen: Provenance | None, file: FileCheck, version: int) -> str:
    """What may be lost by publishing a file that an item names, as part of a sentence; "" where nothing tells so."""
    if seen is not None and seen.disputed:
        return f"another commit {version:,}: an item was seen that accepted it with another file"
    if was_published(seen, file) is False:
        return f"the rows that readers saw of version {version:,}: …{version}.json was seen with other bytes"
    if is_rewritten(seen, file):
        return f"commit {version:,}: {file.name} was written again after it was accepted, maybe with other rows"
    return ""
