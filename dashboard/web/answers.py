"""Answers of pages that no framework has."""

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponseRedirect


class SeeOther(HttpResponseRedirect):
    """303: what was posted is done; read the result there."""

    status_code = 303


def page_before(request: HttpRequest) -> str:
    """Return the page of this console whose form was sent, as path and query; "" where the browser does not say."""
    try:
        before = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return ""
    if before.netloc != request.get_host():
        return ""
    return f"{before.path}?{before.query}" if before.query else before.path
