"""A person with a role on one connection sees that connection and nothing of the others."""

import ast
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest
from django.test import Client, RequestFactory

from backups.models import Plan, Run
from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.accounts.scope import OWN_PAGES, WHOLE_CONSOLE, owned_parts, seen
from tests.backups.page_records import make_plan, make_run
from tests.builders.lake import make_connection, make_table
from tests.builders.people import person, signed_in_as
from tests.dashboard.jobs.builders import job
from tests.dashboard.test_addresses import routes

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]

# Parts of addresses that name nothing of a connection by themselves: what they stand beside does, or nothing does.
NAMES_NOTHING = {"version", "repair", "operation", "kind", "uidb64", "token"}


class World:
    """Two connections, each with a table, and a person who may see the first."""

    def __init__(self) -> None:
        self.mine, self.theirs = (make_connection(name) for name in ("mine", "theirs"))
        for one in (self.mine, self.theirs):
            make_table(f"s3a://{one.name}-bucket/t", connection=one, name=f"{one.name}.table")

    def client(self, role: Role = Role.OPERATOR) -> Client:
        user = person(None, name="sam")
        Grant.objects.create(user=user, connection=self.mine, role=role.value)
        return signed_in_as(user)


@pytest.fixture
def world() -> World:
    return World()


def test_exports_hold_nothing_of_another_connection(world: World) -> None:
    response = world.client().get("/tables/?format=csv&connection=theirs")
    assert "theirs" not in response.content.decode()


def test_another_connection_cannot_be_chosen(world: World) -> None:
    client = world.client()
    client.post("/scope/", {"connection": "theirs"})
    assert "theirs" not in client.get("/tables/").content.decode()


def test_somebody_without_a_role_sees_their_own_account_alone(world: World) -> None:
    client = signed_in_as(User.objects.create_user("nobody"))
    assert client.get("/me/").status_code == 200
    refused = client.get("/tables/")
    assert refused.status_code == 403
    assert "You have no role yet" in refused.content.decode()


def test_every_part_of_every_address_is_owned_or_known_to_name_nothing() -> None:
    open_names = OWN_PAGES | WHOLE_CONSOLE
    unknown = {
        (name, part)
        for name, route in routes()
        for part in re.findall(r"<(?:\w+:)?(\w+)>", route)
        if name not in open_names and part not in owned_parts() | NAMES_NOTHING
    }
    assert unknown == set()


def test_who_operates_one_connection_is_offered_to_stop_its_jobs_alone(world: World) -> None:
    under_way = job("running", connection=world.mine, kind="observe-lake")
    button = f'action="/jobs/{under_way.pk}/cancel/"'
    client = world.client()
    assert button in client.get(f"/jobs/{under_way.pk}/").content.decode()
    assert client.post(f"/jobs/{under_way.pk}/cancel/").status_code == 302
    Grant.objects.update(role=Role.VIEWER.value)
    assert button not in client.get(f"/jobs/{under_way.pk}/").content.decode()


def test_a_run_belongs_to_the_connections_of_its_plan_and_not_to_that_of_its_worker(world: World) -> None:
    plan = make_plan(connection=world.theirs, vault_connection=world.theirs)
    run = make_run(plan, "running", worker=job("succeeded", connection=world.mine))
    assert world.client().get(f"/backups/runs/{run.pk}/").status_code == 404
    request = RequestFactory().get("/")
    request.user = User.objects.get(username="sam")
    assert list(seen(request, Run)) == []
    Plan.objects.update(connection=world.mine)
    assert list(seen(request, Run)) == [run]


MANAGERS = ("objects", "_manager")
# These pages are for who sees every connection (WHOLE_CONSOLE), or tell people of their own mails.
READ_WHOLE = {("accounts", "Connection"), ("alerts", "Message"), ("alerts", "Rule"), ("frame", "Job")}


def test_views_read_what_belongs_to_connections_through_the_scope_alone() -> None:
    owned = {model.__name__ for model in apps.get_models() if _belongs(model)}
    assert owned >= {"Connection", "DeltaTable", "CommitStore", "Bucket", "Job", "Plan", "Run", "Alert", "WriterTest"}
    views = [
        path
        for room in ("dashboard", "coordinator", "backups", "changes")
        for path in (settings.BASE_DIR / room).rglob("*.py")
        if path.parent.name == "views" or path.name in {"views.py", "pages.py", "many_pages.py", "search.py"}
    ]
    assert len(views) > 15
    found = {(path.parent.name, model) for path in views for model in _read_whole(path) & owned}
    assert found == READ_WHOLE


def _read_whole(path: Path) -> set[str]:
    """Names of the models that a module reads by their managers, or gives to get_object_or_404 as they are."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    managers = (node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr.endswith(MANAGERS))
    calls = (node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    given = (call.args[0] for call in calls if call.func.id in {"get_object_or_404", "get_list_or_404"})
    return {node.id for node in (*managers, *given) if isinstance(node, ast.Name)}


def _belongs(model: type[Model]) -> bool:
    try:
        seen(HttpRequest(), model)
    except TypeError:
        return False
    return True
