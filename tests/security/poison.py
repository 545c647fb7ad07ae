"""Puts a hostile text into every column and every JSON value that comes from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db import models

# Columns whose values the console makes or checks itself, so that nothing hostile can get there: kinds, states, codes
# of a closed list, what addresses and other rows are found by, and schedules and digests that are read back.
OWN = {
    "accounts.Grant": {"role"},
    "accounts.SignedIn": {"session_key", "session_data"},
    "alerts.Alert": {"kind", "state", "severity", "path", "cause"},
    "alerts.Member": {"severity", "path"},
    "alerts.Message": {"message_id", "channel", "state", "reason"},
    "alerts.Recipient": {"kind", "digest"},
    "alerts.Rule": {"kind", "least_severity"},
    "audit.AuditSeal": {"digest", "hash"},
    "backups.DueRun": {"schedule"},
    "backups.Plan": {"name", "schedule", "engine", "selection", "files", "source", "destination", "inventory", "keep",
                     "storage_class", "evidence"},
    "backups.Run": {"state", "stage", "destination", "folder", "inventory", "estimate_lines"},
    "backups.RunStage": {"name", "state"},
    "backups.CopyJob": {"engine", "lane", "status", "token"},
    "backups.FailureGroup": {"outcome"},
    "connections.Connection": {"region", "endpoint_url", "dynamodb_endpoint_url"},
    "coordinator.Bucket": {"state"},
    "coordinator.CommitStore": {"state", "kind"},
    "coordinator.DeltaTable": {"state", "mechanism", "uri", "bucket", "prefix"},
    "coordinator.Entry": {"code", "state"},
    "coordinator.TableFinding": {"code", "state", "severity", "repairs", "key"},
    "coordinator.TtlMigration": {"phase"},
    "coordinator.WriterTest": {"state", "kind", "token", "scheme"},
    "deadlines.Due": {"source", "key", "kind", "state", "path", "act_path"},
    "deadlines.DueSource": {"name"},
    "jobs.Job": {"kind", "state", "queue", "target_type", "target_id", "target_key", "params"},
    "jobs.JobEvent": {"level"},
    "jobs.WorkerBeat": {"queue"},
}  # fmt: skip
APPS = ("accounts", "alerts", "audit", "backups", "connections", "coordinator", "deadlines", "jobs")


def poison(turn: Callable[[str], str]) -> int:
    """Put `turn(value)` into every column that is not the console's own, cut to its length; returns how many."""
    count = 0
    for model in _models():
        own = OWN.get(model._meta.label, set())
        fields = [field for field in model._meta.concrete_fields if field.name not in own and _holds_text(field)]
        for row in model._default_manager.all():
            changed = {field.attname: _turned(field, row, turn) for field in fields}
            model._default_manager.filter(pk=row.pk).update(**changed)
            count += len(changed)
    # The people who look are found by their names; the one who is looked at may have any.
    User.objects.filter(username="sam").update(username=turn("sam")[:150])
    return count


def _models() -> Iterator[type[models.Model]]:
    for label in APPS:
        yield from apps.get_app_config(label).get_models()
    yield User


def _holds_text(field: models.Field[Any, Any]) -> bool:
    if field.primary_key or field.is_relation or field.name in {"password", "username"}:
        return False
    return isinstance(field, models.CharField | models.TextField | models.JSONField)


def _turned(field: models.Field[Any, Any], row: models.Model, turn: Callable[[str], str]) -> Any:
    value = getattr(row, field.attname)
    if value is None or isinstance(field, models.JSONField):
        return _deep(value, turn)
    # Cut to its length, a text that has to be unique keeps the number of its row.
    turned = f"{row.pk}{turn(value)}" if field.unique else turn(value)
    return turned[: field.max_length] if field.max_length else turned


def _deep(value: Any, turn: Callable[[str], str]) -> Any:
    """Every text of a JSON value, and one more key, as an item of DynamoDB may have any."""
    if isinstance(value, str):
        return turn(value)
    if isinstance(value, list):
        return [_deep(one, turn) for one in value]
    if isinstance(value, dict):
        return {name: _deep(one, turn) for name, one in value.items()} | {turn("name")[:500]: turn("value")}
    return value
