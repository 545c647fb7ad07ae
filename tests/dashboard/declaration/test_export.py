"""`levee export`: a file of which `levee apply` says that there is nothing to do."""

import json
import tomllib
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from backups.models import Plan
from coordinator.models import CommitStore, Watch
from dashboard.connections.models import Connection
from dashboard.declaration.declaring import store
from dashboard.declaration.differences import read_declaration
from dashboard.web.text import visible
from tests.dashboard.declaration.builders import NOTHING_TO_CHANGE, WHOLE

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]

MODELS = (Plan, CommitStore, Watch, Connection)
HOSTILE = '\t\n\r\x1b\x7f\x85\u2028\u202e\ufeff"\'\\#[]{}=.,%é😀\U000e0041""" a\\u0041 ]\n[connections.evil]'
PLACE = "s3a://acme-lake/" + HOSTILE.replace("\n", "")
EVERY_KEY = {
    "connections": {
        "a.b_c-1": {
            "region": "us-west-2",
            "external_id": HOSTILE,
            "role_arn": "arn:aws:iam::111111111111:role/levee",
            "endpoint_url": "http://127.0.0.1:5000",
            "read_only": True,
        },
        "other": {"region": "eu-central-1"},
    },
    "watch": [{"connection": "other", "uri": PLACE}],
    "stores": [{"connection": "a.b_c-1", "name": "delta_log", "kind": "log_store"}],
    "plans": [
        {"name": "least", "connection": "other", "source": PLACE, "destination": "s3a://acme-vault/least/"},
        {
            "name": "most",
            "connection": "a.b_c-1",
            "vault_connection": "other",
            "source": PLACE,
            "destination": "s3a://acme-vault/most/",
            "inventory": PLACE,
            "minimum_lag_hours": 0,
            "engine": "s3-batch",
            "schedule": "0 3 * * *",
            "objective_hours": 2**31 - 1,
            "cost_ceiling_usd": 99_999_998.99,
            "keep": {"daily": 14, "monthly": 0},
            "evidence": PLACE,
            "selection": Plan.Selection.values[-1],
            "files": Plan.Files.values[-1],
            "window_hours": 7,
            "storage_class": "GLACIER_IR",
            "encryption_key": "arn:aws:kms:eu-west-1:111111111111:key/!~",
            "notify": ["a@b", "\u202e@example"],
            "paused": True,
        },
    ],
}


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


@pytest.mark.parametrize("document", [EVERY_KEY, tomllib.loads(WHOLE), {}])
def test_applying_what_was_exported_is_nothing_to_do_and_makes_the_same_elsewhere(printed, apply, document):
    store(read_declaration(document))
    declared = rows()
    text = printed()
    assert visible(text) == text
    assert tomllib.loads(text) == json.loads(printed("--json"))

    assert apply(text, "--prune").strip() == NOTHING_TO_CHANGE

    for model in MODELS:
        model.objects.all().delete()
    apply(text, "--apply")
    assert rows() == declared


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
