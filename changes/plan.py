"""Plans of changes: what would be sent for one change, call by call, or why nothing may be."""

import hashlib
from dataclasses import dataclass, field, replace

from changes.calls import Call

NOTHING_TO_DO = "nothing-to-do"
"""Why a change is refused where everything is as asked for already: no failure."""


@dataclass(frozen=True, slots=True)
class Equivalents:
    """The same change without Levee: AWS CLI commands, and what Terraform needs to take the resource over.

    "" where a tool has no words for it; `not_offered` says why there are no commands that would be right.
    """

    aws_cli: str = ""
    terraform: str = ""
    not_offered: str = ""


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """One change: `calls` are exactly what will be sent, in this order.

    `kind` names the change, `subject` the table, store or bucket that it is about; a repair is also about the finding
    of that `code` and `version`. `conditions` must hold and are read anew before the first call; `consequences` say
    what it does, what it leaves alone and what happens on a race. `danger` is what can be lost, or go wrong for good:
    where it is not empty the subject's name has to be typed. `can_lose` says that a commit can be lost: then it needs
    an admin as well. `asks` names a choice that makes another plan of it, "" for none. `beside` are rows (setting,
    what Delta would have made, what this plan makes) for a new store. `rests_on` are facts that no call holds,
    such as the region that the calls are sent to: with others it is another plan. The first `ahead` calls finish what
    others have begun, who may do so themselves meanwhile, and begin more: they are planned anew when their turn comes.
    """

    kind: str
    subject: str
    title: str
    calls: tuple[Call, ...]
    consequences: tuple[str, ...] = ()
    code: str = ""
    version: int | None = None
    conditions: tuple[str, ...] = ()
    danger: str = ""
    can_lose: bool = False
    asks: str = ""
    equivalents: Equivalents = field(default_factory=Equivalents)
    beside: tuple[tuple[str, str, str], ...] = ()
    rests_on: tuple[str, ...] = ()
    ahead: int = 0

    @property
    def digest(self) -> str:
        """A hash of the calls with their conditions and of what they rest on: a plan shown and a plan executed are the
        same if it is equal.

        The moment in the names of rescue folders is left out, so that the same plan made later has the same digest, and
        so are the calls that go ahead.
        """
        what = (self.kind, self.subject, self.saving_under("").calls[self.ahead :], self.rests_on)
        return hashlib.sha256(repr(what).encode()).hexdigest()[:32]

    @property
    def permissions(self) -> tuple[str, ...]:
        """Each IAM action that the calls need with its resource once, sorted: `s3:PutObject on arn:aws:s3:::lake/*`."""
        return tuple(sorted({str(permission) for call in self.calls for permission in call.permissions}))

    @property
    def rescue_folder(self) -> str:
        """The name of the folder that copies go to before anything is lost; "" for a plan that saves nothing."""
        return next((call.rescue_folder for call in self.calls if call.rescue_folder), "")

    def saving_under(self, folder: str) -> "ChangePlan":
        """The same plan with its copies in a rescue folder of another name, such as that of the plan that was shown."""
        return replace(self, calls=tuple(call.saving_under(folder) for call in self.calls))


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that must not be made now, and the `reason` in one sentence; `asks` names the choice that it waits for.

    `why` is a short word for it: "nothing-to-do" where all is as asked for already. `command` is what a person may run
    instead, "" for none. The rest is as in `ChangePlan`.
    """

    kind: str
    subject: str
    reason: str
    why: str = ""
    title: str = ""
    code: str = ""
    version: int | None = None
    asks: str = ""
    command: str = ""
