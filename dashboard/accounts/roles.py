"""Who may do what: three roles, each including the one before, and the least role that each verb needs."""

from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum


class Role(StrEnum):
    """A Django group of this name, or a grant on one connection; from least to most."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def level(self) -> int:
        return list(Role).index(self)

    def includes(self, other: "Role") -> bool:
        return self.level >= other.level


PERMISSIONS: dict[str, Role] = {
    "list.export": Role.VIEWER,
    "lake.observe": Role.OPERATOR,
    "job.cancel": Role.OPERATOR,
    "job.mark-seen": Role.OPERATOR,
    "table.plan-repair": Role.OPERATOR,
    "table.repair": Role.OPERATOR,
    "table.repair-losing": Role.ADMIN,
    "table.check-coordination": Role.OPERATOR,
    "table.rehearse-coordination": Role.OPERATOR,
    "table.enable-coordination": Role.OPERATOR,
    "table.enable-many": Role.OPERATOR,
    "table.drop-coordination": Role.OPERATOR,
    "table.create": Role.OPERATOR,
    "lake.plan-upkeep": Role.OPERATOR,
    "store.create": Role.OPERATOR,
    "store.change": Role.OPERATOR,
    "bucket.change": Role.OPERATOR,
    "bucket.change-losing": Role.ADMIN,
    "alert.acknowledge": Role.OPERATOR,
    "alert.manage": Role.ADMIN,
    "backup.plan": Role.ADMIN,
    "backup.remove-losing": Role.ADMIN,
    "backup.remove-restored": Role.OPERATOR,
    "backup.preflight": Role.OPERATOR,
    "backup.prove": Role.OPERATOR,
    "backup.restore": Role.OPERATOR,
    "backup.restore-in-place": Role.ADMIN,
    "backup.run": Role.OPERATOR,
    "backup.approve": Role.OPERATOR,
    "backup.cancel": Role.OPERATOR,
    "lake.declare": Role.ADMIN,
    "lake.read-only": Role.ADMIN,
    "people.manage": Role.ADMIN,
}


# Verbs that can lose data, give power away or turn warnings off: a person types the password again unless they have
# just done so. Making a connection read-only and stopping a backup are no such verbs: they are for emergencies.
NEEDS_FRESH_SIGN_IN = frozenset(
    {
        "table.repair-losing",
        "table.drop-coordination",
        "table.enable-many",
        "bucket.change-losing",
        "people.manage",
        "lake.declare",
        "alert.manage",
        "backup.plan",
        "backup.approve",
        "backup.remove-losing",
        "backup.restore-in-place",
    }
)
FRESH_FOR = timedelta(minutes=15)


def highest(roles: Iterable[Role]) -> Role | None:
    return max(roles, key=lambda role: role.level, default=None)
