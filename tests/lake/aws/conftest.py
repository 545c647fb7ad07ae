"""A whole S3, DynamoDB and STS in this process, one for the session; every test brings its own bucket and table."""

import functools
import os
import threading
import uuid
from collections.abc import Iterator

import boto3
import pytest

from lake.aws.access import Access, Lake, open_lake
from tests.builders.quick_moto import dispatcher, serve_here, serve_no_more, shortened
from tests.endings import POLL_SECONDS
from tests.lake.aws.stub import StubServer, quick
from tests.waiting import scaled

KEYS = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox", "region_name": "us-east-1"}


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch, tmp_path):
    """No test sees the credentials, profiles or proxies of the machine it runs on."""
    for name in list(os.environ):
        if name.startswith("AWS_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, dispatcher(), threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    serve_here(url, dispatcher())
    yield url
    serve_no_more(url)
    server.shutdown()
    thread.join(timeout=scaled(5))


@pytest.fixture
def lake(endpoint) -> Iterator[Lake]:
    with open_lake(Access("us-east-1", endpoint_url=endpoint, static_credentials=("sandbox", "sandbox"))) as opened:
        yield opened


@pytest.fixture
def s3(endpoint):
    """boto3's S3, to arrange with."""
    return _client("s3", endpoint)


@pytest.fixture
def dynamodb(endpoint):
    """boto3's DynamoDB, to arrange with."""
    return _client("dynamodb", endpoint)


@functools.cache
def _client(service: str, endpoint: str):
    """Shared by all tests: it takes longer to make than most requests."""
    return shortened(boto3.client(service, endpoint_url=endpoint, **KEYS))


@pytest.fixture
def bucket(s3) -> str:
    name = f"lake-{uuid.uuid4().hex[:12]}"
    s3.create_bucket(Bucket=name)
    return name


@pytest.fixture
def log_store(dynamodb) -> str:
    """A table with the key schema of a log store."""
    name = f"delta_log_{uuid.uuid4().hex[:12]}"
    dynamodb.create_table(
        TableName=name,
        KeySchema=[
            {"AttributeName": "tablePath", "KeyType": "HASH"},
            {"AttributeName": "fileName", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "tablePath", "AttributeType": "S"},
            {"AttributeName": "fileName", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    return name


@pytest.fixture
def stub() -> Iterator[StubServer]:
    """An endpoint that answers exactly as scripted."""
    server = StubServer()
    yield server
    server.close()


@pytest.fixture
def stub_lake(stub) -> Iterator[Lake]:
    with quick(stub.url) as opened:
        yield opened
