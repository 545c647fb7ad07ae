"""`levee export`: a file of which `levee apply` says that there is nothing to do."""

import json
import tomllib
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backups.destinations import overlap
from backups.models import Plan
from coordinator.models import CommitStore, Watch
from dashboard.connections.models import Connection
from dashboard.declaration.declaring import store
from dashboard.declaration.differences import read_declaration
from dashboard.web.text import visible
from tests.dashboard.declaration.builders import NOTHING_TO_CHANGE, WHOLE
from tests.dashboard.declaration.builders import apply as apply_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]

MODELS = (Plan, CommitStore, Watch, Connection)
CONTROL = "\t\n\r\x1b\x7f\x85\u2028\u202e\ufeff"
HOSTILE = st.text(
    st.one_of(
        st.sampled_from(CONTROL + "\"'\\#[]{}=.,%é😀\U000e0041 "),
        st.characters(exclude_characters="\0", exclude_categories=("Cs",)),
    ),
    max_size=40,
)
ON_ONE_LINE = HOSTILE.map(lambda text: "".join(text.split("\n")))
PLACES = st.builds("s3a://{}/{}".format, st.from_regex(r"[a-z0-9][a-z0-9.-]{2,20}", fullmatch=True), ON_ONE_LINE)
ADDRESSES = st.from_regex(r"[^@\s,\0\ud800-\udfff]{1,9}@[^@\s,\0\ud800-\udfff]{1,9}", fullmatch=True)
CENTS = st.integers(1, 9_999_999_900).map(lambda cents: cents / 100)
WHOLE_NUMBERS = st.integers(0, 2**31 - 1)
ARN = "arn:aws:{}:eu-west-1:111111111111:{}"


def sometimes(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keys)


def with_key(name: str, values: st.SearchStrategy[Any], tables: st.SearchStrategy[dict[str, Any]]) -> Any:
    return st.builds(lambda value, table: {name: value, **table}, values, tables)


