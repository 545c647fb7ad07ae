"""Calls that write what Levee itself knows of a table, and nothing to the lake."""

from dataclasses import dataclass
from typing import ClassVar

from changes.calls import Answer, LakeCall, Sending
from coordinator.protocols.wording import named_versions


@dataclass(frozen=True, slots=True)
class Abandon(LakeCall):
    """Give up what was accepted as these versions with these files, so that its loss is no finding later.

    It follows the call that makes the loss. An item of theirs that a later look finds counts again.
    """

    operation: ClassVar[str] = "Levee's own records"
    uri: str
    commits: tuple[tuple[int, str], ...]

    @property
    def says(self) -> str:
        versions = sorted({version for version, _ in self.commits})
        named = named_versions(versions)
        return f"Gives up {named} as Levee saw it accepted: Levee no longer reports its loss."

    def send(self, sending: Sending) -> Answer:
        answer = sending.own_records().abandon(self.uri, self.commits)
        sending.took("")
        return answer
