"""What became of a call of upkeep."""

from dataclasses import dataclass
from enum import StrEnum

from coordinator.upkeep.calls import UpkeepCall


class Result(StrEnum):
    """How a call ended; only after DONE and ALREADY does a plan go on.

    STOPPED: a fact that the plan rests on no longer holds, and nothing was sent. FAILED: AWS gave no good answer, or
    what was read back is not what was written.
    """

    DONE = "done"
    ALREADY = "already"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """One call and its end. `code` is AWS's error code where it failed, else "" or "Moved" or "ReadBack"."""

    call: UpkeepCall
    result: Result
    sentence: str
    request_ids: tuple[str, ...] = ()
    code: str = ""

    @property
    def may_go_on(self) -> bool:
        return self.result in (Result.DONE, Result.ALREADY)
