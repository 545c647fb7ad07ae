"""TTL moves from commitTime to expireTime over hours, tick by tick, whatever breaks between two ticks."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from coordinator.models import CommitStore, TtlMigration
from coordinator.settings import actions, ttl_ticks
from coordinator.settings.requests import MigrateTtl
from coordinator.settings.ttl_migration import Phase, next_move
from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from dashboard.jobs.models import JobState
from lake.aws.errors import AwsError
from tests.builders.lake import make_store
from tests.builders.people import actor
from tests.coordinator.settings.ttl_world import TtlWorld

pytestmark = pytest.mark.postgres("locks")

START = datetime(2026, 11, 21, 8, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def store(db) -> CommitStore:
    return make_store()


@pytest.fixture
def world(monkeypatch) -> TtlWorld:
    world = TtlWorld(START)
    monkeypatch.setattr(ttl_ticks, "open_lake", lambda access: world)
    return world


def begun(store: CommitStore) -> TtlMigration:
    migration = ttl_ticks.begin(store, "commitTime", "anna", START)
    assert migration
    return migration


def ticks(migration: TtlMigration, world: TtlWorld, minutes: int) -> list[str]:
    """Phases it goes through, one tick a minute."""
    seen = [migration.phase]
    for _ in range(minutes):
        ttl_ticks.carry_on(migration, world.now)
        migration.refresh_from_db()
        if migration.phase != seen[-1]:
            seen.append(migration.phase)
        world.now += MINUTE
    return seen


def test_it_waits_for_dynamodb_and_ends_on_expire_time(store, world):
    migration = begun(store)

    phases = ticks(migration, world, 100)

    assert phases == ["disabling", "waiting-off", "enabling", "waiting-on", "done"]
    assert world.sent == [("commitTime", False), ("expireTime", True)]
    assert (world.status, world.attribute) == ("ENABLED", "expireTime")
    assert migration.finished_at
    assert migration.detail == "TTL is on expireTime, read back from DynamoDB."


@pytest.mark.parametrize("crash_at", range(8))
def test_a_crash_at_any_tick_before_the_note_changes_nothing_of_the_end(store, world, monkeypatch, crash_at):
    """The change may have been sent and not noted; the lease runs out, and the next tick goes by what DynamoDB says."""
    migration, real, count = begun(store), ttl_ticks._note, [0]

    def crash(*given):
        count[0] += 1
        if count[0] == crash_at + 1:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(ttl_ticks, "_note", crash)
    for _ in range(130):
        with suppress(KeyboardInterrupt):
            ttl_ticks.carry_on(migration, world.now)
        world.now += MINUTE
    migration.refresh_from_db()

    assert migration.phase == Phase.DONE
    assert world.sent == [("commitTime", False), ("expireTime", True)]


def test_a_lost_answer_is_made_good_by_looking_again(store, world):
    world.lose_answer = True
    migration = begun(store)
    ticks(migration, world, 130)

    assert migration.phase == Phase.DONE
    assert world.sent == [("commitTime", False), ("expireTime", True)]


def test_two_ticks_at_once_make_one_change(store, world):
    migration = begun(store)
    lease = START + ttl_ticks.LEASE

    assert ttl_ticks._take(migration, START, lease)
    assert not ttl_ticks._take(migration, START, lease)
    assert not ttl_ticks.carry_on(migration, START)
    assert world.sent == []


def test_a_second_migration_of_a_store_is_not_begun(store):
    begun(store)

    assert ttl_ticks.begin(store, "commitTime", "ben", START) is None


def test_a_refusal_for_good_ends_it_with_the_reason(store, world):
    world.refuse = AwsError("AccessDeniedException", "not authorized", permission="dynamodb:UpdateTimeToLive")
    migration = begun(store)
    ticks(migration, world, 1)

    assert migration.phase == Phase.FAILED
    assert "dynamodb:UpdateTimeToLive is missing" in migration.detail
    assert AuditEntry.objects.get(action="store.change").outcome == "failed"


def test_somebody_who_switches_ttl_on_again_is_not_fought(store, world):
    migration = begun(store)
    ticks(migration, world, 10)
    world.status, world.attribute, world.changed_at = "ENABLED", "commitTime", None
    ticks(migration, world, 2)

    assert migration.phase == Phase.FAILED
    assert migration.detail.startswith("Somebody switched TTL on again")
    assert world.sent == [("commitTime", False)]


@pytest.mark.parametrize("status", ["", "DELETING"])
def test_a_table_that_goes_ends_it(store, world, status):
    world.table_status = status
    migration = begun(store)
    ticks(migration, world, 1)

    assert migration.phase == Phase.FAILED


def test_a_table_at_work_is_waited_for(store, world):
    world.table_status = "UPDATING"
    migration = begun(store)
    ticks(migration, world, 3)

    assert migration.phase == Phase.DISABLING
    assert "UPDATING" in migration.detail


def test_it_gives_up_after_a_day(store, world):
    world.takes = timedelta(days=9)
    migration = begun(store)
    world.now += timedelta(hours=25)
    ticks(migration, world, 1)

    assert migration.phase == Phase.FAILED
    assert migration.detail.startswith("Given up after a day")


def test_a_connection_made_read_only_meanwhile_stops_it(store, world):
    migration = begun(store)
    Connection.objects.update(read_only=True)
    ticks(migration, world, 1)

    assert (migration.phase, world.sent) == (Phase.FAILED, [])


def test_it_can_be_stopped_by_an_operator_and_by_no_viewer(store, world):
    migration = begun(store)
    with pytest.raises(NotAllowed):
        actions.cancel_ttl_migration(actor(Role.VIEWER), migration)

    assert actions.cancel_ttl_migration(actor(Role.OPERATOR), migration)
    assert not actions.cancel_ttl_migration(actor(Role.OPERATOR), migration)
    ticks(migration, world, 5)
    assert world.sent == []
    assert migration.phase == Phase.CANCELLED


def test_the_tick_carries_every_store_on_though_one_fails(store, world, monkeypatch):
    other = CommitStore.objects.create(connection=store.connection, name="second", kind="log_store")
    first, second = begun(store), begun(other)
    TtlMigration.objects.update(started_at=timezone.now(), next_at=timezone.now())
    real = ttl_ticks.carry_on

    def one_breaks(migration, now):
        if migration.pk == first.pk:
            raise RuntimeError("broken")
        return real(migration, now)

    monkeypatch.setattr(ttl_ticks, "carry_on", one_breaks)
    ttl_ticks.ttl_tick()
    second.refresh_from_db()

    assert second.phase == Phase.WAITING_OFF


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("status", ["ENABLED", "ENABLING", "DISABLED", "DISABLING", None, "", "NEW"])
@pytest.mark.parametrize("attribute", ["commitTime", "expireTime", "other", ""])
def test_whatever_is_seen_at_most_one_change_is_sent_and_never_to_switch_expire_time_off(phase, status, attribute):
    move = next_move(phase, "commitTime", SimpleNamespace(status="ACTIVE", ttl_status=status, ttl_attribute=attribute))

    assert move.send in ("", "enable", "disable")
    assert (move.send == "enable") <= (status == "DISABLED" and move.attribute == "expireTime")
    assert (move.send == "disable") <= (status == "ENABLED" and move.attribute == "commitTime")
    assert move.detail


def test_the_job_begins_it_and_the_tick_ends_it_on_moto(console):
    name = console.with_ttl("commitTime")
    plan = console.plan_of(MigrateTtl(name))
    assert "stop writers up to Delta 2.1" in " ".join(plan["consequences"])

    job = console.applied(MigrateTtl(name))
    assert job.state == JobState.SUCCEEDED, job.message
    assert console.refusal_of(MigrateTtl(name))["why"] == "under-way"
    for _ in range(3):
        TtlMigration.objects.update(next_at=timezone.now())
        ttl_ticks.ttl_tick()

    assert console.ttl()["AttributeName"] == "expireTime"
    assert TtlMigration.objects.get().phase == Phase.DONE
