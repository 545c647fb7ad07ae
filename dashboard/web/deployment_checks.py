"""`levee check --deploy`: choices of a deployment that would let somebody in, each with what to do about it.

Django's own checks look at its settings; these look at Levee's variables.
"""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

SHORTEST_SECRET = 32
_LOOPBACK_NAMES = {"localhost", "testserver", ""}


@register(Tags.security)
def check_debug(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Pages of faults show settings and variables while LEVEE_DEBUG is on."""
    if settings.DEBUG and (open_to := [host for host in settings.ALLOWED_HOSTS if not is_local(host)]):
        return [
            Error(
                f"LEVEE_DEBUG is on while {', '.join(open_to)} may be asked: its pages of faults tell everything.",
                hint="Take LEVEE_DEBUG away, or let LEVEE_ALLOWED_HOSTS name this machine alone.",
                id="levee.E001",
            )
        ]
    return []


@register(Tags.security, deploy=True)
def check_deployment(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Everything else, before a deployment is let loose."""
    return [*_secrets(), *_hosts(), *_addresses()]


def _secrets() -> Iterator[CheckMessage]:
    names = {"E002": "SECRET_KEY", "E003": "WEBHOOK_SECRET"}
    if settings.AUDIT_SECRET != settings.SECRET_KEY:
        names["E011"] = "AUDIT_SECRET"
    for check, name in names.items():
        if len(getattr(settings, name)) < SHORTEST_SECRET:
            yield Error(
                f"LEVEE_{name} is shorter than {SHORTEST_SECRET} characters: it can be guessed.",
                hint="Leave it out, or give a long random text.",
                id=f"levee.{check}",
            )


def _hosts() -> Iterator[CheckMessage]:
    if wild := [host for host in settings.ALLOWED_HOSTS if host.startswith(("*", "."))]:
        yield Error(
            f"LEVEE_ALLOWED_HOSTS lets {', '.join(wild)} through: links could be led to a host of somebody's choice.",
            hint="Name the hosts by which browsers reach Levee.",
            id="levee.E004",
        )
    if not settings.HTTPS and (open_to := [host for host in settings.ALLOWED_HOSTS if not is_local(host)]):
        yield Error(
            f"LEVEE_HTTPS is off while {', '.join(open_to)} may be asked: passwords and sessions travel in clear.",
            hint="Put a proxy with a certificate before Levee and set LEVEE_HTTPS=1 and LEVEE_BEHIND_PROXY=1.",
            id="levee.E005",
        )
    if not settings.HTTPS and settings.SECURE_PROXY_SSL_HEADER:
        yield Warning(
            "LEVEE_BEHIND_PROXY is on without LEVEE_HTTPS: anybody who reaches Levee past a proxy chooses an address.",
            hint="Set LEVEE_HTTPS=1, or take LEVEE_BEHIND_PROXY away.",
            id="levee.W006",
        )


def _addresses() -> Iterator[CheckMessage]:
    """Whatever Levee calls itself: in clear it may be read and answered by whoever is on the way."""
    if settings.DEAD_MAN_URL and urlsplit(settings.DEAD_MAN_URL).scheme not in {"http", "https"}:
        yield Error("LEVEE_DEAD_MAN_URL is no http(s) URL.", hint="Write https://…", id="levee.E007")
    given = {
        "LEVEE_PUBLIC_URL": [settings.PUBLIC_URL],
        "LEVEE_WEBHOOK_ORIGINS": settings.WEBHOOK_ORIGINS,
        "LEVEE_ALLOWED_ENDPOINTS": settings.ALLOWED_ENDPOINTS,
        "LEVEE_TRUSTED_ORIGINS": settings.CSRF_TRUSTED_ORIGINS,
        "LEVEE_DEAD_MAN_URL": [settings.DEAD_MAN_URL],
    }
    for name, urls in given.items():
        if any(_is_clear(url, ("http",)) for url in urls):
            yield Warning(f"{name} holds an address in clear.", hint="Write it with https://.", id="levee.W008")
    if _is_clear(settings.SMTP_URL, ("smtp",)) and urlsplit(settings.SMTP_URL).password:
        yield Warning(
            "LEVEE_SMTP_URL sends a password in clear.", hint="Write smtp+starttls:// or smtps://.", id="levee.W009"
        )
    if _is_clear(settings.REDIS_URL, ("redis",)) and "." in (urlsplit(settings.REDIS_URL).hostname or ""):
        yield Warning(
            "REDIS_URL leads to another machine in clear.",
            hint="Write rediss://, or keep Redis in a network of its own.",
            id="levee.W010",
        )
    if settings.SMTP_URL and not settings.PUBLIC_URL:
        yield Warning(
            "LEVEE_PUBLIC_URL is missing: the links in mails lead nowhere.",
            hint="Give the address at which browsers reach Levee.",
            id="levee.W011",
        )


def _is_clear(url: str, schemes: Sequence[str]) -> bool:
    """Whether a URL of one of these schemes leads off this machine."""
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and not is_local(parts.hostname or "")
    except ValueError:
        return False


def is_local(host: str) -> bool:
    """Whether a host's name or number is that of this machine."""
    bare = re.sub(r"^\[|\]$", "", host)
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return bare in _LOOPBACK_NAMES or bare.endswith(".localhost")
