"""Seals get a key that the database does not hold: those of older releases, which anybody could make, are made anew.

An old chain that does not hold is followed up to its first break, and left as it is from there on.
"""

import hashlib
from typing import Any

from django.db import migrations, models
from django.utils import timezone

from dashboard.audit.chain import GENESIS, SEAL_AT_ONCE, document_of, seal_of
from dashboard.audit.triggers import SEALS, protect, unprotect


def forwards(apps: Any, schema_editor: Any) -> None:
    entries, seals = (apps.get_model("audit", name) for name in ("AuditEntry", "AuditSeal"))
    unprotect(schema_editor.connection, SEALS)
    now, previous, old, place = timezone.now(), GENESIS, GENESIS, 0
    while found := list(seals.objects.filter(place__gt=place).order_by("place")[:SEAL_AT_ONCE]):
        known = entries.objects.in_bulk([seal.entry for seal in found])
        for seal in found:
            entry = known.get(seal.entry)
            holds = seal.place == place + 1 and entry is not None and seal.seal == _unkeyed(old, entry)
            if not holds:
                protect(schema_editor.connection, SEALS)
                return
            place, old = seal.place, seal.seal
            previous = seal_of(previous, place, now, entry)
            seals.objects.filter(place=place).update(seal=previous, sealed_at=now)
    protect(schema_editor.connection, SEALS)


def _unkeyed(previous: str, entry: Any) -> str:
    return hashlib.sha256(f"{previous}\n{document_of(entry)}".encode("utf-8", "surrogatepass")).hexdigest()


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_overtaken_acts")]
    operations = [
        migrations.AlterField(
            "auditseal",
            "seal",
            models.CharField(
                help_text="HMAC-SHA256 of the seal before, of place and time, and of the entry, in hex", max_length=64
            ),
        ),
        migrations.RunPython(forwards, migrations.RunPython.noop),
    ]
