"""A table on moto, read anew for a repair."""

import hashlib
from datetime import UTC, datetime

import pytest

from coordinator.models import CommitStore
from coordinator.observation.passes import survey_for_one_table, target_of
from coordinator.repairs.facts import check_file
from coordinator.repairs.reading import read_for_repair
from lake.delta.facts import LockDomain
from lake.delta.uri import TableUri
from tests.builders.delta import commit_bytes, commit_info
from tests.builders.facts import commit_name
from tests.builders.moto_lake import commit_body

ROOT = "sales/orders"


@pytest.fixture
def read(connection, written, lake):
    """Read the table at ROOT for a repair."""

    def run(root: str = ROOT):
        uri = TableUri.parse(written.uri(root))
        return read_for_repair(
            lake, survey_for_one_table(connection, lake), target_of(connection, uri), datetime.now(UTC)
        )

    return run


@pytest.fixture
def coordinator(connection, written) -> str:
    name = written.coordinator()
    CommitStore.objects.create(connection=connection, name=name, kind=CommitStore.Kind.COMMIT_COORDINATOR)
    return name


def test_a_pending_commits_temp_file_is_read_in_full(written, read):
    written.table(ROOT, 3, log_store=True)
    written.pending(ROOT, 3)

    facts = read()

    [temp] = [name for name in facts.files if name.startswith(".tmp/")]
    check = facts.files[temp]
    assert check
    assert (check.size, check.sha256) == (len(commit_body(3)), hashlib.sha256(commit_body(3)).hexdigest())
    assert check.problems == ()
    assert facts.lock_domains == (LockDomain(written.log_store, written.uri(ROOT)),)


def test_each_registration_is_kept_as_it_was_read_from_its_own_table(written, connection, read, coordinator, dynamodb):
    other = written.coordinator("second")
    CommitStore.objects.create(connection=connection, name=other, kind=CommitStore.Kind.COMMIT_COORDINATOR)
    written.coordinated(ROOT, coordinator, 3, unbackfilled=(3,))
    [item] = dynamodb.scan(TableName=coordinator)["Items"]
    dynamodb.put_item(TableName=other, Item=item | {"tableVersion": {"N": "1"}})

    facts = read()

    table_id = item["tableId"]["S"]
    assert facts.coordinator == coordinator
    assert facts.raw_registrations[coordinator, table_id]["commits"] == item["commits"]
    assert facts.raw_registrations[other, table_id]["tableVersion"] == {"N": "1"}


def test_the_time_of_a_commit_is_that_of_its_first_line():
    data = commit_bytes(commit_info(in_commit_timestamp=7))
    assert check_file(commit_name(1), data, "e").in_commit_timestamp == 7
    assert check_file(commit_name(1), b'{"txn":{}}\n' + data, "e").in_commit_timestamp is None


@pytest.mark.parametrize("data", [b"", b"\n", b'{"commitInfo":{}}\n{"add":{"pa', b"\xff", b"[]"])
def test_what_is_no_whole_commit_has_problems(data):
    assert check_file(commit_name(1), data, "e").problems
