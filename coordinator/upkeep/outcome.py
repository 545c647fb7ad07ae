"""What became of a call of upkeep."""

from dataclasses import dataclass

from coordinator.repairs.outcome import Result
from coordinator.upkeep.calls import UpkeepCall

__all__ = ["CallOutcome", "Result"]


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
