"""The rules of S3 Batch Operations and S3 Inventory, scaled down or broken on purpose where somebody asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

COPY_LIMIT = 5 * 1024**3
FAULTS = {
    "AccessDenied": (403, "Access Denied"),
    "InternalError": (500, "We encountered an internal error. Please try again."),
    "InvalidObjectState": (403, "The operation is not valid for the object's storage class"),
    "NoSuchKey": (404, "The specified key does not exist."),
    "SlowDown": (503, "Please reduce your request rate."),
}
"""What a fault answers: HTTP status and message, as S3's error responses have them."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Tasks of keys with this prefix fail with `code`; only the first `times` attempts of each, unless it is 0."""

    prefix: str
    code: str
    times: int = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """Tasks of keys with this prefix take at least so many seconds."""

    prefix: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Rules:
    """Sizes in bytes, times in seconds.

    `copy_limit` stands for the 5 GB of CopyObject. A job fails once `failure_tasks` tasks have run and more than
    `failure_percent` of them failed. `attempts` is how often a throttled task is tried, `active_jobs` how many jobs
    copy at once, `task_seconds` how long each task takes at least, `paces` how long those of some keys.
    `denied_roles` are those that S3 can no longer take.
    `days_ahead` moves the clock that forgets jobs. `delivery_seconds` is the wait for a configuration's first
    inventory.
    """

    copy_limit: int = COPY_LIMIT
    failure_tasks: int = 1000
    failure_percent: float = 50.0
    attempts: int = 5
    active_jobs: int = 8
    task_seconds: float = 0.0
    paces: tuple[Pace, ...] = ()
    prepare_seconds: float = 0.0
    kept_days: int = 90
    days_ahead: float = 0.0
    delivery_seconds: float = 5.0
    faults: tuple[Fault, ...] = ()
    denied_roles: tuple[str, ...] = ()

    def fault(self, key: str, attempt: int) -> Fault | None:
        """The fault that the `attempt`th try at a key meets, counted from 1."""
        met = (one for one in self.faults if key.startswith(one.prefix) and (not one.times or attempt <= one.times))
        return next(met, None)

    def seconds(self, key: str) -> float:
        """How long the task of a key takes at least."""
        return max((one.seconds for one in self.paces if key.startswith(one.prefix)), default=self.task_seconds)


class RuleBook:
    """The rules that hold now."""

    def __init__(self) -> None:
        self._rules = Rules()
        self._lock = Lock()

    @property
    def now(self) -> Rules:
        return self._rules

    def change(self, changed: Mapping[str, Any]) -> Rules:
        """Replace the rules named; ValueError for one that there is not or whose value is none."""
        known = {one.name: type(getattr(Rules(), one.name)) for one in fields(Rules)}
        values: dict[str, Any] = {}
        for name, value in changed.items():
            if name not in known:
                raise ValueError(f"There is no rule {name!r}; known are {', '.join(sorted(known))}.")
            values[name] = _value(name, value, known[name])
        with self._lock:
            self._rules = replace(self._rules, **values)
        return self._rules

    def reset(self) -> None:
        with self._lock:
            self._rules = Rules()

    def time(self) -> datetime:
        """The moment it is for jobs, UTC."""
        return datetime.now(UTC) + timedelta(days=self._rules.days_ahead)


def _value(name: str, value: Any, kind: type) -> Any:
    try:
        if name == "faults":
            faults = tuple(Fault(**one) for one in value)
            if unknown := {one.code for one in faults} - set(FAULTS):
                raise ValueError(f"{unknown.pop()} is none of {', '.join(FAULTS)}")
            return faults
        if name == "paces":
            return tuple(Pace(str(one["prefix"]), float(one["seconds"])) for one in value)
        if name == "denied_roles":
            return tuple(str(one) for one in value)
        return kind(value)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"The rule {name} cannot be {value!r}: {error}.") from error
