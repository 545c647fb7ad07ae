"""What a person may do with self-tests of writers. Pages and commands both call these."""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from django.db import transaction
from django.utils import timezone

from coordinator.coordination.pasting import python_literal
from coordinator.coordination.session_conf import coordinator_json
from coordinator.coordination.writer_configs import writer_config_of_store
from coordinator.models import CommitStore, WriterTest
from coordinator.writer_tests.judging import WriterTestState
from coordinator.writer_tests.places import scratch_place
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import record
from dashboard.jobs.actions import Target, ask
from dashboard.jobs.models import Job
from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF

IN_SESSION = Path(__file__).with_name("in_session.py")
CHECK_KIND = "check-writer-test"
MAKE_VERB = "lake.plan-upkeep"


class CheckWriterTestParams(TypedDict):
    token: str


def make_test(actor: Actor, store: CommitStore, at: str) -> WriterTest:
    """Note a test of whoever commits through this store, below `at`; nothing is written to the lake.

    Raises NotAllowed, NoPlaceForTest.
    """
    require(actor, MAKE_VERB, target=store.name, connection=store.connection)
    token = secrets.token_hex(16)
    place = scratch_place(at, token)
    with transaction.atomic():
        test = WriterTest.objects.create(
            connection=store.connection,
            store_name=store.name,
            kind=store.kind,
            token=token,
            scheme=place.scheme,
            bucket=place.bucket,
            prefix=place.key,
            asked_by_name=actor.name[:150],
            asked_at=timezone.now(),
            state=WriterTestState.NOT_SEEN.value,
        )
        record(
            actor,
            "store.test-writer",
            target_type="store",
            target_id=str(store.pk),
            target_label=store.name,
            after={"token": token, "uri": test.uri},
        )
    return test


def script_for(test: WriterTest, store: CommitStore) -> str:
    """The script of a test, for the session of the writer that is tested; it makes its table in a coordinator."""
    properties = {}
    if test.kind == CommitStore.Kind.COMMIT_COORDINATOR:
        properties = {COORDINATOR: "dynamodb", COORDINATOR_CONF: coordinator_json(writer_config_of_store(store))}
    return script_of(test.token, test.uri, properties)


def script_of(token: str, uri: str, properties: Mapping[str, str]) -> str:
    """Python for a PySpark session that is there as `spark`: what runs in it, and one call with this test's values."""
    pairs = [f"        {python_literal(key)}: {python_literal(value)}," for key, value in properties.items()]
    values = "\n".join(["    {", *pairs, "    },"]) if pairs else "    {},"
    words = f"    {python_literal(token)},\n    {python_literal(uri)},"
    return f"{IN_SESSION.read_text(encoding='utf-8')}\n\nrun_writer_test(\n    spark,\n{words}\n{values}\n)\n"


def check_test(actor: Actor, test: WriterTest, *, here: bool = False) -> Job:
    """Look for what the script left; changes nothing. Raises NotAllowed, JobBusy."""
    return ask(
        actor,
        CHECK_KIND,
        f"Look at the writer test of {test.store_name}",
        here=here,
        connection=test.connection,
        target=Target("writer-test", test.token, test.uri),
        params=CheckWriterTestParams(token=test.token),
    )
