"""What provenance costs: bytes and seconds for 1,000 versions, beside the rows of their commits.

`DATABASE_URL` names another database than a fresh SQLite; it has to be empty.
"""

import os
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from lake.delta.facts import Provenance

VERSIONS = 10_000
ROOT = "s3a://acme-lake-prod/warehouse/sales/orders"
SEEN_AT = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
MILLISECONDS = 1_795_000_000_000


def main() -> None:
    """Store `VERSIONS` versions of each kind and print what 1,000 of them take."""
    kinds: dict[str, Callable[[int], Provenance]] = {
        "published": _published,
        "published, by the log store": _of_the_log_store,
        "the same, encrypted by KMS": _encrypted,
        "published, by the coordinator": _of_the_coordinator,
    }
    with _console():
        print(f"{'1,000 versions':32} {'KiB':>8} {'ms to store':>12}")
        for number, (name, kind) in enumerate(kinds.items()):
            _print(name, "coordinator_provenancerow", partial(_store, number, kind))
        _print("their commits, for comparison", "coordinator_commit", _store_commits)


def _print(name: str, relation: str, store: Callable[[], None]) -> None:
    before = _bytes(relation)
    started = time.perf_counter()
    store()
    seconds = time.perf_counter() - started
    thousands = VERSIONS / 1_000
    size = (_bytes(relation) - before) / 1_024 / thousands
    print(f"{name:32} {size:8.0f} {seconds * 1_000 / thousands:12.0f}")


def _published(version: int) -> Provenance:
    """A file that was read in full when it was new; of most that are old at first sight less is known."""
    etag = uuid.uuid4().hex
    return Provenance(
        version,
        size=3_871,
        etag=etag,
        digest=etag,
        commit_timestamp=MILLISECONDS + version,
        seen_at=SEEN_AT,
        absent_at=SEEN_AT,
    )


def _of_the_log_store(version: int) -> Provenance:
    published = _published(version)
    return replace(
        published,
        store="delta_log",
        region="eu-west-1",
        lock_domain=ROOT,
        file_name=f".tmp/{version:020d}.json.{uuid.uuid4()}",
        accepted_size=3_871,
        accepted_etag=published.etag,
        expire_time=MILLISECONDS // 1_000 + 86_400,
        accepted_at=SEEN_AT,
    )


def _encrypted(version: int) -> Provenance:
    """Each copy of the same bytes has an ETag of its own."""
    return replace(_of_the_log_store(version), digest=uuid.uuid4().hex, accepted_etag=uuid.uuid4().hex)


def _of_the_coordinator(version: int) -> Provenance:
    return replace(
        _published(version),
        in_commit_timestamp=MILLISECONDS + version,
        store="delta_commits",
        region="eu-west-1",
        lock_domain=str(uuid.uuid5(uuid.NAMESPACE_URL, ROOT)),
        file_name=f"{version:020d}.{uuid.uuid4()}.json",
        accepted_size=3_871,
        accepted_timestamp=MILLISECONDS + version,
        accepted_at=SEEN_AT,
    )


def _store(number: int, kind: Callable[[int], Provenance]) -> None:
    from django.db import transaction

    from coordinator.observation.provenance_rows import save_provenance
    from coordinator.observation.reading import Reading
    from coordinator.observation.targets import TableTarget
    from lake.delta.uri import TableUri

    target = TableTarget(TableUri.parse(f"{ROOT}{number}"))
    reading = Reading(target, SEEN_AT, learned=tuple(kind(version) for version in range(VERSIONS)))
    with transaction.atomic():
        save_provenance([(_table(number), reading)])


def _store_commits() -> None:
    from coordinator.models import Commit

    table = _table(99)
    info = {"operation": "WRITE", "engine": "Apache-Spark/4.2.0 Delta-Lake/4.4.0", "added_files": 4, "removed_files": 0}
    Commit.objects.bulk_create(
        (
            Commit(
                table=table,
                version=version,
                published=True,
                size=3_871,
                modified_at=SEEN_AT,
                etag=uuid.uuid4().hex,
                committed_at=SEEN_AT,
                **info,
            )
            for version in range(VERSIONS)
        ),
        batch_size=500,
    )


def _table(number: int) -> Any:
    from coordinator.models import DeltaTable
    from dashboard.connections.models import Connection

    connection, _ = Connection.objects.get_or_create(name="bench", region="eu-west-1")
    return DeltaTable.objects.create(
        connection=connection, bucket="acme-lake-prod", prefix=f"warehouse/sales/orders{number}", uri=f"{ROOT}{number}"
    )


def _bytes(relation: str) -> int:
    """What the rows and their indexes take; of SQLite the whole file, in which nothing else grows meanwhile."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [relation])
        else:
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        return int(cursor.fetchone()[0])


@contextmanager
def _console() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(LEVEE_HOME=home, DJANGO_SETTINGS_MODULE="dashboard.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        yield
