"""Reading a commit: one JSON action on each line, the last one with or without a newline."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from lake.delta.facts import CommitInfo, ReadingProblem
from lake.delta.names import commit_name
from lake.delta.state import MetadataAction, ProtocolAction, StateReader, as_long, as_text

# A file that is not a commit at all would otherwise give one problem for each of its lines.
MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class CommitActions:
    """What one commit file says; `protocol` and `metadata` are None in a commit that changes neither."""

    version: int
    info: CommitInfo
    protocol: ProtocolAction | None = None
    metadata: MetadataAction | None = None
    problems: tuple[ReadingProblem, ...] = ()


def read_commit(version: int, data: bytes, *, name: str = "") -> CommitActions:
    """Read a whole commit file. Never raises: a line that cannot be read becomes a problem and is not counted.

    `name` is the object's name relative to `_delta_log/` where it is not `<version>.json` (a staged commit, a temp
    file). A file cut off exactly between two lines cannot be told from a whole one; compare its size.
    """
    reader = _CommitReader(version, name or commit_name(version))
    if not data.strip():
        reader.note("", "The file is empty; a commit has at least one action.")
    reader.read(enumerate(data.split(b"\n"), start=1))
    return reader.commit()


def read_commit_head(version: int, data: bytes, *, name: str = "") -> CommitActions:
    """Read the first line of a commit of which only the beginning was fetched; counts cover that line alone.

    A first line that is longer than `data` is a problem that says how many bytes were not enough.
    """
    reader = _CommitReader(version, name or commit_name(version))
    line, newline, _ = data.partition(b"\n")
    if not line.strip():
        reader.note("", "The file is empty or begins with an empty line; a commit begins with an action.")
    elif not newline and _decoded(line) is None:
        reader.note(" line 1", f"The first line is not whole in the first {len(data)} bytes; read more of the file.")
    else:
        reader.read([(1, line)])
    return reader.commit()


def _decoded(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _is_lenient_json(line: bytes) -> bool:
    """Whether a line is an object to readers that take NaN and half a surrogate pair, as Jackson does."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


class _CommitReader:
    def __init__(self, version: int, name: str) -> None:
        self.version = version
        self.name = name
        self.problems: list[ReadingProblem] = []
        self.unnamed_problems = 0
        self.lines = self.added = self.removed = 0
        self.bad_line: int | None = None
        self.info: dict[str, object] = {}
        self.protocol: ProtocolAction | None = None
        self.metadata: MetadataAction | None = None

    def read(self, numbered_lines: Iterable[tuple[int, bytes]]) -> None:
        """Count the ordinary actions on the way and hand the rare ones on."""
        for number, line in numbered_lines:
            if not line or line.isspace():
                continue
            action = _decoded(line)
            if type(action) is not dict:
                self._note_bad_line(number, line)
                continue
            self.lines += 1
            if "add" in action:
                self.added += self._is_file(number, action["add"])
            elif "remove" in action:
                self.removed += self._is_file(number, action["remove"])
            else:
                self._rare_action(number, action)

    def note(self, where: str, reason: str) -> None:
        """Remember a problem; beyond MOST_PROBLEMS they are only counted."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(ReadingProblem(self.name + where, reason))
        else:
            self.unnamed_problems += 1

    def commit(self) -> CommitActions:
        """All that was read so far."""
        if self.unnamed_problems:
            self.problems.append(ReadingProblem(self.name, f"{self.unnamed_problems} further problems are not listed."))
        info = CommitInfo(
            version=self.version,
            operation=as_text(self.info.get("operation")),
            engine=as_text(self.info.get("engineInfo")) or as_text(self.info.get("clientVersion")),
            timestamp=as_long(self.info.get("timestamp")),
            in_commit_timestamp=as_long(self.info.get("inCommitTimestamp")),
            added_files=self.added,
            removed_files=self.removed,
            lines=self.lines,
            transaction=as_text(self.info.get("txnId")),
            bad_line=self.bad_line,
        )
        return CommitActions(self.version, info, self.protocol, self.metadata, tuple(self.problems))

    def _is_file(self, number: int, content: object) -> bool:
        if type(content) is dict and type(content.get("path")) is str:
            return True
        self.note(f" line {number}", "The file action names no path.")
        return False

    def _rare_action(self, number: int, action: dict[str, object]) -> None:
        state = StateReader(f"{self.name} line {number}")
        if "protocol" in action:
            self.protocol = state.protocol(action["protocol"]) or self.protocol
        elif "metaData" in action:
            self.metadata = state.metadata(action["metaData"]) or self.metadata
        elif "commitInfo" in action:
            self._commit_info(number, action["commitInfo"])
        for problem in state.problems:
            self.note(f" line {number}", problem.reason)

    def _commit_info(self, number: int, content: object) -> None:
        if not isinstance(content, dict):
            self.note(f" line {number}", "commitInfo is not an object.")
            return
        self.info = content
        for name in ("timestamp", "inCommitTimestamp"):
            if content.get(name) is not None and as_long(content[name]) is None:
                self.note(f" line {number}", f"{name} is not a whole number of milliseconds.")

    def _note_bad_line(self, number: int, line: bytes) -> None:
        if not _is_lenient_json(line):
            self.bad_line = self.bad_line or number
        try:
            line.decode()
        except UnicodeDecodeError:
            self.note(f" line {number}", "The line is not UTF-8.")
        else:
            self.note(f" line {number}", "The line is not one whole JSON object; the file may be cut off.")
