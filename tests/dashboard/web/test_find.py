"""Finding anything by typing, as far as a person may see and act."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from tests.builders.lake import make_connection, make_finding, make_table
from tests.builders.people import person, signed_in, signed_in_as
from tests.dashboard.web.markup import flat
from tests.security.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]

FRAGMENT = {"HX-Request": "true"}


def found(client: Client, words: str) -> list[str]:
    """Where the hits lead, in their order."""
    answer = client.get("/find/", {"q": words})
    assert answer.status_code == 200
    hits = flat(answer).partition('id="results"')[2].partition("</section>")[0]
    return re.findall(r'<li><a href="([^"]+)"', hits)


def things(world: World) -> dict[str, str]:
    """What is typed for one thing of each kind, and where its hit leads."""
    job, run = world.jobs["job"], world.run
    plain = world.table.connection.tables.get(name="sales.plain")
    return {
        "@sales.orders": f"/tables/{world.table.pk}/",
        "s3://lake/sales/orders": f"/tables/{world.table.pk}/",
        "delta_l": f"/stores/{world.store.pk}/",
        "lake ": f"/buckets/{world.bucket.pk}/",
        "lak": f"/connections/{world.connection.pk}/",
        "nightly": "/backups/plans/nightly/",
        str(run.pk)[:13]: f"/backups/runs/{run.pk}/",
        str(job.pk)[:13].upper(): f"/jobs/{job.pk}/",
        "job on s3a://lake/sales/ord": f"/jobs/{job.pk}/",
        "lost a file": f"/alerts/{world.alert.pk}/",
        "> run nightly": "/backups/plans/nightly/#run",
        ">enable plain": f"/tables/{plain.pk}/coordination/enable/",
        ">publish orders": f"/tables/{world.table.pk}/#repair-publish-commit-C2-42",
        ">observe lake": "/tables/?connection=lake",
    }


def test_each_kind_is_found_once() -> None:
    world, client = World(), signed_in(Role.ADMIN)
    for words, path in {**things(world), "sam": f"/people/{world.user.pk}/", "audit": "/audit/"}.items():
        assert found(client, words).count(path) == 1, words
    assert {path.split("/")[1] for path in found(client, "@lake")} == {"tables"}
    assert "No table, act or page has \u2018stok\u2019" in flat(client.get("/find/", {"q": "stok"}))


def test_what_is_in_trouble_is_shown_before_anything_is_typed() -> None:
    world = World()
    make_table("s3a://lake/sales/quiet", connection=world.connection, state="healthy", name="sales.quiet")
    blocked = make_table("s3a://lake/sales/bad", connection=world.connection, state="blocked", name="sales.bad")
    at_rest = found(signed_in(Role.VIEWER), "")
    assert at_rest[0] == f"/tables/{blocked.pk}/"
    assert f"/alerts/{world.alert.pk}/" in at_rest
    assert not any("quiet" in path for path in at_rest)


def test_who_sees_one_connection_finds_nothing_of_another() -> None:
    world, mine = World(), make_connection("mine")
    sam = person(None, name="someone")
    granted = Grant.objects.create(user=sam, connection=world.connection, role=Role.OPERATOR.value)
    client = signed_in_as(sam)
    asked = things(world)
    assert all(path in found(client, words) for words, path in asked.items())
    granted.connection = mine
    granted.save()
    client = signed_in_as(sam)
    everything = [path for words in (*asked, "", "@", "la") for path in found(client, words)]
    assert everything == []
    assert not any(re.search(r"\d|lake|nightly", path) for path in found(client, ">"))


def test_acts_are_those_of_the_role_and_people_for_admins_alone() -> None:
    World()
    assert found(signed_in(Role.VIEWER), ">") == found(signed_in(Role.OPERATOR), "sam@") == []
    assert "/people/" not in "".join(found(signed_in(Role.OPERATOR), "sam"))
    operator = found(signed_in(Role.OPERATOR), ">create")
    assert operator == ["/tables/new/", "/stores/new/"]
    many = ["/tables/repairs/backfill/", "/tables/repairs/publish-commit/"]
    assert found(signed_in(Role.OPERATOR), ">all") == many
    assert found(signed_in(Role.OPERATOR), "many") == [f"/tables/coordination/{act}/" for act in ("enable", "drop")]
    assert found(signed_in(Role.OPERATOR), ">add") == found(signed_in(Role.VIEWER), ">many") == []
    assert set(found(signed_in(Role.ADMIN), ">add")) == {"/backups/new/", "/people/new/"}
    assert found(signed_in(Role.VIEWER), ">writers sales.plain")[0].endswith("/writers/")


def test_pages_beside_the_navigation_are_found_by_whom_may_open_them() -> None:
    world, words = World(), ("coordinated", "glossary", "preferences", "your mails")
    for_all = ["/tables/coordination/", "/states/", "/me/", "/me/alerts/"]
    alerts = [f"/alerts/{page}/" for page in ("rules", "recipients", "messages")]
    viewer = signed_in(Role.VIEWER)
    assert [path for word in words for path in found(viewer, word)] == for_all
    assert [path for path in found(viewer, "alert ") if path in alerts] == alerts
    sam = person(None, name="of-one-connection")
    Grant.objects.create(user=sam, connection=world.connection, role=Role.OPERATOR.value)
    assert not set(found(signed_in_as(sam), "alert")) & set(alerts)
    assert "/alerts/rules/" not in viewer.get("/tables/").text


@pytest.mark.parametrize(
    "words", ["'\";--", "100%", "_", "\\", "x" * 5_000, "a\0b", ">", "@", "> ", "‮", "[(", "ab cd" * 60]
)
def test_whatever_is_typed_is_answered(words: str) -> None:
    make_table()
    client = signed_in(Role.ADMIN)
    assert client.get("/find/", {"q": words}).status_code == 200
    assert client.get("/find/", {"q": words}, headers=FRAGMENT).status_code == 200


def test_many_hits_cost_no_more_queries_than_one() -> None:
    world, client = World(), signed_in(Role.ADMIN)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get("/find/", {"q": "orders"}, headers=FRAGMENT)
        return len(captured)

    once = queries()
    for number in range(9):
        table = make_table(f"s3a://lake/orders/{number}", connection=world.connection, name=f"orders.{number}")
        make_finding(table, repairs=["publish-commit"])
    assert queries() == once <= 19
    assert "/tables/?q=orders" in found(client, "@orders")
