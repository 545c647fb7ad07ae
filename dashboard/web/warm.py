"""What a web process does before anybody asks it, so that its first answer is nearly as quick as the next."""

import logging

from django.contrib.auth.models import User
from django.contrib.messages.storage import default_storage
from django.db import connections
from django.http import HttpRequest
from django.urls import resolve, reverse

_log = logging.getLogger(__name__)


def warm_up() -> None:
    """Answer nobody once; where that cannot be done, such as without a database, the first answer takes longer."""
    try:
        answer_nobody()
    except Exception:  # noqa: BLE001 - whatever it is, the page that somebody asks for tells it better
        _log.warning("No page could be made at the start; the first will take longer.", exc_info=True)
    connections.close_all()  # those of this thread, which answers no request


def answer_nobody() -> bytes:
    """Make the list of tables and return it.

    Its queries and formats are compiled for that, and most memory that a process changes and shares with its parent is
    copied.
    """
    request = HttpRequest()
    request.method, request.path = "GET", reverse("tables")
    request.user, request.session = User(pk=0, is_superuser=True), {}  # type: ignore[assignment]  # neither is stored
    request._messages = default_storage(request)  # type: ignore[attr-defined]  # as Django's middleware does
    request.resolver_match = resolve(request.path)
    return bytes(request.resolver_match.func(request).content)
