"""Every address there is, as a stranger finds it."""

import re
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

OPEN = {"login", "welcome", "alert-stop", "healthz", "readyz"}
SAMPLES = {"uuid": "5f1e08c2-77a4-4c40-b2f9-1a6b0e9d33c8", "int": "1", "path": "a/b"}


def addresses() -> Iterator[tuple[str, str]]:
    """Return (name, path) of every address, with sample values for its parts."""
    yield from ((name, _sample(route)) for name, route in routes())


def routes() -> Iterator[tuple[str, str]]:
    """Return (name, route) of every address, its parts as they are declared: tables/<int:table_id>/."""
    yield from _below(get_resolver(), "/")


def _below(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, str]]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield pattern.name or route, route
        else:
            yield from _below(pattern, route)


def _sample(route: str) -> str:
    return re.sub(r"<(?:(\w+):)?\w+>", lambda part: SAMPLES.get(part[1] or "", "x"), route)


GUARDED = sorted((name, path) for name, path in addresses() if name not in OPEN)


def test_the_walk_finds_the_addresses_of_every_app() -> None:
    assert {"tables", "table", "jobs", "job-cancel", "audit", "me", "logout", "scope"} <= {name for name, _ in GUARDED}
