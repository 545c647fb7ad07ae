"""Tables of the journeys' own in a running sandbox, and the time that passes until people are told of them."""

import email
import email.policy
import os
import re
import subprocess
import sys
import uuid

from sandbox import growth
from sandbox.client import Client
from sandbox.ground import DELTA_COMMITS, DELTA_LOG, RAW
from sandbox.log_store_tables import EVENTS, Sample
from sandbox.log_store_writer import file_name
from tests.browser.running import Levee
from tests.builders.delta import (
    EPOCH_MS,
    commit_bytes,
    commit_info,
    coordinator_properties,
    metadata,
    protocol,
    registration_item,
)
from tests.waiting import scaled, wait_until

READER_FEATURES = ("vacuumProtocolCheck",)
WRITER_FEATURES = (*READER_FEATURES, "coordinatedCommits-preview", "inCommitTimestamp")

# An alert waits for five minutes of trouble, and the first mail of a lake for ten.
AN_HOUR_LATER = """
import time
import django
django.setup()
from datetime import timedelta
from django.db.models import F
from coordinator.models import TableFinding
from dashboard.alerts.models import Message
from dashboard.alerts.tasks import look, send
from dashboard.connections.models import Connection
while TableFinding.objects.filter(code="C6", table__uri__contains="/journeys/lost_").count() < 3:
    time.sleep(0.2)
for rows, moment in ((TableFinding, "opened_at"), (Connection, "created_at"), (Message, "due_at")):
    rows.objects.update(**{moment: F(moment) - timedelta(hours=1)})
look()
send()
"""


def lay(levee: Levee, way: str) -> None:
    """Make two tables for one way: `lost_…`, whose newest file somebody deleted, and `coordinated_…`, which is well."""
    lake = Client((levee.home / "sandbox" / "endpoint").read_text())
    Sample(RAW, f"journeys/lost_{way}", DELTA_LOG, EVENTS, 3, 5, growth.lost_file, "").make(lake)
    key, table_id = f"journeys/coordinated_{way}", str(uuid.uuid4())
    properties = coordinator_properties(DELTA_COMMITS, lake.dynamodb_origin, table_id)
    created = commit_bytes(
        commit_info("CREATE TABLE", in_commit_timestamp=EPOCH_MS),
        protocol(3, 7, readerFeatures=READER_FEATURES, writerFeatures=WRITER_FEATURES),
        metadata(table_id, properties={**properties, "delta.enableInCommitTimestamps": "true"}),
    )
    lake.put(RAW, f"{key}/_delta_log/{file_name(0)}", created)
    item = registration_item(0, tableId={"S": table_id}, path={"S": f"s3a://{RAW}/{key}"})
    lake.dynamodb("PutItem", TableName=DELTA_COMMITS, Item=item)


def let_an_hour_pass(levee: Levee) -> None:
    """Date back what the console has found of the lost files, and let it tell people of it."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        "LEVEE_HOME": str(levee.home),
        "LEVEE_PUBLIC_URL": levee.url,
    }
    subprocess.run([sys.executable, "-c", AN_HOUR_LATER], env=environment, check=True, timeout=scaled(60))


def link_in_mail(levee: Levee, address: str, about: str) -> str:
    """Wait for a mail to this address in which `about` stands, and return the link that follows it."""
    found: list[str] = []

    def has_come() -> bool:
        for file in (levee.home / "sandbox" / "mail").glob("*.eml"):
            mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
            body = mail.get_body(("plain",))
            if mail["To"] == address and body is not None:
                found.extend(re.findall(rf"{re.escape(about)}.*?(http\S+)", body.get_content(), re.DOTALL))
        return bool(found)

    assert wait_until(has_come, 60, every=0.5), f"no mail to {address} about {about}"
    return found[0]
