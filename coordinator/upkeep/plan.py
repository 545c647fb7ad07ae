"""Plans of upkeep: what would be sent to DynamoDB or S3 for one wish, call by call, or why nothing may be."""

import hashlib
from dataclasses import dataclass, field

from coordinator.upkeep.calls import UpkeepCall


@dataclass(frozen=True, slots=True)
class Equivalents:
    """The same change for those who keep infrastructure as code; "" where a tool has no words for it."""

    aws_cli: str = ""
    terraform: str = ""
    cloudformation: str = ""


@dataclass(frozen=True, slots=True)
class UpkeepPlan:
    """One wish come to its calls, in the order in which they are sent.

    `act` and `subject` name the wish; `conditions` must hold and are read anew before the first call; `consequences`
    say what it does, what it leaves alone and what happens on a race. `beside` are rows (setting, what Delta would have
    made, what this plan makes) for a new store. `danger` is what can go wrong for good: where it is not empty the
    subject's name has to be typed. `can_lose` says that something will be deleted of which nothing proves that its
    bytes survive: then it needs an admin as well.
    """

    act: str
    subject: str
    title: str
    calls: tuple[UpkeepCall, ...]
    conditions: tuple[str, ...] = ()
    consequences: tuple[str, ...] = ()
    equivalents: Equivalents = field(default_factory=Equivalents)
    permissions: tuple[str, ...] = ()
    beside: tuple[tuple[str, str, str], ...] = ()
    danger: str = ""
    can_lose: bool = False

    @property
    def digest(self) -> str:
        """A hash of the calls with their conditions: a plan shown and a plan executed are the same if it is equal."""
        return hashlib.sha256(repr((self.act, self.subject, self.calls)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A wish that must not be fulfilled now: `reason` is one sentence, `code` a short word for it.

    `code` is "nothing-to-do" where everything is as wished already.
    """

    act: str
    subject: str
    code: str
    reason: str
