"""The lake's entries in the navigation, each with the number of things in the worst state that needs a look."""

from collections.abc import Iterable, Mapping
from functools import partial

from django.db.models import Count, Model

from coordinator.models import Bucket, CommitStore, DeltaTable
from coordinator.protocols.verdict import State
from coordinator.queries.table_counts import tables_by
from dashboard.accounts.scope import owned_by
from dashboard.web.navigation import NavCount, NavItem, register

# Further down the list a table works and nothing can be lost; a number there would only be noise.
_LOUD = (State.BLOCKED, State.UNSAFE, State.ATTENTION)


def register_addresses() -> None:
    """Register the entries of the navigation, and whose things the addresses of these pages name."""
    register(
        NavItem("Lake", "Tables", "tables", "i-table", 10, _worst_tables),
        NavItem("Lake", "Commit stores", "stores", "i-store", 20, partial(_worst, CommitStore)),
        NavItem("Lake", "Buckets", "buckets", "i-bucket", 30, partial(_worst, Bucket)),
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


def _worst_tables(connection_id: int | None) -> NavCount | None:
    narrow = {} if connection_id is None else {"connection_id": connection_id}
    counts = tables_by("state_rank", is_gone=False, **narrow)
    return _loudest({rank: number for (rank,), number in counts.items()})


def _worst(model: type[Model], connection_id: int | None) -> NavCount | None:
    things = model._default_manager.filter(state_rank__in=[state.rank for state in _LOUD])
    if connection_id is not None:
        things = things.filter(connection_id=connection_id)
    return _loudest(dict(things.values_list("state_rank").annotate(number=Count("pk")).order_by()))


def _loudest(counts: Mapping[int, int]) -> NavCount | None:
    """The worst state of these counts by rank that asks for a look."""
    return next((NavCount(state.value, counts[state.rank]) for state in _LOUD if counts.get(state.rank)), None)


def _connection(model: type[Model], pk: int) -> Iterable[int | None]:
    return model._default_manager.filter(pk=pk).values_list("connection_id", flat=True)
