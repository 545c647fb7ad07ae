"""The rules of S3 Batch Operations and S3 Inventory, scaled down where somebody asks for it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

COPY_LIMIT = 5 * 1024**3


@dataclass(frozen=True, slots=True)
class Rules:
    """Sizes in bytes, times in seconds.

    `copy_limit` stands for the 5 GB of CopyObject. A job fails once `failure_tasks` tasks have run and more than
    `failure_percent` of them failed. `task_seconds` is how long each task takes at least, `paces` how long those of
    keys with a prefix. `denied_roles` are those that S3 can no longer take. `delivery_seconds` is the wait for a
    configuration's first inventory.
    """

    copy_limit: int = COPY_LIMIT
    failure_tasks: int = 1000
    failure_percent: float = 50.0
    task_seconds: float = 0.0
    paces: Mapping[str, float] = field(default_factory=dict)
    denied_roles: Collection[str] = ()
    delivery_seconds: float = 5.0

    def seconds(self, key: str) -> float:
        """How long the task of a key takes at least."""
        return max((one for prefix, one in self.paces.items() if key.startswith(prefix)), default=self.task_seconds)


class RuleBook:
    """The rules that hold now."""

    def __init__(self) -> None:
        self.now = Rules()

    def change(self, changed: Mapping[str, Any]) -> None:
        """Replace the rules named; TypeError for one that there is not."""
        self.now = replace(self.now, **changed)

    def reset(self) -> None:
        self.now = Rules()
