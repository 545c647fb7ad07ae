"""A worker that dies at one of the things it does to the world outside itself: a write to the database, a call of AWS.

After its death nothing of it is done any more, not even what stands in a `finally`: a transaction that was open is
rolled back, and its job stays in its row as a process of `kill -9` leaves it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

WRITES = re.compile(r'(?:INSERT INTO|UPDATE|DELETE FROM) "(?!jobs_)')
"""Of a job's own row nothing is asked but whether it has ended, so that its steps and counters make no difference."""
OF_TRANSACTIONS = ("SAVEPOINT", "RELEASE", "ROLLBACK")


class Killed(BaseException):
    """The process dies here."""


@dataclass
class Deaths:
    """Counts what passes, from 1, and dies at the one whose number is `at`.

    `seen` names all that passed, `place` where it died, for the words of a failed assertion.
    """

    at: int = 0
    place: str = ""
    is_dead: bool = False
    seen: list[str] = field(default_factory=list)

    def passing(self, what: str) -> None:
        """Raise Killed if this is where it dies, or if it is dead."""
        if self.is_dead:
            raise Killed(what)
        self.seen.append(what)
        if len(self.seen) == self.at:
            self.is_dead, self.place = True, f"killed at {self.at}, {what}"
            raise Killed(what)

    def database(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Stand around each statement, for `connection.execute_wrapper`."""
        if WRITES.match(sql):
            self.passing(" ".join(sql.split()[:3]))
        elif self.is_dead and not sql.startswith(OF_TRANSACTIONS):
            raise Killed(sql)
        return execute(sql, params, many, context)

    def revive(self) -> None:
        """Let the next worker live."""
        self.is_dead, self.at = False, 0


def dying(deaths: Deaths) -> Any:
    """The block in which this thread's database counts and dies."""
    return connection.execute_wrapper(deaths.database)
