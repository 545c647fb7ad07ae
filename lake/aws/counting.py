"""What a lake's requests amount to, for budgets, pages and benchmarks."""

import threading
from collections import Counter


class RequestCount:
    """Requests sent, attempts included, and DynamoDB read units consumed; safe to share between threads."""

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
