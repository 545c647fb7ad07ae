"""Webhooks: JSON, signed, to origins that the deployment lists and never to an address inside its own network.

A name is resolved once, every address it has is checked, and the connection goes to the address that was checked: a
name that changes its mind in between changes nothing. Redirects are not followed.
"""

import hashlib
import hmac
import ipaddress
import json
import socket
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.utils import timezone
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, SSLError

from dashboard.alerts.delivery import NotSent, PerhapsSent
from dashboard.alerts.models import Message

TIMEOUT_SECONDS = 5
SIGNATURE_HEADER = "Levee-Signature"
# IANA IPv6 address space: all that is given out for the public; and the prefix of translators, RFC 6052.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class NotAllowedThere(ValueError):
    """The URL is none that this deployment lets a webhook go to; the message says why."""


def check_url(url: str) -> SplitResult:
    """Return the URL's parts. Raises NotAllowedThere unless settings.WEBHOOK_ORIGINS lists its origin."""
    try:
        if not url.isascii() or not url.isprintable() or " " in url:
            raise ValueError
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
    except ValueError:
        raise NotAllowedThere("This is not a URL.") from None
    if parts.username or parts.password:
        raise NotAllowedThere("A webhook's URL holds no name and no password.")
    if parts.scheme not in {"http", "https"} or origin not in settings.WEBHOOK_ORIGINS:
        raise NotAllowedThere(f"{origin} is not among the origins that LEVEE_WEBHOOK_ORIGINS lists.")
    return parts


def carry_plain(message: Message, handed_over: Callable[[], None]) -> None:
    """Post Levee's own form. Raises NotSent or PerhapsSent."""
    _post(message.address, document(message), message.message_id, handed_over)


def carry_slack(message: Message, handed_over: Callable[[], None]) -> None:
    """Post the form that Slack and its likes take. Raises NotSent or PerhapsSent."""
    text = f"*{_escaped(message.subject)}*\n{_escaped(message.text[:2500])}"
    _post(message.address, {"text": text}, message.message_id, handed_over)


def document(message: Message) -> dict[str, object]:
    """Return what a webhook says."""
    alert = message.alert
    about = {} if alert is None else {
        "id": alert.pk,
        "kind": alert.kind,
        "state": alert.state,
        "severity": alert.severity,
        "headline": alert.headline,
        "count": alert.count,
        "since": alert.since.isoformat(),
        "opened_at": alert.opened_at.isoformat(),
        "resolved_at": alert.resolved_at.isoformat() if alert.resolved_at else None,
        "url": f"{settings.PUBLIC_URL}/alerts/{alert.pk}/",
    }  # fmt: skip
    return {"id": message.message_id, "reason": message.reason, "subject": message.subject, "alert": about}


def signature(body: bytes, at: int) -> str:
    """Return t=seconds,v1=hex: HMAC-SHA256 with LEVEE_WEBHOOK_SECRET over the seconds, a dot and the body."""
    digest = hmac.new(settings.WEBHOOK_SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def _post(url: str, content: dict[str, object], message_id: str, handed_over: Callable[[], None]) -> None:
    try:
        parts = check_url(url)
    except NotAllowedThere as error:
        raise NotSent(str(error), is_final=True) from error
    try:
        address = _checked_address(parts.hostname or "", parts.port or 0)
    except (OSError, NotAllowedThere) as error:
        raise NotSent(f"{parts.hostname} cannot be reached: {error}") from error
    body = json.dumps(content, ensure_ascii=False).encode()
    headers = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "Levee-Message-Id": message_id,
        SIGNATURE_HEADER: signature(body, int(timezone.now().timestamp())),
    }
    handed_over()
    try:
        answer = _pool(parts, address).request(
            "POST", parts._replace(scheme="", netloc="").geturl(), body=body, headers=headers, redirect=False
        )
    except (NewConnectionError, ConnectTimeoutError, SSLError) as error:
        raise NotSent(f"{parts.hostname} cannot be reached: {error}") from error
    except HTTPError as error:
        raise PerhapsSent(f"The line broke before {parts.hostname} answered: {error}.") from error
    if not 200 <= answer.status < 300:
        is_final = answer.status in {301, 302, 303, 307, 308, 404, 410}
        raise NotSent(f"{parts.hostname} answered {answer.status}.", is_final=is_final)


def _pool(parts: SplitResult, address: str) -> HTTPConnectionPool:
    """Connections to an address that was checked, which still speak to the name."""
    if parts.scheme == "http":
        return HTTPConnectionPool(address, parts.port, timeout=TIMEOUT_SECONDS, retries=False)
    return HTTPSConnectionPool(
        address,
        parts.port,
        timeout=TIMEOUT_SECONDS,
        retries=False,
        server_hostname=parts.hostname,
        assert_hostname=parts.hostname,
    )


def _checked_address(host: str, port: int) -> str:
    """Return an address of the host. A name has to be public with every address it has; an address that the
    deployment lists by its number, or localhost, is meant."""
    found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if host != "localhost" and not _is_address(host):
        for address in found:
            if not _is_public(address):
                raise NotAllowedThere(f"{host} is {address}, an address inside a private network.")
    return found[0]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    if inner := address.ipv4_mapped or address.sixtofour or _behind_nat64(address):
        return _is_public(str(inner))
    return address in _GLOBAL_UNICAST and address.is_global


def _behind_nat64(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a translator of RFC 6052 reaches under this one."""
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
