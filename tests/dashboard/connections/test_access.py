"""Which endpoints a connection may lead to."""

from pathlib import Path
from typing import Any

import pytest

from dashboard.connections.access import EndpointNotAllowed, lake_access, require_allowed
from dashboard.connections.models import Connection

SANDBOX = "http://127.0.0.1:5005"


@pytest.fixture(autouse=True)
def deployment(settings: Any, tmp_path: Path) -> Path:
    """Allow one endpoint; return the file in which a sandbox would write where it listens."""
    settings.ALLOWED_ENDPOINTS = ["https://s3.internal.example", "http://127.0.0.1:9000/"]
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    return settings.SANDBOX_ENDPOINT_FILE


def connection(**fields: str) -> Connection:
    return Connection(**{"name": "prod", "region": "eu-west-1", **fields})


def test_aws_itself_needs_no_permission() -> None:
    access = lake_access(connection(role_arn="arn:aws:iam::111111111111:role/levee", external_id="x1"))
    assert (access.region, access.endpoint_url, access.static_credentials) == ("eu-west-1", "", None)
    assert (access.role_arn, access.external_id) == ("arn:aws:iam::111111111111:role/levee", "x1")


@pytest.mark.parametrize(
    "url", ["https://s3.internal.example", "https://s3.internal.example:443/", "http://127.0.0.1:9000"]
)
def test_an_allowed_origin_passes_however_it_is_spelled(url: str) -> None:
    assert lake_access(connection(endpoint_url=url)).endpoint_url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254",
        "https://s3.internal.example:8443",
        "https://s3.internal.example@evil.example",
        "https://user:pass@s3.internal.example",
        "https://s3.internal.example/path",
        "https://s3.internal.example.evil.example",
        "http://[::1",
    ],
)
def test_any_other_endpoint_is_refused_by_name(url: str) -> None:
    with pytest.raises(EndpointNotAllowed, match="LEVEE_ALLOWED_ENDPOINTS") as caught:
        lake_access(connection(endpoint_url=url))
    assert url in str(caught.value)


def test_the_dynamodb_endpoint_is_checked_as_well() -> None:
    with pytest.raises(EndpointNotAllowed):
        lake_access(connection(endpoint_url="http://127.0.0.1:9000", dynamodb_endpoint_url="http://127.0.0.1:8000"))


@pytest.mark.parametrize(
    ("dynamodb", "credentials"), [(SANDBOX, ("sandbox", "sandbox")), ("http://127.0.0.1:9000", None)]
)
def test_the_sandbox_of_this_levee_alone_is_allowed_and_gets_its_credentials(
    deployment: Path, dynamodb: str, credentials: object
) -> None:
    with pytest.raises(EndpointNotAllowed):
        require_allowed(SANDBOX)
    deployment.write_text(SANDBOX + "\n")
    access = lake_access(connection(endpoint_url=SANDBOX, dynamodb_endpoint_url=dynamodb))
    assert access.static_credentials == credentials


def test_without_the_sandbox_nobody_who_listens_in_its_place_is_talked_to(deployment: Path, settings: Any) -> None:
    deployment.write_text(SANDBOX)
    settings.SANDBOX = False
    with pytest.raises(EndpointNotAllowed):
        lake_access(connection(endpoint_url=SANDBOX))
