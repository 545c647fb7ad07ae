"""What was typed into a form stands in it again after a sign-in, and is sent by nobody but the person."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.accounts.roles import FRESH_FOR
from dashboard.accounts.typed import COOKIE
from dashboard.web.filled_forms import filled
from tests.builders.people import PASSWORD, person, signed_in

pytestmark = pytest.mark.django_db
HERE = {"Referer": "http://testserver/people/new/"}
TYPED = {"name": "sam", "email": "sam@example.com", "role": "operator", "password": "typed by mistake"}
SAM = 'value="sam@example.com"'


def stale() -> Client:
    return signed_in(proved_at=timezone.now() - FRESH_FOR - timedelta(seconds=1))


def is_added() -> bool:
    return User.objects.filter(username="sam").exists()


def test_after_the_password_was_typed_anew_the_form_is_filled_in_and_sent_by_nobody() -> None:
    client = stale()
    asked = client.post("/people/new/", TYPED, headers=HERE)
    assert b"with what you typed" in client.get(asked["Location"]).content
    back = client.post("/prove/", {"password": PASSWORD, "next": "/people/new/"})["Location"]

    page = client.get(back).content.decode()

    assert SAM in page
    assert '<option value="operator" selected>' in page
    assert "Nothing has been done yet." in page
    assert "by mistake" not in page + client.cookies[COOKIE].value
    assert not is_added()
    assert SAM not in client.get(back).content.decode()  # shown once


def test_a_form_that_met_the_end_of_its_session_is_filled_in_after_the_sign_in() -> None:
    client, user = Client(), person()
    to_login = client.post("/people/new/", TYPED, headers=HERE)["Location"]
    assert to_login == "/login/?next=/people/new/"

    signed = client.post(to_login, {"username": user.username, "password": PASSWORD, "next": "/people/new/"})

    assert SAM in client.get(signed["Location"]).content.decode()
    assert not is_added()


def test_what_came_from_another_origin_or_page_is_filled_in_nowhere() -> None:
    for came_from in ("http://elsewhere/people/new/", "http://testserver/people/new/?x=1"):
        client = stale()
        client.post("/people/new/", TYPED, headers={"Referer": came_from})
        assert SAM not in client.get("/people/new/").content.decode()


def test_what_one_person_typed_is_not_shown_to_another_and_no_stranger_can_write_it() -> None:
    client = stale()
    client.post("/people/new/", TYPED, headers=HERE)
    client.force_login(person(name="other"))
    assert SAM not in client.get("/people/new/").content.decode()
    client.force_login(person())
    client.cookies[COOKIE] = client.cookies[COOKIE].value[:-1] + "_"
    assert SAM not in client.get("/people/new/").content.decode()


def test_what_is_longer_than_a_cookie_is_not_promised() -> None:
    client = stale()
    asked = client.post("/people/new/", {"name": "".join(map(str, range(9_000)))}, headers=HERE)
    assert b"with what you typed" not in client.get(asked["Location"]).content


def test_fields_that_a_person_sees_are_filled_in_and_those_of_another_form_are_not() -> None:
    form = """<form method="post" action="/a/"><input type="hidden" name="act" value="{act}">
<input type="hidden" name="digest" value="new"><input type=password name="pin"><input name="why" value="">
<input type="checkbox" name="tell" value="x" checked><textarea name="tags">
old</textarea><select name="kind"><option selected>one<option>two &amp; a half</select></form>"""
    fields = {
        "act": ["set"],
        "digest": ["old"],
        "pin": ["1"],
        "why": ['a "b"'],
        "tags": ["<k>"],
        "kind": ["two & a half"],
    }

    page = filled(form.format(act="set") + form.format(act="drop"), {"/a/"}, fields, "<p>note</p>")

    first, second = page.split("</form>")[:2]
    assert second == form.format(act="drop").removesuffix("</form>")
    for told in (
        "<p>note</p>",
        'value="new"',
        '<input type=password name="pin">',
        '<input name="why" value="a &quot;b&quot;">',
        '<input type="checkbox" name="tell" value="x">',
        '<textarea name="tags">&lt;k&gt;</textarea>',
        "<option>one<option selected>two &amp; a half",
    ):
        assert told in first
