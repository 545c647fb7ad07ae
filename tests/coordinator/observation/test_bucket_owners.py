"""A bucket is that of the account which owned it first: a stranger's of the same name is not read as the lake."""

import pytest

from coordinator.models import Bucket, DeltaTable
from coordinator.observation.passes import observe_connection
from dashboard.connections.access import lake_access
from dashboard.connections.owners import keep_owner
from tests.lake.aws.stub import quick

pytestmark = pytest.mark.django_db

MOTO, STRANGER = "123456789012", "999999999999"


def test_the_owner_of_a_bucket_is_kept_when_it_is_first_read(written, connection, observe):
    written.table("orders", commits=3)
    observe()
    connection.refresh_from_db()
    assert connection.bucket_owners == {written.bucket: MOTO}
    assert lake_access(connection_without_endpoint(connection)).bucket_owners == {written.bucket: MOTO}


def connection_without_endpoint(connection):
    connection.endpoint_url = ""
    return connection


def test_a_bucket_of_another_account_from_the_start_is_read_and_its_owner_is_not_known(
    written, connection, guard, observe_guarded
):
    written.table("orders", commits=3)
    guard.owners = {written.bucket: STRANGER}
    observe_guarded()
    connection.refresh_from_db()
    assert connection.bucket_owners == {}
    assert DeltaTable.objects.get().state == "healthy"


def test_a_strangers_bucket_of_the_same_name_is_not_read_as_the_lake(written, connection, guard, observe_guarded):
    written.table("orders", commits=3)
    observe_guarded()
    connection.refresh_from_db()
    guard.owners = {written.bucket: STRANGER}

    with quick(guard.url, bucket_owners=connection.bucket_owners) as lake:
        observe_connection(connection, lake, threads=4, in_full=True)
        keep_owner(connection, lake, written.bucket)

    table = DeltaTable.objects.get()
    assert table.state == "not_checked"
    assert f"no longer belongs to the account {MOTO}" in table.error_text
    connection.refresh_from_db()
    assert connection.bucket_owners == {written.bucket: MOTO}


def test_an_identity_that_is_not_known_makes_no_owner(written, connection, guard, guarded, monkeypatch):
    from lake.aws.errors import AwsError

    def refused(*_):
        raise AwsError("AccessDenied", "no")

    monkeypatch.setattr("dashboard.connections.owners.caller", refused)
    keep_owner(connection, guarded, written.bucket)
    assert connection.bucket_owners == {}
    assert not Bucket.objects.exists()