CONNECTION = with_key(
    "region",
    st.sampled_from(["us-west-2", "eu-central-1"]),
    sometimes(
        external_id=HOSTILE,
        role_arn=st.from_regex(r"arn:aws:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]{1,64}", fullmatch=True),
        endpoint_url=st.just("http://127.0.0.1:5000"),
        read_only=st.booleans(),
    ),
)
PLAN_KEYS = sometimes(
    inventory=PLACES,
    minimum_lag_hours=WHOLE_NUMBERS,
    engine=st.sampled_from(Plan.Engine.values),
    schedule=st.just("0 3 * * *"),
    objective_hours=st.integers(1, 2**31 - 1),
    cost_ceiling_usd=CENTS,
    keep=st.dictionaries(st.sampled_from(["daily", "weekly", "monthly"]), st.integers(0, 99)),
    evidence=PLACES,
    selection=st.sampled_from(Plan.Selection.values),
    files=st.sampled_from(Plan.Files.values),
    window_hours=WHOLE_NUMBERS,
    storage_class=st.sampled_from(["", "GLACIER_IR"]),
    encryption_key=st.builds(ARN.format, st.just("kms"), st.from_regex(r"[!-~]{1,20}", fullmatch=True)),
    notify=st.lists(ADDRESSES, max_size=3),
    paused=st.booleans(),
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A declaration as it comes from a file."""
    name = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,12}", fullmatch=True)
    connections = draw(st.dictionaries(name, CONNECTION, min_size=1, max_size=3))
    one = st.sampled_from(sorted(connections))
    watch = st.fixed_dictionaries({"connection": one, "uri": PLACES})
    store_name = st.from_regex(r"[A-Za-z0-9_.-]{3,20}", fullmatch=True)
    kind = st.sampled_from(CommitStore.Kind.values)
    stores = st.fixed_dictionaries({"connection": one, "name": store_name, "kind": kind})
    plan_name = st.from_regex(r"[a-z0-9][a-z0-9-]{0,12}", fullmatch=True)
    needed = {"name": plan_name, "connection": one, "source": PLACES, "destination": PLACES}
    plan = st.builds(dict.__or__, st.fixed_dictionaries(needed, optional={"vault_connection": one}), PLAN_KEYS)
    place = lambda table: (table["connection"], table["uri"].rstrip("/"))  # noqa: E731
    return {
        "connections": connections,
        "watch": draw(st.lists(watch, max_size=3, unique_by=place)),
        "stores": draw(st.lists(stores, max_size=3, unique_by=lambda table: (table["connection"], table["name"]))),
        "plans": apart(draw(st.lists(plan, max_size=3, unique_by=lambda table: table["name"]))),
    }


def apart(plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The plans without those that copy to the place of an earlier one, which are refused."""
    kept: list[dict[str, Any]] = []
    for plan in plans:
        if not any(overlap(plan["destination"], other["destination"]) for other in kept):
            kept.append(plan)
    return kept


def rows() -> list[Any]:
    """Everything declared, straight from its columns, without the keys that the database gives."""
    connections = dict(Connection.objects.values_list("pk", "name"))
    skipped = {"id", "created_at"}
    found = []
    for model in MODELS:
        for row in model.objects.order_by("pk").values():
            kept = {key: value for key, value in row.items() if key not in skipped}
            for key in ("connection_id", "vault_connection_id"):
                if key in kept:
                    kept[key] = connections[kept[key]]
            found.append(repr(sorted(kept.items())))
    return sorted(found)


@pytest.fixture
def printed(capsys, settings):
    settings.ALLOWED_ENDPOINTS = ["http://127.0.0.1:5000"]

    def run(*options: str) -> str:
        capsys.readouterr()
        call_command("export", *options)
        return capsys.readouterr().out

    return run


@pytest.fixture
def apply(tmp_path, capsys):
    def run(text: str, *options: str) -> str:
        apply_in(tmp_path, text, *options)
        return capsys.readouterr().out

    return run


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=documents())
def test_applying_what_was_exported_is_nothing_to_do_and_makes_the_same_elsewhere(printed, apply, document):
    with transaction.atomic():
        store(read_declaration(document))
        declared = rows()
        text = printed()

        assert apply(text, "--prune").strip() == NOTHING_TO_CHANGE

        for model in MODELS:
            model.objects.all().delete()
        apply(text, "--apply")
        assert rows() == declared
        transaction.set_rollback(True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=documents())
def test_the_file_moves_no_cursor_and_is_the_document_of_json(printed, document):
    with transaction.atomic():
        store(read_declaration(document))
        text = printed()

        assert visible(text) == text
        assert tomllib.loads(text) == json.loads(printed("--json"))
        transaction.set_rollback(True)


def test_the_file_reads_as_one_writes_it_by_hand(printed, apply):
    apply(WHOLE, "--apply")

    expected = WHOLE.replace('destination = "s3a://acme-vault/warehouse/"\n', "")
    assert printed().strip().startswith(expected.strip().rsplit("\n\n", 1)[0])
    assert tomllib.loads(printed())["plans"][0]["vault_connection"] == "prod"


def test_without_any_declaration_the_file_is_empty(printed):
    assert printed().strip() == ""


def test_nothing_but_what_a_file_declares_is_printed(printed, apply):
    apply(WHOLE, "--apply")

    document = json.loads(printed("--json"))

    assert set(document) == {"connections", "watch", "stores", "plans"}
    assert document["connections"] == {"prod": {"region": "us-west-2"}}


def test_what_apply_would_refuse_is_printed_and_told(capsys, settings):
    settings.ALLOWED_ENDPOINTS = []
    Connection.objects.create(name="prod", region="us-west-2", endpoint_url="http://127.0.0.1:5000")

    with pytest.raises(CommandError, match=r"`levee apply` refuses what is stored: .*LEVEE_ALLOWED_ENDPOINTS"):
        call_command("export")

    assert "[connections.prod]" in capsys.readouterr().out


def test_what_apply_would_write_otherwise_is_told(capsys):
    prod = Connection.objects.create(name="prod", region="us-west-2")
    Watch.objects.create(connection=prod, uri="s3://lake/warehouse")

    with pytest.raises(CommandError, match="would still add watch prod/s3a://lake/warehouse/"):
        call_command("export")
