"""Where a request comes from."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from dashboard.accounts.actor import Actor


def from_request(**headers: Any) -> Actor:
    request = RequestFactory().get("/", **headers)
    request.user = AnonymousUser()
    return Actor.from_request(request)


def test_a_forwarded_address_is_ignored_without_a_proxy() -> None:
    assert from_request(HTTP_X_FORWARDED_FOR="203.0.113.9").ip == "127.0.0.1"


def test_the_last_hop_counts_behind_a_proxy(settings: Any) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert from_request(HTTP_X_FORWARDED_FOR="10.9.9.9, 203.0.113.9").ip == "203.0.113.9"


@pytest.mark.parametrize("address", ["", "unix:", "203.0.113.9:80"])
def test_what_is_no_address_is_left_out(address: str) -> None:
    assert from_request(REMOTE_ADDR=address).ip is None
