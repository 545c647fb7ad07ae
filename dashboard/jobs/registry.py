"""The kinds of jobs: a name, the queue that carries it, the verb it stands for, and the function that does it.

The function takes the job's context and its parameters. Their type, a TypedDict, is what the kind takes: a job is asked
for, and worked on, with these keys and no others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, get_type_hints

from dashboard.loading import AtNeed

if TYPE_CHECKING:
    from dashboard.jobs.context import JobContext

P = TypeVar("P", bound=Mapping[str, object])
JobFunction = Callable[["JobContext", P], str]


class NoParams(TypedDict):
    """Of a kind that is told all by the connection and target of its job."""


@dataclass(frozen=True)
class JobKind:
    """What the registry knows of a kind. `verb` is checked against PERMISSIONS; empty: no permission of its own.

    `changes_lake`: neither submitted nor run where the deployment or the job's connection is read-only. `steps` are
    those that it takes, as far as no plan says more (`Step.then`).
    """

    name: str
    queue: str
    verb: str
    run: JobFunction[Any]
    changes_lake: bool = True
    params: Any = NoParams
    steps: tuple[str, ...] = ()

    @property
    def action(self) -> str:
        """What the audit log calls it."""
        return self.verb or f"job.{self.name}"

    def check(self, params: Mapping[str, object]) -> None:
        """Raises ParamsUnfit unless all keys that the kind needs are there, and none that it does not know."""
        missing = self.params.__required_keys__ - params.keys()
        unknown = params.keys() - self.params.__required_keys__ - self.params.__optional_keys__
        if missing or unknown:
            raise ParamsUnfit(self.name, sorted(missing), sorted(unknown))


class UnknownKind(LookupError):
    """A job names a kind that no installed app registers."""

    def __init__(self, name: str) -> None:
        super().__init__(f"No installed app knows jobs of the kind {name!r}: is this worker of another release?")


class ParamsUnfit(ValueError):
    """A job has not the parameters that its kind takes."""

    def __init__(self, name: str, missing: list[str], unknown: list[str]) -> None:
        lacks = f" lacks {', '.join(missing)}" if missing else ""
        has = f" has {', '.join(unknown)}, which the kind does not know" if unknown else ""
        told = f"{lacks}{' and' if lacks and has else ''}{has}"
        super().__init__(f"A job of the kind {name!r}{told}: was it asked for by another release? Ask for it again.")


_kinds: dict[str, JobKind] = {}
in_modules = AtNeed()
"""What registers kinds: named by the apps, imported when a kind is asked for."""


def job_kind(
    name: str, *, queue: str = "default", verb: str = "", changes_lake: bool = True, steps: tuple[str, ...] = ()
) -> Callable[[JobFunction[P]], JobFunction[P]]:
    """Register the decorated function as the work of a kind; it returns the job's final sentence.

    A kind changes the lake unless it says that it does not: a forgotten word refuses too much, never too little.
    """

    def register(run: JobFunction[P]) -> JobFunction[P]:
        known = _kinds.get(name)
        if known and (known.run.__module__, known.run.__qualname__) != (run.__module__, run.__qualname__):
            raise ValueError(f"Two functions claim jobs of the kind {name!r}.")
        _kinds[name] = JobKind(name, queue, verb, run, changes_lake, get_type_hints(run)["params"], steps)
        return run

    return register


def kind_named(name: str) -> JobKind:
    """Return the kind; raises UnknownKind."""
    in_modules.load()
    try:
        return _kinds[name]
    except KeyError:
        raise UnknownKind(name) from None


def steps_of_kind(name: str) -> tuple[str, ...]:
    """Return the steps that a kind declares; none where nobody knows it."""
    in_modules.load()
    return _kinds[name].steps if name in _kinds else ()


def changes_lake(name: str) -> bool:
    """Return whether jobs of a kind change the lake; one that nobody knows counts as one that does."""
    in_modules.load()
    return name not in _kinds or _kinds[name].changes_lake


def kind_names() -> tuple[str, ...]:
    """Return the names of all kinds, sorted."""
    in_modules.load()
    return tuple(sorted(_kinds))
