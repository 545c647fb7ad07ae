"""The kinds of jobs: a name, the queue that carries it, the verb it stands for, and the function that does it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dashboard.jobs.context import JobContext

JobFunction = Callable[["JobContext"], str]


@dataclass(frozen=True)
class JobKind:
    """What the registry knows of a kind. `verb` is checked against PERMISSIONS; empty: no permission of its own.

    `changes_lake`: neither submitted nor run where the deployment or the job's connection is read-only.
    """

    name: str
    queue: str
    verb: str
    run: JobFunction
    changes_lake: bool = True

    @property
    def action(self) -> str:
        """What the audit log calls it."""
        return self.verb or f"job.{self.name}"


class UnknownKind(LookupError):
    """A job names a kind that no installed app registers."""

    def __init__(self, name: str) -> None:
        super().__init__(f"No installed app knows jobs of the kind {name!r}: is this worker of another release?")


_kinds: dict[str, JobKind] = {}


def job_kind(
    name: str, *, queue: str = "default", verb: str = "", changes_lake: bool = True
) -> Callable[[JobFunction], JobFunction]:
    """Register the decorated function as the work of a kind; it returns the job's final sentence.

    A kind changes the lake unless it says that it does not: a forgotten word refuses too much, never too little.
    """

    def register(run: JobFunction) -> JobFunction:
        known = _kinds.get(name)
        if known and (known.run.__module__, known.run.__qualname__) != (run.__module__, run.__qualname__):
            raise ValueError(f"Two functions claim jobs of the kind {name!r}.")
        _kinds[name] = JobKind(name, queue, verb, run, changes_lake)
        return run

    return register


def kind_named(name: str) -> JobKind:
    """Return the kind; raises UnknownKind."""
    try:
        return _kinds[name]
    except KeyError:
        raise UnknownKind(name) from None


def changes_lake(name: str) -> bool:
    """Return whether jobs of a kind change the lake; one that nobody knows counts as one that does."""
    return name not in _kinds or _kinds[name].changes_lake


def kind_names() -> tuple[str, ...]:
    """Return the names of all kinds, sorted."""
    return tuple(sorted(_kinds))
