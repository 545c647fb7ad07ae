"""Headers of every page, and what htmx is told instead of a redirect."""

import pytest
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import include, path

from dashboard.accounts.roles import Role
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db


def leave_a_message(request: HttpRequest) -> HttpResponse:
    messages.error(request, "<b>Nothing</b> was changed.")
    return HttpResponse("<p>fragment</p>")


urlpatterns = [path("message/", leave_a_message), path("", include("dashboard.urls"))]


def test_an_expired_session_sends_the_whole_page_to_sign_in() -> None:
    response = Client().get(
        "/jobs/5f1e08c2-77a4-4c40-b2f9-1a6b0e9d33c8/progress/",
        headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/jobs/?state=running"},
    )
    assert response.status_code == 200
    assert response["HX-Redirect"] == f"{settings.FORCE_SCRIPT_NAME or ''}/login/?next=/jobs/%3Fstate%3Drunning"
    assert "Location" not in response


def test_any_redirect_of_a_fragment_changes_the_page() -> None:
    response = signed_in(Role.VIEWER).post("/me/", {"theme": "dark"}, headers={"HX-Request": "true"})
    assert response["HX-Redirect"] == "/me/"


@override_settings(ROOT_URLCONF=__name__)
def test_a_fragment_brings_its_messages_out_of_band() -> None:
    html = flat(signed_in(Role.VIEWER).get("/message/", headers={"HX-Request": "true"}))
    assert html.startswith("<p>fragment</p>")
    assert '<div id="toasts" hx-swap-oob="beforeend">' in html
    assert 'class="toast crit" role="alert"' in html
    assert "&lt;b&gt;Nothing&lt;/b&gt; was changed." in html
