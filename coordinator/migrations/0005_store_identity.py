from collections.abc import Iterator
from typing import Any

from django.db import migrations, models

CHUNK = 500


def name_stores(apps: Any, schema_editor: Any) -> None:
    """Give each known lock domain its DynamoDB table: that of its entries, else the table's own log store, else the
    only log store of its connection; "" where none of them tells."""
    tables = apps.get_model("coordinator", "DeltaTable")
    stores = apps.get_model("coordinator", "CommitStore").objects.filter(kind="log_store")
    of_connection: dict[int, list[str]] = {}
    for connection, name in stores.values_list("connection_id", "name"):
        of_connection.setdefault(connection, []).append(name)
    for table in _in_chunks(tables.objects.exclude(lock_domains=[]).select_related("store")):
        own = table.store.name if table.store and table.store.kind == "log_store" else ""
        only = of_connection.get(table.connection_id, [])
        rest = own or (only[0] if len(only) == 1 else "")
        held = dict(table.entries.filter(store__kind="log_store").values_list("lock_domain", "store__name"))
        table.lock_domains = [
            {"store": held.get(path, rest), "path": path} for path in table.lock_domains if isinstance(path, str)
        ]
        table.save(update_fields=["lock_domains"])


def forget_stores(apps: Any, schema_editor: Any) -> None:
    tables = apps.get_model("coordinator", "DeltaTable")
    for table in _in_chunks(tables.objects.exclude(lock_domains=[])):
        table.lock_domains = sorted({one["path"] for one in table.lock_domains})
        table.save(update_fields=["lock_domains"])


def _in_chunks(tables: Any) -> Iterator[Any]:
    ids = list(tables.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        yield from tables.filter(pk__in=ids[start : start + CHUNK])


class Migration(migrations.Migration):
    dependencies = [
        ("coordinator", "0004_provenance"),
    ]

    operations = [
        migrations.AlterField(
            model_name="deltatable",
            name="lock_domains",
            field=models.JSONField(default=list, help_text="[{store, path}] of entries that exist or existed"),
        ),
        migrations.RunPython(name_stores, forget_stores),
        migrations.AddField(
            model_name="deltatable",
            name="registered",
            field=models.JSONField(default=dict, help_text="{table_id, path} of its registration, as last seen"),
        ),
        migrations.AlterModelOptions(name="entry", options={"ordering": ("-version", "store_id", "lock_domain")}),
        migrations.RemoveConstraint(model_name="entry", name="entry_once"),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.UniqueConstraint(fields=("table", "store", "lock_domain", "version"), name="entry_once"),
        ),
    ]
