"""People and the pages they open, for tests."""

from django.contrib.auth.models import Group, User
from django.test import Client

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role

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
    return Actor(name=user.username, source="page", user=user, ip="192.0.2.7", user_agent="Test", request_id="r1")


def signed_in(role: Role | None = Role.ADMIN) -> Client:
    """Return a browser in which that person is signed in."""
    client = Client()
    client.force_login(person(role))
    return client
