"""What a check of preconditions says: one line each, and whether the act may go on."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import wraps
from typing import TypeVar, cast

from coordinator.coordination.contract import CheckDocument, PreflightDocument

S = TypeVar("S")


class Operation(StrEnum):
    """What is done to a table's coordination, all of it through Spark."""

    ENABLE = "enable"
    DROP = "drop"
    CREATE = "create"
    LEFTOVERS = "leftovers"


@dataclass(frozen=True, slots=True)
class CoordinationRequest:
    """What somebody wants done to one table. `store` is a DynamoDB table's name where a coordinator is to be chosen."""

    operation: Operation
    uri: str
    store: str = ""
    columns: str = ""
    partition_by: tuple[str, ...] = ()
    remove_features: tuple[str, ...] = ()


class CheckState(StrEnum):
    """FAILED stops the act; WARNING is for a person to weigh."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One precondition: `name` is short and stays the same, `sentence` says what was found and what to do."""

    name: str
    state: CheckState
    sentence: str


Said = tuple[CheckState, str]
"""How a check came out, and its sentence."""


def ok(sentence: str) -> Said:
    return CheckState.OK, sentence


def warning(sentence: str) -> Said:
    return CheckState.WARNING, sentence


def failed(sentence: str) -> Said:
    return CheckState.FAILED, sentence


def check(name: str) -> Callable[[Callable[[S], Said | None]], Callable[[S], Check | None]]:
    """Give what a function says the name of its check; one that says nothing does not concern what it was given."""

    def named(say: Callable[[S], Said | None]) -> Callable[[S], Check | None]:
        @wraps(say)
        def make(given: S) -> Check | None:
            said = say(given)
            return Check(name, *said) if said else None

        return make

    return named


@dataclass(frozen=True, slots=True)
class Preflight:
    """All checks of one act on one table, made from one reading.

    `store` is the DynamoDB table of the coordinator that it is about, `version` the newest accepted version,
    `location` the spelling of the table's path that its writers use and Spark is given.
    """

    operation: Operation
    uri: str
    location: str
    checks: tuple[Check, ...]
    store: str = ""
    endpoint: str = ""
    version: int | None = None

    @property
    def may_run(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.state is CheckState.FAILED)

    @property
    def warnings(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.state is CheckState.WARNING)

    def refusal(self) -> str:
        """Why it must not be done, in one line; "" where it may."""
        return " ".join(check.sentence for check in self.failures)


def preflight_document(preflight: Preflight, digest: str = "", statement: str = "") -> PreflightDocument:
    """As JSON: what a job stores, a page shows and `levee commits --json` prints.

    `digest` is that of the plan that rests on the checks, "" where they refuse it, `statement` what Spark is given.
    """
    more = {"may_run": preflight.may_run, "digest": digest, "statement": statement}
    return cast("PreflightDocument", asdict(preflight) | more)


def differing(shown: Iterable[CheckDocument], fresh: Preflight) -> tuple[Check, ...]:
    """The fresh checks that came out otherwise than those that were confirmed."""
    before = {check["name"]: check["state"] for check in shown}
    return tuple(check for check in fresh.checks if before.get(check.name) != check.state.value)
