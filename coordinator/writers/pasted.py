"""Settings of a Spark session as somebody pasted them: what a syntax reads, and how corrected ones go back into it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

PACKAGES, JARS, DRIVER_CLASS_PATH = "spark.jars.packages", "spark.jars", "spark.driver.extraClassPath"


class PasteRefused(ValueError):
    """A text that cannot be read, in a sentence that quotes nothing of it: it may hold secrets."""


@dataclass(frozen=True, slots=True)
class PastedSetting:
    """One setting as Spark gets it. `at` is its place among those of the text, None where it is to be added.

    `is_known` is False where the value is made only when the text runs; `value` is then "". `is_late`: it is set on a
    session that runs already.
    """

    key: str
    value: str
    at: int | None = None
    is_known: bool = True
    is_late: bool = False


class PastedText(Protocol):
    """A text in one syntax. `platform` is "" where the syntax tells none."""

    @property
    def syntax(self) -> str: ...

    @property
    def platform(self) -> str: ...

    @property
    def entries(self) -> tuple[PastedSetting, ...]: ...

    @property
    def brings_delta(self) -> bool:
        """Whether the text has Delta's own jar brought along without naming it."""
        ...

    @property
    def unread(self) -> tuple[str, ...]:
        """What of the text may set more than `entries`, as sentences: a file it names, a variable, a loop."""
        ...

    def rewritten(self, entries: Sequence[PastedSetting]) -> str:
        """The same text with these settings: changed ones in their place, new ones added, absent ones taken out."""
        ...


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters from `start` up to `end`, and what stands there instead."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits that do not overlap; those at one place in the order given."""
    done, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        done += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*done, text[at:]])


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """What becomes of a text's entries: by place what is there instead (None: nothing), and what is new."""

    changed: dict[int, PastedSetting | None]
    added: tuple[PastedSetting, ...]


def difference(before: Sequence[PastedSetting], after: Sequence[PastedSetting]) -> SettingDifference:
    """Compare the entries of a text with those it shall have."""
    kept = {entry.at: entry for entry in after if entry.at is not None}
    changed = {entry.at: kept.get(entry.at) for entry in before if entry.at is not None and kept.get(entry.at) != entry}
    return SettingDifference(changed, tuple(entry for entry in after if entry.at is None))


def line_of(text: str, position: int) -> int:
    """The line of a position, from 1."""
    return text.count("\n", 0, position) + 1
