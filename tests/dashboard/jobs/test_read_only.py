"""Read-only mode is asked where jobs are made and where they are run, whatever their kind."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import PERMISSIONS, Role
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from dashboard.connections.writable import ConnectionReadOnly, ReadOnlyMode
from dashboard.jobs import context as context_of_jobs
from dashboard.jobs import registry
from dashboard.jobs.actions import run_in_foreground, submit
from dashboard.jobs.context import JobContext
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job
from dashboard.jobs.registry import JobKind, NoParams, job_kind, kind_named, kind_names
from tests.builders.people import actor

pytestmark = pytest.mark.django_db

READS = {
    "backup-cancel",
    "backup-preflight",
    "check-coordination",
    "check-many-coordination",
    "check-permissions",
    "check-writer-test",
    "export-audit",
    "export-tables",
    "list-rescue",
    "observe",
    "observe-table",
    "plan-repair",
    "plan-rescue",
    "plan-restore",
    "plan-restores",
    "plan-upkeep",
    "prove-backup",
    "recount",
}


def ours(*, changing: bool) -> list[str]:
    """The kinds of the installed apps; every one, so that a kind added later is tried below without being named."""
    kinds = [kind_named(name) for name in kind_names() if not name.startswith("test-")]
    return [kind.name for kind in kinds if kind.changes_lake == changing]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The kinds whose work was called: each does nothing else."""
    called: list[str] = []

    def standing_in(kind: JobKind) -> JobKind:
        def run(context: JobContext, params: NoParams) -> str:
            called.append(kind.name)
            return "Done."

        return JobKind(kind.name, kind.queue, kind.verb, run, kind.changes_lake)

    monkeypatch.setattr(registry, "_kinds", {name: standing_in(kind_named(name)) for name in kind_names()})
    return called  # type: ignore[return-value]


@pytest.fixture(params=["deployment", "connection"])
def connection(request: pytest.FixtureRequest, settings: Settings) -> Connection:
    """A connection through which nothing may be changed, for either reason."""
    settings.READ_ONLY = request.param == "deployment"
    return Connection.objects.create(name="lake", region="eu-west-1", read_only=request.param == "connection")


def test_every_kind_that_leaves_the_lake_alone_is_known() -> None:
    assert set(ours(changing=False)) == READS


def test_every_kind_needs_a_permission() -> None:
    assert [
        name for name in [*ours(changing=True), *ours(changing=False)] if kind_named(name).verb not in PERMISSIONS
    ] == []


def test_a_kind_that_says_nothing_changes_the_lake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_kinds", {})

    @job_kind("silent")
    def silent(context: JobContext, params: NoParams) -> str:
        return "Done."

    assert kind_named("silent").changes_lake


@pytest.mark.parametrize("kind", ours(changing=True))
def test_what_changes_the_lake_is_not_submitted(kind: str, connection: Connection, ran: list[str]) -> None:
    for door in (submit, run_in_foreground):
        for who in (actor(Role.ADMIN), Actor.command(), Actor.schedule()):
            with pytest.raises(ReadOnlyMode):
                door(who, kind, "Change", connection=connection)
    assert (Job.objects.count(), ran) == (0, [])
    refused = AuditEntry.objects.filter(action=kind_named(kind).verb, outcome="refused")
    assert {entry.actor_name for entry in refused} == {"admin", Actor.command().name}


@pytest.mark.parametrize("kind", ours(changing=True))
def test_what_was_queued_before_is_not_run(kind: str, connection: Connection, ran: list[str]) -> None:
    queued = Job.objects.create(kind=kind, title="Change", connection=connection, target_key=kind)
    assert execute(queued.pk, "worker")
    queued.refresh_from_db()
    assert (queued.state, ran) == ("failed", [])
    assert queued.error_code in {"ReadOnlyMode", "ConnectionReadOnly"}
    assert queued.error_text.startswith("Stopped before any change: ")


@pytest.mark.parametrize("kind", ours(changing=False))
def test_what_reads_is_run(kind: str, connection: Connection, ran: list[str]) -> None:
    assert run_in_foreground(actor(Role.ADMIN), kind, "Read", connection=connection).state == "succeeded"
    assert ran == [kind]


def test_another_connection_is_changed_as_before(ran: list[str]) -> None:
    Connection.objects.create(name="guarded", region="eu-west-1", read_only=True)
    free = Connection.objects.create(name="free", region="eu-west-1")
    assert run_in_foreground(Actor.command(), "repair", "Change", connection=free).state == "succeeded"


def test_the_switch_counts_as_it_stands_in_the_database(ran: list[str]) -> None:
    seen = Connection.objects.create(name="lake", region="eu-west-1")
    Connection.objects.update(read_only=True)
    with pytest.raises(ConnectionReadOnly, match="The connection lake is read-only"):
        submit(Actor.command(), "repair", "Change", connection=seen)


@pytest.mark.parametrize(("kind", "state", "counted"), [("repair", "cancelled", 1), ("observe", "succeeded", 3)])
def test_a_job_under_way_stops_at_its_next_safe_place(
    kind: str, state: str, counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Connection.objects.create(name="lake", region="eu-west-1")
    done = []

    def change(context: JobContext, params: NoParams) -> str:
        for number in range(3):
            context.check_cancelled()
            done.append(number)
            Connection.objects.update(read_only=True)
        return "Done."

    known = kind_named(kind)
    standing_in = JobKind(kind, known.queue, known.verb, change, known.changes_lake)
    monkeypatch.setattr(registry, "_kinds", {kind: standing_in})
    monkeypatch.setattr(context_of_jobs, "WRITE_EVERY_SECONDS", 0)
    job = run_in_foreground(Actor.command(), kind, "Change", connection=lake)
    assert (job.state, len(done)) == (state, counted)
