"""Calls that write what Levee itself knows of a table, and nothing to the lake."""

from dataclasses import dataclass

from changes.calls import Answer, LakeCall, Permission, Sending
from coordinator.protocols.wording import verb, version_list


@dataclass(frozen=True, slots=True)
class Abandon(LakeCall):
    """Give up what was seen to be accepted as these versions, so that its loss is no finding later.

    It goes before the call that makes the loss: a plan that is stopped in between leaves the item, which is seen again.
    """

    uri: str
    versions: tuple[int, ...]

    @property
    def operation(self) -> str:
        return "Levee's own records"

    @property
    def says(self) -> str:
        named = f"{verb(len(self.versions), 'version', 'versions')} {version_list(self.versions)}"
        return f"Gives up what Levee saw to be accepted as {named}: its loss is no finding from then on."

    @property
    def condition(self) -> str:
        return ""

    @property
    def permissions(self) -> tuple[Permission, ...]:
        return ()

    def send(self, sending: Sending) -> Answer:
        return sending.own_records().abandon(self.uri, self.versions)
