"""Sessions that a script may meet, without Spark: one behind Spark Connect, whose table keeps what it is told to."""

from collections.abc import Callable
from threading import Barrier, BrokenBarrierError, Lock
from typing import Any


class ConnectSession:
    """Keeps rows of one table in memory, a version for each commit. `loses` says of a row whether it is lost.

    Two commits that begin together have read the same version, as two writers do that compete.
    """

    version = "4.2.0"
    conf: dict[str, str]

    def __init__(self, loses: Callable[[int], bool] = lambda row: False) -> None:
        self.conf = {}
        self.loses = loses
        self.rows: list[int] = []
        self.read_versions: list[int | None] = []
        self.places: set[str] = set()
        self.options: dict[str, str] = {}
        self._lock, self._both = Lock(), Barrier(2)

    def range(self, row: int, *_: int) -> "_Writer":
        return _Writer(self, row)

    @property
    def read(self) -> "_Reader":
        return _Reader(self)

    def sql(self, statement: str) -> "_Rows":
        if statement.startswith("DESCRIBE HISTORY"):
            read = enumerate(self.read_versions)
            return _Rows([{"version": version, "readVersion": before} for version, before in read])
        return _Rows([(self.options,)])

    def commit(self, place: str, row: int) -> None:
        read = len(self.read_versions) - 1
        if row >= 10:
            try:
                self._both.wait(5)
            except BrokenBarrierError:
                raise AssertionError("one rival came alone") from None
        with self._lock:
            self.places.add(place)
            self.read_versions.append(read if self.read_versions else None)
            self.rows += [] if self.loses(row) else [row]


class _Writer:
    def __init__(self, session: ConnectSession, row: int) -> None:
        self._session, self._row = session, row
        self.write = self

    def format(self, name: str) -> "_Writer":
        return self

    mode = format

    def option(self, key: str, value: str) -> "_Writer":
        self._session.options[key] = value
        return self

    def save(self, place: str) -> None:
        self._session.commit(place, self._row)


class _Reader:
    def __init__(self, session: ConnectSession) -> None:
        self._session = session

    def format(self, name: str) -> "_Reader":
        return self

    def load(self, place: str) -> "_Rows":
        return _Rows([(row,) for row in self._session.rows])


class _Rows:
    def __init__(self, rows: list[Any]) -> None:
        self._rows = rows

    def select(self, *_: str) -> "_Rows":
        return self

    def collect(self) -> list[Any]:
        return self._rows
