"""Signed requests to AWS: bounded retries with full jitter, every attempt counted."""

import random
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, Protocol
from urllib.parse import quote

from lake.aws.answers import AwsResponse, read_error
from lake.aws.endpoints import RequestUrl
from lake.aws.errors import AwsError
from lake.aws.signing import signed_headers
from lake.aws.transport import Transport, UnreachableError

PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})
# Those that may come with status 400 or, of conditional writes that met each other, 409.
PASSING_CODES = frozenset(
    {"ConditionalRequestConflict", "InternalError", "InternalServerError", "RequestTimeout", "RequestTimeoutException"}
)


class RequestCount:
    """Requests sent, attempts of our own wire included, and DynamoDB read units; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_operation: Counter[str] = Counter()
        self._read_units = 0.0

    def add_request(self, operation: str) -> None:
        with self._lock:
            self._by_operation[operation] += 1

    def add_read_units(self, units: float) -> None:
        with self._lock:
            self._read_units += units

    @property
    def total(self) -> int:
        with self._lock:
            return self._by_operation.total()

    @property
    def by_operation(self) -> dict[str, int]:
        """Requests by "service:Operation"."""
        with self._lock:
            return dict(self._by_operation)

    @property
    def read_units(self) -> float:
        """Read capacity units as DynamoDB reported them."""
        with self._lock:
            return self._read_units


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to wait and how often to ask. Times are seconds.

    The pause before attempt n+1 is drawn evenly from 0 to `first_pause` doubled n-1 times, at most `longest_pause`. No
    attempt begins once `total` has passed since the first. A throttled request is asked `throttled_attempts` times: one
    page of a log store created with 5 read units takes them all for most of a minute.
    """

    connect: float = 5.0
    read: float = 30.0
    attempts: int = 6
    throttled_attempts: int = 12
    first_pause: float = 0.1
    longest_pause: float = 20.0
    total: float = 90.0


@dataclass(frozen=True, slots=True)
class Request:
    """One request before signing. `operation` is "service:Operation"; `target` is what error sentences name."""

    operation: str
    target: str
    place: RequestUrl
    region: str
    method: str = "GET"
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def service(self) -> str:
        return self.operation.partition(":")[0]

    @property
    def path_and_query(self) -> str:
        if not self.query:
            return self.place.path
        pairs = (f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in self.query)
        return f"{self.place.path}?{'&'.join(pairs)}"


class CredentialSource(Protocol):
    """Where the keys of a request come from; may refresh them."""

    def frozen(self) -> Any:
        """The botocore ReadOnlyCredentials of this moment. Raises AwsError."""


class Wire:
    """Sends requests and brings back the final answer, whatever its status; safe to share between threads.

    Every operation here is a read, takes a role, sets something to one value, or is a write on a condition that its own
    success makes false, so that sending one again is always safe. Such a write whose answer was lost is refused the
    second time (AwsError.is_condition_failed); what is there then, only the caller can judge.
    """

    def __init__(
        self, transport: Transport, credentials: CredentialSource, requests: RequestCount, retry_policy: RetryPolicy
    ) -> None:
        self._transport = transport
        self._credentials = credentials
        self._requests = requests
        self._retry_policy = retry_policy

    def send(self, request: Request) -> AwsResponse:
        """The answer, after retries. Raises AwsError where none came or no credentials are at hand."""
        started = time.monotonic()
        for attempt in count(1):
            try:
                answer = self._attempt(request)
            except UnreachableError as reason:
                late = time.monotonic() - started >= self._retry_policy.total
                if late or not reason.is_retryable or attempt >= self._retry_policy.attempts:
                    raise _no_answer(request, reason, attempt) from reason
            else:
                late = time.monotonic() - started >= self._retry_policy.total
                if late or attempt >= self._attempts_for(answer, request):
                    return answer
            self._pause(attempt)
        raise AssertionError("unreachable")

    def _attempt(self, request: Request) -> AwsResponse:
        headers = self._sign(request)
        self._requests.add_request(request.operation)
        return self._transport.send(request.method, request.place.origin, request.path_and_query, headers, request.body)

    def _sign(self, request: Request) -> dict[str, str]:
        signed = signed_headers(
            request.method,
            request.place.origin,
            request.path_and_query,
            request.headers,
            request.body,
            service=request.service,
            region=request.region,
            keys=self._credentials.frozen(),
            now=datetime.now(UTC),
        )
        return {**signed, "User-Agent": "levee"}

    def _attempts_for(self, answer: AwsResponse, request: Request) -> int:
        if answer.status < 400:
            return 1
        error = read_error(answer, request.operation, request.target)
        if error.is_throttle:
            return self._retry_policy.throttled_attempts
        passing = answer.status in PASSING_STATUSES or error.code in PASSING_CODES
        return self._retry_policy.attempts if passing else 1

    def _pause(self, attempt: int) -> None:
        most = min(self._retry_policy.longest_pause, self._retry_policy.first_pause * 2 ** (attempt - 1))
        time.sleep(random.uniform(0, most))  # noqa: S311 - jitter, not a secret


def _no_answer(request: Request, reason: UnreachableError, attempts: int) -> AwsError:
    times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    message = f"{request.place.origin} gave no answer in {times}: {reason}"
    return AwsError("ConnectionFailed", message, operation=request.operation, target=request.target)
