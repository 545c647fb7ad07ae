"""Who may do what."""

import pytest
from django.contrib.auth.models import AnonymousUser, Group

from dashboard.accounts.access import role_of
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import NotAllowed, require
from dashboard.accounts.roles import PERMISSIONS, Role
from dashboard.audit.models import AuditEntry
from tests.builders.people import actor, person

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("somebody", [Actor.command(), Actor.schedule()])
def test_the_command_line_and_the_schedule_may_all_and_need_no_fresh_sign_in(somebody: Actor) -> None:
    assert somebody.is_fresh
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


def test_a_refusal_is_raised_and_audited() -> None:
    viewer = actor(Role.VIEWER)
    with pytest.raises(NotAllowed, match=r"lake\.declare needs the role admin"):
        require(viewer, "lake.declare", target="lake.toml")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.outcome, entry.actor_name) == ("lake.declare", "refused", "viewer")
    assert (entry.target_label, entry.ip, entry.request_id) == ("lake.toml", "192.0.2.7", "r1")
