"""The headers of every kind of answer, its cookies, and what headers of strangers do not change."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from dashboard.accounts.roles import Role
from tests.builders.people import PASSWORD, person, signed_in
from tests.dashboard.web import test_errors

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
}
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
SWITCHED_OFF = {"camera", "microphone", "geolocation", "payment", "usb", "serial"}


def visitor(role: Role | None = Role.VIEWER, **options: Any) -> Client:
    client = Client(raise_request_exception=False, **options)
    if role:
        client.force_login(person(role))
    return client


ANSWERS: dict[str, tuple[int, Callable[[], Any]]] = {
    "a page": (200, lambda: visitor().get("/tables/")),
    "a fragment": (200, lambda: visitor().get("/tables/", headers={"HX-Request": "true"})),
    "the way in": (200, lambda: visitor(None).get("/login/")),
    "a download": (200, lambda: visitor().get("/audit/?format=csv")),
    "health": (200, lambda: visitor(None).get("/healthz")),
    "a redirect": (302, lambda: visitor(None).get("/tables/")),
    "a redirect of a fragment": (200, lambda: visitor(None).get("/tables/", headers={"HX-Request": "true"})),
    "a strange host": (400, lambda: visitor(None).get("/login/", headers={"Host": "evil.example"})),
    "too little a role": (403, lambda: visitor().get("/people/")),
    "a form without its token": (403, lambda: visitor(enforce_csrf_checks=True).post("/me/", {"theme": "dark"})),
    "an unknown address": (404, lambda: visitor().get("/nowhere/")),
    "an unknown static file": (404, lambda: visitor().get("/static/nowhere.css")),
    "another method": (405, lambda: visitor().delete("/tables/")),
    "a paused sign-in": (429, lambda: _paused()),
    "a fault": (500, lambda: visitor().get("/broken/")),
}


def _paused() -> Any:
    client = visitor(None)
    for _ in range(10):
        client.post("/login/", {"username": "sam", "password": "wrong"})
    return client.post("/login/", {"username": "sam", "password": "wrong"})


@pytest.fixture(autouse=True)
def _hosts(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.ROOT_URLCONF = test_errors.__name__


def assert_guarded(response: Any) -> None:
    assert set(response["Content-Security-Policy"].split("; ")) == POLICY
    assert {name: response[name] for name in ALWAYS} == ALWAYS
    assert {f"{feature}=()" for feature in SWITCHED_OFF} <= set(response["Permissions-Policy"].split(", "))
    assert "Content-Security-Policy-Report-Only" not in response.headers
    assert "X-Powered-By" not in response.headers
    assert "Server" not in response.headers


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_guarded_and_kept_out_of_caches(name: str) -> None:
    status, ask = ANSWERS[name]
    response = ask()
    assert response.status_code == status
    assert_guarded(response)
    if status != 400:  # made before anything of the console is asked
        assert "no-store" in response["Cache-Control"]


def test_a_static_file_is_guarded(settings: Settings) -> None:
    probe = Path(settings.STATIC_ROOT) / "probe.css"
    probe.write_text("p { color: red }")
    try:
        response = Client().get("/static/probe.css")
    finally:
        probe.unlink()
    assert (response.status_code, response["Content-Type"]) == (200, 'text/css; charset="utf-8"')
    assert_guarded(response)


def test_the_way_to_https_is_guarded_and_stays_on_this_host(settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT = True
    response = Client().get("/tables/?q=1", headers={"X-Forwarded-Host": "evil.example"})
    assert (response.status_code, response["Location"]) == (301, "https://testserver/tables/?q=1")
    assert_guarded(response)


def test_cookies_are_for_this_site_and_for_no_script(settings: Settings) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    person(Role.VIEWER)
    client = Client()
    client.get("/login/", secure=True)
    client.post("/login/", {"username": "viewer", "password": PASSWORD}, secure=True)
    client.post("/me/", {"theme": "dark"}, secure=True)
    assert {"sessionid", "csrftoken"} <= set(client.cookies)
    for name, cookie in client.cookies.items():
        assert (name, cookie["httponly"], cookie["secure"], cookie["samesite"]) == (name, True, True, "Lax")
        assert (name, cookie["domain"], cookie["path"]) == (name, "", "/")


def test_a_strange_host_is_not_repeated_to_the_browser() -> None:
    response = visitor(None).get("/login/", headers={"Host": "evil.example"})
    assert b"evil" not in response.content


@pytest.mark.parametrize("header", ["X-Forwarded-Host", "X-Forwarded-Server", "Forwarded", "X-Host", "X-Original-Host"])
def test_a_header_of_a_stranger_does_not_move_a_link(header: str) -> None:
    value = "host=evil.example;proto=https" if header == "Forwarded" else "evil.example"
    sam = User.objects.create_user("sam")
    response = signed_in(Role.ADMIN).post(f"/people/{sam.pk}/link/", headers={header: value})
    html = response.content.decode()
    assert "http://testserver/welcome/" in html
    assert "evil" not in html


def test_a_header_of_a_stranger_does_not_make_a_request_safe() -> None:
    response = Client().get("/login/", headers={"X-Forwarded-Proto": "https", "X-Forwarded-Ssl": "on"})
    assert not response.wsgi_request.is_secure()


def test_a_page_is_compressed_and_no_two_answers_need_be_of_one_length() -> None:
    client = signed_in(Role.VIEWER)
    answers = [client.get("/states/", headers={"Accept-Encoding": "gzip"}) for _ in range(6)]
    assert {answer["Content-Encoding"] for answer in answers} == {"gzip"}
    assert 3 * len(answers[0].content) < len(gzip.decompress(answers[0].content))
    assert len({len(answer.content) for answer in answers}) > 1
