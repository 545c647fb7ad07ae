"""What the console and the Spark worker say to each other, one JSON object a line, and what becomes of a job."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SparkJobState = Literal["done", "failed", "cancelled", "lost"]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SparkJob:
    """A job by its kind, one of lake.spark.jobs, its parameters, which JSON can hold, and the steps that it reports."""

    kind: str
    params: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SparkProgress:
    """Where the work stands: the step it is in, Spark's tasks done of those known, and a note.

    `seconds` is set once, in the last report of a step that has ended. `waits_for` says, in the first, what it does
    that long; `since_seconds` how long ago it really began, where that is known only later. `log` has new lines of
    Spark's own log, secrets masked.
    """

    step: str
    done: int = 0
    total: int = 0
    note: str = ""
    seconds: float | None = None
    waits_for: str = ""
    since_seconds: float = 0.0
    log: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SparkStep:
    """A step that has ended, and its wall seconds."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class SparkError:
    """`type` the exception's class, `condition` Spark's or Delta's error condition or "", and one sentence."""

    type: str
    condition: str
    sentence: str


@dataclass(frozen=True, slots=True)
class SparkOutcome:
    """How a job ended. `began` False: the worker never took it up, so nothing was changed.

    A job that began and was cancelled or lost may have made its commit or not: look at the table.
    """

    state: SparkJobState
    began: bool
    result: Mapping[str, Any]
    error: SparkError | None
    steps: tuple[SparkStep, ...]
    seconds: float


def encode(**message: Any) -> str:
    """Write one line, newline included."""
    return json.dumps(message, separators=(",", ":"), default=str) + "\n"


def decode(line: str) -> Json:
    """Read one line; ValueError where it is no JSON."""
    message: Json = json.loads(line)
    return message
