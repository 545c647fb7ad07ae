"""People and the pages they open, for tests."""

from datetime import datetime

from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from dashboard.accounts.actor import PROVED_AT, Actor
from dashboard.accounts.roles import Role
from dashboard.accounts.sessions import NOTED_AT

PASSWORD = "a long enough one"


def person(role: Role | None = Role.ADMIN, name: str = "") -> User:
    """Return the saved person of the role, named after it; made at the first call."""
    name = name or (role.value if role else "stranger")
    user = User.objects.filter(username=name).first() or User.objects.create_user(name, password=PASSWORD)
    if role:
        user.groups.add(Group.objects.get_or_create(name=role.value)[0])
    return user


def actor(role: Role | None = Role.ADMIN) -> Actor:
    """Return that person as seen from a page."""
    user = person(role)
    return Actor(
        name=user.username,
        source="page",
        user=user,
        ip="192.0.2.7",
        user_agent="Test",
        request_id="r1",
        proved_at=timezone.now(),
    )


def signed_in(role: Role | None = Role.ADMIN, proved_at: datetime | None = None) -> Client:
    """Return a browser in which that person is signed in, having typed the password at `proved_at`: by default now."""
    return signed_in_as(person(role), proved_at)


def signed_in_as(user: User, proved_at: datetime | None = None) -> Client:
    client = Client()
    client.force_login(user)
    session = client.session
    session[PROVED_AT] = (proved_at or timezone.now()).isoformat()
    session[NOTED_AT] = timezone.now().timestamp()
    session.save()
    return client
