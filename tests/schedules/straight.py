"""Levee's work in one thread, unsigned and without pauses: its requests come in one order each time, and soon."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from itertools import chain
from typing import Any

import botocore.session
import pytest

from coordinator.observation import workers
from lake.aws import access, dynamodb, wire

SESSION = botocore.session.Session()
"""Each lake opened makes one, which takes longer than all of its requests to memory."""


class Straight:
    """An executor that does what it is given while it is given it."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def submit(self, work: Callable[..., Any], *args: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(work(*args))
        except Exception as error:  # noqa: BLE001 - raised again by `result`
            future.set_exception(error)
        return future

    def shutdown(self, **_: Any) -> None: ...

    def __enter__(self) -> "Straight":
        return self

    def __exit__(self, *_: Any) -> None: ...


def one_after_the_other(sources: Sequence[Iterator[Any]]) -> Iterator[Any]:
    return chain.from_iterable(sources)


def go_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ThreadPoolExecutor", Straight)
    monkeypatch.setattr(workers.Workers, "ask", lambda self, question: question(), raising=False)
    monkeypatch.setattr(dynamodb, "merge", one_after_the_other)
    monkeypatch.setattr(wire.Wire, "_pause", lambda *_: None)
    # Nobody looks at the signature here.
    monkeypatch.setattr(wire, "signed_headers", lambda method, origin, path, headers, body, **_: dict(headers))
    monkeypatch.setattr(access.botocore.session, "Session", lambda: SESSION)
