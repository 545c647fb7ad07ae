"""Levee on the conformance ground: looking at one table, and repairing it by its own plans."""

from dataclasses import dataclass

from changes.execution import Execution
from coordinator.models import CommitStore, DeltaTable, TableFinding, Watch
from coordinator.observation.passes import observe_connection
from coordinator.own_records import RecordsOf
from coordinator.repairs.fresh import plan_anew
from dashboard.connections.models import Connection
from lake.aws.access import Access, Lake, open_lake
from lake.delta.uri import TableUri
from sandbox.client import REGION, Client
from sandbox.ground import DELTA_COMMITS, DELTA_LOG
from tests.builders.changes import execute_plan


@dataclass(frozen=True, slots=True)
class Seen:
    """What Levee stored of a table: `codes` are its open findings, `repairs` what they offer."""

    state: str
    summary: str
    published: int | None
    accepted: int | None
    lock_domains: tuple[str, ...]
    codes: frozenset[str]
    repairs: frozenset[str]


class Levee:
    """A connection to S3 at one endpoint and both commit stores in DynamoDB at another; `watched` is looked at too."""

    def __init__(self, client: Client, watched: str = "") -> None:
        self.connection = Connection.objects.create(
            name="lake", region=REGION, endpoint_url=client.origin, dynamodb_endpoint_url=client.dynamodb_origin
        )
        for name, kind in ((DELTA_LOG, "log_store"), (DELTA_COMMITS, "commit_coordinator")):
            CommitStore.objects.create(connection=self.connection, name=name, kind=kind)
        if watched:
            Watch.objects.create(connection=self.connection, uri=watched)
        self._access = Access(
            REGION,
            endpoint_url=client.origin,
            dynamodb_endpoint_url=client.dynamodb_origin,
            static_credentials=("sandbox", "sandbox"),
        )

    def open(self) -> Lake:
        return open_lake(self._access, parallel=8)

    def look(self, uri: str) -> Seen:
        """Make a full pass, and return what it stored of this table."""
        with self.open() as lake:
            observe_connection(self.connection, lake, threads=4, in_full=True)
        table = DeltaTable.objects.get(connection=self.connection, uri=uri)
        assert not table.error_code, table.error_text
        findings = TableFinding.objects.filter(table=table, resolved_at=None)
        return Seen(
            state=table.state,
            summary=table.summary,
            published=table.published_version,
            accepted=table.accepted_version,
            lock_domains=tuple(domain.path for domain in table.domains),
            codes=frozenset(found.code for found in findings),
            repairs=frozenset(name for found in findings for name in found.repairs),
        )

    def repair(self, uri: str, repair: str, code: str, path_scheme: str = "") -> Execution:
        """Plan a repair of the open finding `code` from what the lake says now, and carry it out to its end."""
        with self.open() as lake:
            fresh = plan_anew(self.connection, lake, TableUri.parse(uri), path_scheme)
            plan = next((one for one in fresh.plans if (one.kind, one.code) == (repair, code)), None)
            assert plan is not None, [*fresh.refusals, *fresh.verdict.findings]
            execution = execute_plan(plan, lake, records=RecordsOf(self.connection, "tests"))
        assert execution.is_complete, execution.end
        return execution
