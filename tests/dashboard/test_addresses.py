"""Every address there is, as a stranger finds it."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver


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
