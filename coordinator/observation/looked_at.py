"""Which connections are looked at, and so are late where no look happened."""

from django.db.models import Exists, OuterRef, QuerySet

from coordinator.models import CommitStore, DeltaTable, Watch
from dashboard.connections.models import Connection


def looked_at() -> QuerySet[Connection]:
    """Connections that watch a prefix, have a commit store, or hold a table that has not vanished.

    What is said of a table gets old whether or not its prefix is still watched.
    """
    here = OuterRef("pk")
    watched = Exists(Watch.objects.filter(connection=here))
    stored = Exists(CommitStore.objects.filter(connection=here))
    known = Exists(DeltaTable.objects.filter(connection=here, gone_at=None))
    return Connection.objects.filter(watched | stored | known).order_by("pk")
