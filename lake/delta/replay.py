"""Which objects tell protocol and metaData at the newest version, and what they say together.

The newest `.crc` holds both, so it serves as a starting point as well as a checkpoint does, in one small request.
Everything here is pure: a plan names objects, the caller reads them, `fold_protocol` puts the answers together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from lake.delta.facts import LogListing, LogObject, ReadingProblem, Registration, TableProtocol
from lake.delta.names import STAGED_FOLDERS, NameKind, commit_name, parse_name
from lake.delta.state import MetadataAction, ProtocolAction

# Commits read above the starting point. A healthy log has a checkpoint every 10 to 100 versions.
MOST_COMMITS = 2_000
# Gaps named singly; a log with more of them is beyond reading line by line.
MOST_HOLES = 20


class HoldsState(Protocol):
    """What was read of one object: a Commit, a Checksum or the StateParts of a checkpoint."""

    @property
    def version(self) -> int: ...
    @property
    def protocol(self) -> ProtocolAction | None: ...
    @property
    def metadata(self) -> MetadataAction | None: ...


@dataclass(frozen=True, slots=True)
class ProtocolReads:
    """The objects to read: one `checksum`, or all of `checkpoint`, or neither; then `commits`, ascending by version.

    Together they give the state at `version`; it is None for an empty log. `problems` names holes and limits, which
    make `version` older than the newest commit or the state uncertain.
    """

    version: int | None
    anchor_version: int | None = None
    checksum: LogObject | None = None
    checkpoint: tuple[LogObject, ...] = ()
    commits: tuple[tuple[int, LogObject], ...] = ()
    problems: tuple[ReadingProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class StagedRead:
    """An accepted commit without its `<version>.json`; `names`, relative to `_delta_log/`, are tried in order."""

    version: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StagedReads:
    """The accepted, unpublished commits that follow the newest published version without a gap, ascending."""

    commits: tuple[StagedRead, ...]
    problems: tuple[ReadingProblem, ...] = ()


def plan_protocol_reads(listing: LogListing, *, known_version: int | None = None) -> ProtocolReads:
    """Name the objects that tell protocol and metaData at the newest version which the log leads to without a gap.

    The start is the newest of `known_version` (whose state the caller holds already), the newest `.crc` that is not
    above the newest version, and the newest usable checkpoint. Where that object turns out unreadable or without
    protocol or metaData, leave it out of the listing and plan again. Without a start, commits are read from the first
    on. At most MOST_COMMITS are planned, the oldest first, so that the answer is right for the version that it names.
    """
    checkpoints = usable_checkpoints(listing)
    newest = max((*listing.commits, *checkpoints), default=None)
    if newest is None:
        return ProtocolReads(None)
    anchor = _anchor(listing, checkpoints, newest, known_version)
    first = min(listing.commits) if anchor is None else anchor.version + 1
    run = _run(listing.commits, first)
    read = run[:MOST_COMMITS]
    problems = [*_unknown_beginning(listing, anchor), *_hole_problems(listing, max(checkpoints, default=None))]
    if len(run) > len(read):
        problems.append(_limit_problem(read[-1]))
    return ProtocolReads(
        version=read[-1] if read else anchor.version if anchor else None,
        anchor_version=anchor.version if anchor else None,
        checksum=anchor.checksum if anchor else None,
        checkpoint=anchor.checkpoint if anchor else (),
        commits=tuple((version, listing.commits[version]) for version in read),
        problems=tuple(problems),
    )


def plan_staged_reads(listing: LogListing, registration: Registration) -> StagedReads:
    """Name the staged files of the accepted commits on top of the newest published one.

    Entries whose `<version>.json` exists are stale and left out. The folder is the one where the listing has the file;
    both are named where the listing does not tell (3.3 stages in `_commits/`, 4.x in `_staged_commits/`).
    """
    published = listing.newest_version
    expected = 0 if published is None else published + 1
    reads: list[StagedRead] = []
    for commit in registration.commits:
        if commit.version < expected:
            if reads and commit.version == reads[-1].version:
                return StagedReads(tuple(reads[:-1]), (_staged_problem(commit.version, "is accepted twice"),))
            continue
        if commit.version > expected:
            return StagedReads(tuple(reads), (_staged_problem(expected, "is neither published nor accepted"),))
        if not commit.file_name:
            return StagedReads(tuple(reads), (_staged_problem(expected, "has no usable file name"),))
        reads.append(StagedRead(commit.version, _staged_names(listing, commit.file_name)))
        expected += 1
    return StagedReads(tuple(reads))


def fold_protocol(parts: Iterable[HoldsState]) -> TableProtocol | None:
    """The state that parts give together: by version, the newest protocol and the newest metaData win.

    None where they do not hold both. Its `version` is the newest of the parts', even if that one changed neither.
    """
    protocol: ProtocolAction | None = None
    metadata: MetadataAction | None = None
    version = 0
    for part in sorted(parts, key=lambda part: part.version):
        protocol = part.protocol or protocol
        metadata = part.metadata or metadata
        version = part.version
    if protocol is None or metadata is None:
        return None
    return TableProtocol(version=version, **asdict(protocol), **asdict(metadata))


def usable_checkpoints(listing: LogListing) -> dict[int, tuple[LogObject, ...]]:
    """The objects of each whole checkpoint, by version."""
    return {version: usable for version, found in listing.checkpoints.items() if (usable := usable_checkpoint(found))}


def usable_checkpoint(found: Sequence[LogObject]) -> tuple[LogObject, ...]:
    """The objects of one whole checkpoint among those of a version: one file or all parts; empty where none is."""
    return next(iter(whole_checkpoints(found)), ())


def whole_checkpoints(found: Sequence[LogObject]) -> list[tuple[LogObject, ...]]:
    """Each whole checkpoint among the objects of a version, by its names and sizes: one file, or all of its parts."""
    parts: dict[int, dict[int, LogObject]] = {}
    single: dict[NameKind, list[tuple[LogObject, ...]]] = {}
    for candidate in found:
        parsed = parse_name(candidate.name)
        if candidate.size <= 0:
            continue
        if parsed.part is not None and parsed.parts is not None:
            parts.setdefault(parsed.parts, {})[parsed.part] = candidate
        else:
            single.setdefault(parsed.kind, []).insert(0, (candidate,))
    whole = [
        tuple(one for _, one in sorted(by_part.items())) for count, by_part in parts.items() if len(by_part) == count
    ]
    return [*single.get(NameKind.CHECKPOINT, []), *single.get(NameKind.CHECKPOINT_V2, []), *whole]


@dataclass(frozen=True, slots=True)
class _Anchor:
    version: int
    checksum: LogObject | None = None
    checkpoint: tuple[LogObject, ...] = ()


def _anchor(
    listing: LogListing,
    checkpoints: Mapping[int, tuple[LogObject, ...]],
    newest: int,
    known_version: int | None,
) -> _Anchor | None:
    anchors = []
    if known_version is not None and known_version <= newest:
        anchors.append(_Anchor(known_version))
    checksum = max((version for version in listing.checksums if version <= newest), default=None)
    if checksum is not None:
        anchors.append(_Anchor(checksum, checksum=listing.checksums[checksum]))
    if checkpoints:
        anchors.append(_Anchor(max(checkpoints), checkpoint=checkpoints[max(checkpoints)]))
    # Of equals the first is cheapest to read, and max keeps the first.
    return max(anchors, key=lambda anchor: anchor.version, default=None)


def _run(commits: Mapping[int, LogObject], first: int) -> list[int]:
    run = []
    version = first
    while version in commits:
        run.append(version)
        version += 1
    return run


def _unknown_beginning(listing: LogListing, anchor: _Anchor | None) -> list[ReadingProblem]:
    if anchor is not None or listing.from_version == 0:
        return []
    reason = "The listing begins here and holds no checkpoint and no .crc; list from version 0 to know the state."
    return [ReadingProblem(commit_name(listing.from_version), reason)]


def _hole_problems(listing: LogListing, checkpoint: int | None) -> list[ReadingProblem]:
    """Gaps above the newest checkpoint, where Delta's readers begin; older ones harm nobody but time travellers."""
    start = listing.from_version if checkpoint is None else max(listing.from_version, checkpoint + 1)
    problems: list[ReadingProblem] = []
    for version in sorted(version for version in listing.commits if version >= start):
        if version > start:
            missing = f"Version {start} is" if version == start + 1 else f"Versions {start} to {version - 1} are"
            problems.append(
                ReadingProblem(
                    commit_name(start), f"{missing} missing before version {version}; Delta reads no log with a gap."
                )
            )
        start = version + 1
    return problems[:MOST_HOLES]


def _limit_problem(last: int) -> ReadingProblem:
    reason = f"More than {MOST_COMMITS:,} commits follow without a checkpoint; the next look reads on from there."
    return ReadingProblem(f"log above version {last:,}", reason)


def _staged_names(listing: LogListing, file_name: str) -> tuple[str, ...]:
    names = tuple(folder + file_name for folder in STAGED_FOLDERS)
    listed = {found.name for found in listing.staged or ()}
    return tuple(name for name in names if name in listed) or names


def _staged_problem(version: int, what: str) -> ReadingProblem:
    return ReadingProblem(
        commit_name(version), f"Version {version} {what}; accepted commits from there on cannot be read."
    )
