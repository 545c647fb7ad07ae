"""Levee asks nobody whom the deployment does not list: by redirect, by name, or from a module added later.

Webhooks are tried in tests/dashboard/alerts/test_webhook.py, endpoints in tests/dashboard/connections, redirects of AWS
in tests/lake/aws/test_wire.py.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.alerts import own_health
from dashboard.alerts.webhook import _is_public
from tests.serving import serving

ROOT = Path(__file__).resolve().parents[2]
# Who opens a connection, and why that goes nowhere but where the deployment says.
SPEAKERS = {
    "dashboard/alerts/webhook.py",  # to listed origins, at addresses that were checked
    "dashboard/alerts/mail_server.py",  # to LEVEE_SMTP_URL
    "dashboard/alerts/own_health.py",  # to LEVEE_DEAD_MAN_URL
    "lake/aws/transport.py",  # to AWS, and to endpoints that dashboard.connections.access lets pass
    "dashboard/processes/embedded.py",  # to this machine
}
NETWORK = {"urllib.request", "http.client", "urllib3", "requests", "httpx", "aiohttp", "smtplib", "ftplib", "telnetlib"}


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_of_the_dead_mans_url_is_not_followed(status: int) -> None:
    with serving(lambda asked: (200, b"", {})) as (inside, asked):
        away = {"Location": f"{inside}/latest/meta-data/"}
        with serving(lambda asked: (status, b"", away)) as (outside, first):
            assert not own_health._call(f"{outside}/ping")
    assert ([one.path for one in first], asked) == (["/ping"], [])


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x"])
def test_the_dead_mans_url_opens_no_file(url: str) -> None:
    assert not own_health._call(url)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",  # noqa: S104 - nothing is bound here
        "224.0.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "::169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::10.0.0.1",
        "2002:a9fe:a9fe::1",
        "2001:0:a9fe:a9fe::1",
    ],
)
def test_an_inner_address_is_known_in_every_form(address: str) -> None:
    assert not _is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2002:808:808::1"]
)
def test_a_public_address_is_known_too(address: str) -> None:
    assert _is_public(address)


def test_nobody_else_speaks_to_the_network() -> None:
    found = {
        str(file.relative_to(ROOT))
        for room in ("backups", "coordinator", "dashboard", "lake")
        for file in (ROOT / room).rglob("*.py")
        if NETWORK & set(_imports(file))
    }
    assert found == SPEAKERS


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
