"""How a running job tells where it is."""

from collections.abc import Callable


class Report:
    """Hands each report on as a message; may be used by many threads at once as far as `send` may."""

    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send

    def step(self, name: str, waits_for: str = "", *, since_seconds: float = 0.0) -> None:
        """Say that a step begins, or began so long ago, which ends the one before; and what it does that long."""
        self._send(kind="step", name=name, waits_for=waits_for, since_seconds=since_seconds)

    def note(self, text: str) -> None:
        """Tell something that happened inside a step."""
        self._send(kind="progress", note=text)

    def tasks(self, done: int, total: int) -> None:
        """Say how many of Spark's tasks are done."""
        self._send(kind="progress", done=done, total=total)
