"""Whose things an address of the lake names."""

from collections.abc import Iterable

from django.db.models import Model

from coordinator.models import Bucket, CommitStore, DeltaTable
from dashboard.accounts.scope import owned_by


def register_owners() -> None:
    """Tell which connection a table, store or bucket in an address belongs to."""
    owned_by(
        table_id=lambda pk: _connection(DeltaTable, pk),
        store_id=lambda pk: _connection(CommitStore, pk),
        bucket_id=lambda pk: _connection(Bucket, pk),
        connection_id=lambda pk: (pk,),
    )


def _connection(model: type[Model], pk: int) -> Iterable[int | None]:
    return model._default_manager.filter(pk=pk).values_list("connection_id", flat=True)
