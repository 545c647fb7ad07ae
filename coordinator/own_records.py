"""Levee's own records, as the calls of a change write them."""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from changes.calls import Answer, Stop, already, done
from coordinator.models import CommitStore, DeltaTable
from coordinator.observation.provenance_rows import abandon_commits
from coordinator.protocols.wording import version_list
from coordinator.settings import ttl_ticks
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext
from lake.delta.uri import TableUri


def records_for(context: JobContext, connection: Connection) -> "RecordsOf":
    """The records that the calls of a job write to."""
    return RecordsOf(connection, context.job.requested_by_name)


@dataclass(frozen=True)
class RecordsOf:
    """Levee's own records of one connection, as the calls change them; `by` is who asked."""

    connection: Connection
    by: str

    def list_store(self, name: str, kind: str) -> Answer:
        _, is_new = CommitStore.objects.get_or_create(connection=self.connection, name=name, defaults={"kind": kind})
        sentence = f"{name} is listed among the commit stores."
        return done(sentence) if is_new else already(sentence)

    def begin_ttl_migration(self, store: str, attribute: str) -> Answer:
        found = CommitStore.objects.filter(connection=self.connection, name=store).first()
        if found is None:
            raise Stop(f"{store} is no commit store that Levee knows any more: nothing was begun.")
        if ttl_ticks.begin(found, attribute, self.by, timezone.now()) is None:
            return already(f"TTL of {store} is being moved already.")
        return done("Levee looks every minute, and the store's page says where the move is.")

    def abandon(self, uri: str, commits: tuple[tuple[int, str], ...]) -> Answer:
        place = TableUri.parse(uri)
        with transaction.atomic():
            tables = DeltaTable.objects.select_for_update().filter(connection=self.connection)
            table = tables.filter(bucket=place.bucket, prefix=place.key).first()
            if table is None:
                raise Stop(f"{uri} is no table that Levee knows any more: nothing was written.")
            abandon_commits(table, commits, timezone.now())
        return done(f"What was seen to be accepted as {version_list(version for version, _ in commits)} is given up.")
