"""What a person sees whom django-axes has paused, after too many failed sign-ins."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse


def answer(request: HttpRequest, response: HttpResponse, credentials: Mapping[str, Any] | None) -> HttpResponse:
    """Return the page that the view made, which says so in its form, as 429."""
    response.status_code = 429
    return response


def is_paused(request: HttpRequest) -> bool:
    """Say whether django-axes has refused this request's sign-in without looking at the password."""
    return bool(getattr(request, "axes_locked_out", False))
