"""Who may do what."""

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser, Group, User

from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import NotAllowed, require
from dashboard.accounts.roles import PERMISSIONS, Role, role_of
from dashboard.audit.models import AuditEntry
from tests.builders.people import actor, person

pytestmark = pytest.mark.django_db

TABLE = {
    "lake.observe": (False, True, True),
    "job.cancel": (False, True, True),
    "table.plan-repair": (False, True, True),
    "table.repair": (False, True, True),
    "table.repair-losing": (False, False, True),
    "bucket.change-losing": (False, False, True),
    "table.check-coordination": (False, True, True),
    "table.rehearse-coordination": (False, True, True),
    "table.enable-coordination": (False, True, True),
    "table.enable-many": (False, True, True),
    "table.drop-coordination": (False, True, True),
    "table.create": (False, True, True),
    "lake.plan-upkeep": (False, True, True),
    "store.create": (False, True, True),
    "store.change": (False, True, True),
    "bucket.change": (False, True, True),
    "backup.plan": (False, False, True),
    "backup.preflight": (False, True, True),
    "backup.run": (False, True, True),
    "backup.approve": (False, True, True),
    "backup.cancel": (False, True, True),
    "alert.acknowledge": (False, True, True),
    "alert.manage": (False, False, True),
    "lake.declare": (False, False, True),
    "lake.read-only": (False, False, True),
    "people.manage": (False, False, True),
}


def test_the_table_names_every_verb() -> None:
    assert set(TABLE) == set(PERMISSIONS)


@pytest.mark.parametrize("role", list(Role))
def test_each_role_may_what_the_table_says(role: Role) -> None:
    somebody = actor(role)
    assert {verb: somebody.may(verb) for verb in TABLE} == {verb: may[role.level] for verb, may in TABLE.items()}


@pytest.mark.parametrize("somebody", [Actor.command(), Actor.schedule()])
def test_the_command_line_and_the_schedule_may_all(somebody: Actor) -> None:
    assert all(somebody.may(verb) for verb in PERMISSIONS)


def test_a_person_without_a_group_may_nothing() -> None:
    assert not any(actor(None).may(verb) for verb in PERMISSIONS)


def test_a_group_that_is_no_role_gives_none() -> None:
    user = person(None)
    user.groups.add(Group.objects.create(name="superheroes"))
    assert role_of(user) is None


def test_the_highest_of_several_roles_counts() -> None:
    user = person(Role.VIEWER)
    user.groups.add(Group.objects.get_or_create(name="operator")[0])
    assert role_of(user) is Role.OPERATOR


def test_a_disabled_person_and_a_stranger_have_no_role() -> None:
    user = person(Role.ADMIN)
    user.is_active = False
    assert role_of(user) is None
    assert role_of(AnonymousUser()) is None


def test_the_migrations_make_a_group_of_each_role() -> None:
    # Tests that end their transactions empty the tables, so the migration makes its groups once more here.
    Group.objects.all().delete()
    import_module("dashboard.accounts.migrations.0001_role_groups").create_groups(apps, None)
    assert set(Group.objects.values_list("name", flat=True)) >= {role.value for role in Role}


def test_a_refusal_is_raised_and_audited() -> None:
    viewer = actor(Role.VIEWER)
    with pytest.raises(NotAllowed, match=r"lake\.declare needs the role admin"):
        require(viewer, "lake.declare", target="lake.toml")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.outcome, entry.actor_name) == ("lake.declare", "refused", "viewer")
    assert (entry.target_label, entry.ip, entry.request_id) == ("lake.toml", "192.0.2.7", "r1")


def test_a_permission_that_is_given_leaves_no_row() -> None:
    require(actor(Role.ADMIN), "lake.declare")
    assert not AuditEntry.objects.exists()


def test_a_superuser_is_an_admin() -> None:
    assert role_of(User(is_superuser=True)) is Role.ADMIN
