"""The lake's entries in the navigation, each with the number of things in the worst state that needs a look."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.db.models import Aggregate, Count, F, Model, QuerySet, Sum

from coordinator.models import Bucket, CommitStore, DeltaTable, TableCount
from coordinator.protocols.verdict import State
from dashboard.accounts.scope import owned_by
from dashboard.web.navigation import Counted, NavItem, register

# Further down the list a table works and nothing can be lost; a number there would only be noise.
_LOUD = {state.rank: state.value for state in (State.BLOCKED, State.UNSAFE, State.ATTENTION)}


def register_addresses() -> None:
    """Register the entries of the navigation, and whose things the addresses of these pages name."""
    register(
        NavItem("Lake", "Tables", "tables", "i-table", 10, Counted(_tables_by_rank, _LOUD)),
        NavItem("Lake", "Commit stores", "stores", "i-store", 20, _counted(CommitStore)),
        NavItem("Lake", "Buckets", "buckets", "i-bucket", 30, _counted(Bucket)),
        NavItem("Lake", "Writer settings", "doctor", "i-file", 35),
        NavItem("Console", "Connections", "connections", "i-gear", 40),
        NavItem("Lake", "Coordinated commits", "coordination"),
    )
    owned_by(
        table_id=partial(_connection, DeltaTable),
        store_id=partial(_connection, CommitStore),
        bucket_id=partial(_connection, Bucket),
        connection_id=lambda pk: (pk,),
    )


def _counted(model: type[Model]) -> Counted:
    return Counted(partial(_by_rank, model, Count("pk")), _LOUD)


def _tables_by_rank(connection_id: int | None) -> "QuerySet[TableCount, Any]":
    return _by_rank(TableCount, Sum("number"), connection_id).filter(is_gone=False)


def _by_rank(model: type[Model], number: Aggregate, connection_id: int | None) -> "QuerySet[Any, Any]":
    things = model._default_manager.filter(state_rank__in=_LOUD)
    if connection_id is not None:
        things = things.filter(connection_id=connection_id)
    ranked: QuerySet[Any, Any] = things.order_by().values(key=F("state_rank")).annotate(number=number)
    return ranked


def _connection(model: type[Model], pk: int) -> Iterable[int | None]:
    return model._default_manager.filter(pk=pk).values_list("connection_id", flat=True)
