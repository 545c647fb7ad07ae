"""What was typed into a form whose sending met a sign-in: the browser keeps it, and the form's page shows it again.

It carries nothing out: the person looks at the form and sends it once more. It is kept signed, in a cookie, for a
quarter of an hour, and nowhere on the server.
"""

from datetime import timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from dashboard.web.filled_forms import filled

COOKIE = "typed"
LASTS = timedelta(minutes=15)
LONGEST = 3_500
"""Bytes: browsers drop a cookie of more than 4,096 without a word."""
_SALT = "levee.accounts.typed"
_NOT_KEPT = {"csrfmiddlewaretoken", "text"}
"""`text` is what a writer is started with, as pasted: it may hold keys."""
NOTE = (
    '<p class="toast live" role="status"><span><b>Nothing has been done yet.</b> '
    "What you typed is here again: look at it, and send it once more.</span></p>"
)


def page_before(request: HttpRequest) -> str:
    """Return the page of this console whose form was sent, as path and query; "" where the browser does not say."""
    before = urlsplit(request.headers.get("Referer", ""))
    if before.netloc != request.get_host():
        return ""
    return f"{before.path}?{before.query}" if before.query else before.path


def keep(request: HttpRequest, response: HttpResponseBase) -> None:
    """Have the browser keep what was posted for the page it came from; no password, and nothing that is too long."""
    fields = {name: values for name, values in request.POST.lists() if name not in _NOT_KEPT and "password" not in name}
    page = page_before(request)
    kept = signing.dumps([page, request.path, request.user.pk, fields], salt=_SALT, compress=True)
    if not page or len(kept) > LONGEST:
        response.delete_cookie(COOKIE)  # what was kept before would be taken for it
        return
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(COOKIE, kept, max_age=LASTS, httponly=True, secure=secure, samesite="Lax")


def put_back(request: HttpRequest, response: HttpResponseBase) -> None:
    """Fill in the form of this page where something is kept for it, and have the browser forget it.

    What was typed while nobody was signed in is for whoever signs in.
    """
    try:
        kept = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=LASTS)
    except signing.BadSignature:
        return
    page, address, person, fields = kept
    is_meant = page == request.get_full_path() and person in (None, request.user.pk) and request.method == "GET"
    is_html = response.get("Content-Type", "").startswith("text/html") and not request.headers.get("HX-Request")
    if is_meant and is_html and isinstance(response, HttpResponse):
        before = response.content.decode()
        after = filled(before, {address, ""} if address == request.path else {address}, fields, NOTE)
        if after != before:
            response.content = after.encode()
            response.delete_cookie(COOKIE)
