"""Sorting a listing of `_delta_log/` into what each object is."""

from collections import defaultdict
from collections.abc import Iterable
from operator import itemgetter

from lake.aws.list_page import ObjectSummary
from lake.delta.facts import LogListing, LogObject
from lake.delta.names import NameKind, parse_name

_CHECKPOINTS = (NameKind.CHECKPOINT, NameKind.CHECKPOINT_PART, NameKind.CHECKPOINT_V2)
# Kinds that stand in the sequence of versions, so that a listing from a version on leaves out the earlier ones.
_SEQUENCE = frozenset({*_CHECKPOINTS, NameKind.COMMIT, NameKind.CHECKSUM, NameKind.COMPACTED})
_LISTED_AS = dict.fromkeys(_CHECKPOINTS, NameKind.CHECKPOINT) | {NameKind.SIDECAR: NameKind.OTHER}


def read_listing(
    objects: Iterable[ObjectSummary], log_key: str, from_version: int = 0, *, folders_listed: bool
) -> LogListing:
    """Sort listed objects by what their names say; a name that says nothing known goes to `other`, nothing raises.

    `log_key` is the prefix up to and including `_delta_log/`; objects outside it, and versions below `from_version`,
    are left out. `folders_listed` says whether `.tmp/` and the staged folders were part of the listing. Directory
    markers and dot-files are in no list but count in `total_bytes`. `checkpoints` holds every checkpoint object, the
    parts of an unfinished multi-part checkpoint too: `replay.usable_checkpoint` picks.
    """
    sorted_by: defaultdict[NameKind, list[tuple[int, LogObject]]] = defaultdict(list)
    total_bytes = 0
    for listed in objects:
        if not listed.key.startswith(log_key):
            continue
        name = listed.key[len(log_key) :]
        parsed = parse_name(name)
        version, kind = parsed.version or 0, _LISTED_AS.get(parsed.kind, parsed.kind)
        if version < from_version and parsed.kind in _SEQUENCE:
            continue
        if kind is NameKind.MARKER and listed.size > 0:
            kind = NameKind.OTHER
        total_bytes += listed.size
        found = LogObject(name, listed.size, listed.modified_at, listed.etag, listed.storage_class)
        sorted_by[kind].append((version, found))

    def all_of(kind: NameKind) -> tuple[LogObject, ...]:
        return tuple(found for _, found in sorted_by[kind])

    checkpoints: dict[int, tuple[LogObject, ...]] = {}
    for version, found in sorted(sorted_by[NameKind.CHECKPOINT], key=itemgetter(0)):
        checkpoints[version] = (*checkpoints.get(version, ()), found)
    return LogListing(
        from_version=from_version,
        commits=dict(sorted(sorted_by[NameKind.COMMIT], key=itemgetter(0))),
        checkpoints=checkpoints,
        checksums=dict(sorted(sorted_by[NameKind.CHECKSUM], key=itemgetter(0))),
        compacted=all_of(NameKind.COMPACTED),
        last_checkpoint=next(iter(all_of(NameKind.LAST_CHECKPOINT)), None),
        temp_files=all_of(NameKind.TEMP) if folders_listed else None,
        staged=all_of(NameKind.STAGED) if folders_listed else None,
        other=all_of(NameKind.OTHER),
        total_bytes=total_bytes,
    )
