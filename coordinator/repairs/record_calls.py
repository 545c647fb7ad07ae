"""Calls that write what Levee itself knows of a table, and nothing to the lake."""

from dataclasses import dataclass

from changes.calls import Answer, LakeCall, Permission, Sending
from coordinator.protocols.wording import thousands, verb, version_list


@dataclass(frozen=True, slots=True)
class Abandon(LakeCall):
    """Give up what was seen to be accepted as these versions, so that its loss is no finding later.

    What is given up are the very files that items named: a commit that is accepted later counts again.
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
        answer = sending.own_records().abandon(self.uri, self.versions)
        sending.took("")
        return answer


@dataclass(frozen=True, slots=True)
class Readmit(LakeCall):
    """Let count again what was given up of a version, because its item is there again."""

    uri: str
    version: int

    @property
    def operation(self) -> str:
        return "Levee's own records"

    @property
    def says(self) -> str:
        return f"Counts commit {thousands(self.version)} again, if it was given up before."

    @property
    def condition(self) -> str:
        return ""

    @property
    def permissions(self) -> tuple[Permission, ...]:
        return ()

    def send(self, sending: Sending) -> Answer:
        return sending.own_records().readmit(self.uri, self.version)
