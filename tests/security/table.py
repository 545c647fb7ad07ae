"""Who may open and who may post to every address, by its name. A new address has to be written down here."""

from dataclasses import dataclass
from enum import IntEnum


class Least(IntEnum):
    """The least that somebody has to be; NOBODY: the address does not answer to this method (405)."""

    STRANGER = 0
    VIEWER = 1
    OPERATOR = 2
    ADMIN = 3
    NOBODY = 4


S, V, O, A, N = Least  # noqa: E741 - the columns of the table below


@dataclass(frozen=True)
class Rule:
    """`see` by GET, `do` by POST. `changes`: the POST asks for a change of the lake, which read-only mode refuses.

    `fresh`: only with a password typed within the last 15 minutes. `silent`: the audit log keeps no row of the POST,
    which changes nothing but the own session, or is but the first half of an act.
    """

    see: Least
    do: Least
    changes: bool = False
    fresh: bool = False
    silent: bool = False


RULES = {
    # The way in and out, and what machines ask.
    "login": Rule(S, S, silent=True),
    "welcome": Rule(S, S, silent=True),
    "alert-stop": Rule(S, S),
    "healthz": Rule(S, N),
    "readyz": Rule(S, N),
    "logout": Rule(N, V),
    # Whoever is signed in.
    "home": Rule(V, N),
    "me": Rule(V, V, silent=True),
    "password": Rule(V, V),
    "prove": Rule(V, V),
    "own-mails": Rule(V, V),
    "end-own-sessions": Rule(N, V),
    "scope": Rule(N, V, silent=True),
    "states": Rule(V, N),
    "find": Rule(V, N),
    "audit": Rule(V, V),
    # People.
    "people": Rule(A, N),
    "new-person": Rule(A, A, fresh=True),
    "person": Rule(A, A, fresh=True),
    "person-link": Rule(N, A, fresh=True),
    "person-sessions": Rule(N, A, fresh=True),
    # Jobs.
    "jobs": Rule(V, N),
    "job": Rule(V, N),
    "job-progress": Rule(V, N),
    "job-log": Rule(V, N),
    "job-file": Rule(V, N),
    "job-cancel": Rule(N, O),
    "jobs-seen": Rule(N, O),
    # Alerts.
    "alerts": Rule(V, N),
    "alert": Rule(V, O),
    "alerts-acknowledge": Rule(N, O),
    "alert-reopen": Rule(N, O),
    "alert-messages": Rule(V, N),
    "alert-message": Rule(V, N),
    "alert-message-again": Rule(N, A, fresh=True),
    "alert-rules": Rule(V, N),
    "alert-rule": Rule(V, A, fresh=True),
    "alert-new-rule": Rule(A, A, fresh=True),
    "alert-rule-delete": Rule(N, A, fresh=True),
    "alert-recipients": Rule(V, A, fresh=True),
    "alert-recipient-test": Rule(N, A, fresh=True),
    "alert-recipient-delete": Rule(N, A, fresh=True),
    "deadlines": Rule(V, N),
    # Tables.
    "tables": Rule(V, V),
    "table": Rule(V, N),
    "table-verdict": Rule(V, N),
    "table-commits": Rule(V, N),
    "table-commit": Rule(V, N),
    "table-entries": Rule(V, N),
    "table-jobs": Rule(V, N),
    "table-activity": Rule(V, N),
    "table-history": Rule(V, N),
    "table-backups": Rule(V, N),
    "table-writers": Rule(V, N),
    "table-compatibility": Rule(V, N),
    "table-doctor": Rule(V, V, silent=True),
    "table-observe": Rule(N, O),
    "observe": Rule(N, O),
    "table-repairs": Rule(N, O),
    "table-repair": Rule(V, O, changes=True),
    "table-rescue": Rule(V, O),
    "table-rescue-plan": Rule(N, O),
    "table-rescue-copy": Rule(V, O, changes=True),
    "repair-many": Rule(V, O, changes=True),
    "coordination": Rule(V, N),
    "table-coordination": Rule(V, O),
    "table-coordination-checks": Rule(V, O, changes=True),
    "table-coordination-rehearsal": Rule(N, O, changes=True),
    "coordination-many": Rule(V, O, fresh=True, changes=True),
    "table-create": Rule(V, O),
    "table-create-checks": Rule(V, O, changes=True),
    # Stores, buckets, connections.
    "stores": Rule(V, N),
    "store": Rule(V, N),
    "store-writers": Rule(V, N),
    "store-writer-test-make": Rule(N, O),
    "store-writer-test": Rule(V, N),
    "store-writer-test-check": Rule(N, O),
    "store-writer-test-clean": Rule(N, O),
    "store-doctor": Rule(V, V, silent=True),
    "doctor": Rule(V, V, silent=True),
    "store-ttl": Rule(V, N),
    "store-ttl-stop": Rule(N, O),
    "store-create": Rule(V, O),
    "store-change": Rule(N, O),
    "buckets": Rule(V, N),
    "bucket": Rule(V, N),
    "bucket-change": Rule(N, O),
    "settings-plan": Rule(V, O, changes=True),
    "settings-plan-again": Rule(N, O),
    "connections": Rule(V, N),
    "connection": Rule(V, N),
    "connection-check": Rule(N, O),
    "connection-read-only": Rule(N, A),
    # Backups.
    "backups": Rule(V, N),
    "backup-card": Rule(V, N),
    "backup-plan": Rule(V, N),
    "backup-plan-add": Rule(A, A, fresh=True),
    "backup-plan-edit": Rule(A, A, fresh=True),
    "backup-plan-policies": Rule(V, N),
    "backup-plan-sheet": Rule(V, N),
    "backup-plan-restore": Rule(V, O),
    "backup-plan-restored": Rule(V, O, changes=True),
    "backup-plan-preflight": Rule(N, O),
    "backup-plan-inventory": Rule(N, A, changes=True, fresh=True),
    "backup-plan-run": Rule(N, O, changes=True),
    "backup-plan-switch": Rule(N, A, fresh=True),
    "backup-restore": Rule(V, O),
    "backup-restore-plan": Rule(V, O, changes=True),
    "backup-remove": Rule(N, O),
    "backup-run": Rule(V, N),
    "backup-run-failures": Rule(V, N),
    "backup-run-approve": Rule(N, O, changes=True, fresh=True),
    "backup-run-reject": Rule(N, O),
    "backup-run-cancel": Rule(N, O),
    "backup-run-priority": Rule(N, O, changes=True),
    "backup-run-retry": Rule(N, O, changes=True),
}
