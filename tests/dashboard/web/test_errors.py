"""Pages nobody hopes to see."""

from unittest.mock import patch

import pytest
from django.core.exceptions import BadRequest
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import include, path

from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.roles import Role
from dashboard.frame import errors
from tests.builders.people import person

pytestmark = pytest.mark.django_db


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("secret-detail")


def refused(request: HttpRequest) -> HttpResponse:
    raise NotAllowed("lake.observe", Role.OPERATOR)


def unreadable(request: HttpRequest) -> HttpResponse:
    raise BadRequest("secret-detail")


urlpatterns = [
    path("broken/", broken),
    path("refused/", refused),
    path("unreadable/", unreadable),
    path("", include("dashboard.urls")),
]
handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.server_error
HERE = override_settings(ROOT_URLCONF=__name__)


def visitor() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(person(Role.VIEWER))
    return client


@HERE
def test_a_refusal_names_the_role_that_is_needed() -> None:
    response = visitor().get("/refused/")
    assert response.status_code == 403
    assert "lake.observe needs the role operator." in response.content.decode()


@HERE
@pytest.mark.parametrize(("address", "status"), [("/broken/", 500), ("/unreadable/", 400)])
def test_a_fault_is_a_sentence_without_its_inside(address: str, status: int) -> None:
    response = visitor().get(address)
    html = response.content.decode()
    assert response.status_code == status
    assert "secret-detail" not in html
    assert "Traceback" not in html
    assert response["X-Request-ID"] in html


def test_the_page_of_a_fault_needs_no_database() -> None:
    request = RequestFactory().get("/tables/")
    with patch("django.db.models.query.QuerySet._fetch_all", side_effect=DatabaseError):
        response = errors.server_error(request)
    assert response.status_code == 500
    assert b"Levee failed to answer." in response.content


@pytest.mark.parametrize(
    ("error", "headline"),
    [
        (OperationalError("database or disk is full"), "disk is full"),
        (InterfaceError("connection already closed"), "cannot be reached"),
    ],
)
def test_a_database_that_does_not_serve_is_a_sentence_and_503(error: Exception, headline: str) -> None:
    with patch("sys.exc_info", return_value=(type(error), error, None)):
        response = errors.server_error(RequestFactory().get("/tables/"))
    assert response.status_code == 503
    assert headline in response.content.decode()


@HERE
@pytest.mark.parametrize(
    ("address", "status"), [("/broken/", 500), ("/refused/", 403), ("/nowhere/", 404), ("/unreadable/", 400)]
)
def test_a_fragment_gets_the_sentence_as_a_toast(address: str, status: int) -> None:
    response = visitor().get(address, headers={"HX-Request": "true"})
    html = response.content.decode()
    assert response.status_code == status
    assert (response["HX-Retarget"], response["HX-Reswap"]) == ("#toasts", "beforeend")
    assert html.startswith('<p class="toast crit" role="alert">')
    assert "<html" not in html
