"""What became of a call, and what a call needs while it is made."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from coordinator.repairs.calls import Call
from coordinator.repairs.lake_port import ItemWrite, ObjectWrite, RepairLake
from lake.aws.errors import AwsError

PADDED_VERSION = re.compile(r"(?<![0-9])0{1,19}(?=[0-9])")


class Result(StrEnum):
    """How a call ended. Only after DONE and ALREADY does a plan go on.

    ALREADY: what it would do had been done. STOPPED: a fact that the plan rests on no longer holds. FAILED: AWS gave no
    good answer, so that a write may or may not have happened, or what was read back is not what was written.
    """

    DONE = "done"
    ALREADY = "already"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """One call and its end. `request_ids` are those of its writes, refused ones included, and of the request that
    failed; `code` is AWS's error code where it failed, else "". `wrote` says that AWS took a write of it, however the
    call ended.
    """

    call: Call
    result: Result
    sentence: str
    request_ids: tuple[str, ...] = ()
    code: str = ""
    wrote: bool = False

    @property
    def may_go_on(self) -> bool:
        return self.result in (Result.DONE, Result.ALREADY)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended, and what to say of it."""

    result: Result
    sentence: str


class Stop(Exception):
    """A fact that the plan rests on does not hold; the text is the sentence that says which."""


@dataclass(frozen=True, slots=True)
class Sending:
    """The lake during one call: `now` gives epoch seconds, `request_ids` collects those of its writes.

    `taken` holds the ids of the writes that AWS took.
    """

    lake: RepairLake
    now: Callable[[], float]
    request_ids: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)

    def write(self, send: Callable[[], ObjectWrite | ItemWrite]) -> bool:
        """Whether the write was made; False where its condition refused it. Raises AwsError for all else."""
        try:
            request_id = send().request_id
        except AwsError as error:
            if not error.is_condition_failed:
                raise
            self.note(error.request_id)
            return False
        self.note(request_id)
        self.taken.append(request_id)
        return True

    def note(self, request_id: str) -> None:
        if request_id:
            self.request_ids.append(request_id)


def done(sentence: str) -> Answer:
    return Answer(Result.DONE, sentence)


def already(sentence: str) -> Answer:
    return Answer(Result.ALREADY, sentence)


def label(key: str) -> str:
    """An object as a person would name it: within its log, the zeros before a version left out."""
    return PADDED_VERSION.sub("", key.partition("_delta_log/")[2] or key)
