"""Self-tests of the writers of a store: asked for, looked at, cleaned up. Nothing here talks to AWS."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from changes.pages import POLL_SECONDS
from coordinator.models import CommitStore, WriterTest
from coordinator.queries.writer_tests import look_of, look_under_way
from coordinator.settings.requests import CleanWriterTest
from coordinator.views.addressed import addressed_store
from coordinator.views.settings_plan import planned, why_no_plan
from coordinator.writer_tests.actions import check_test, make_test, script_for
from coordinator.writer_tests.places import NoPlaceForTest
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import seen
from dashboard.web.answers import SeeOther

_LONGEST_PLACE = 1_024


@require_POST
def make(request: HttpRequest, store_id: int) -> HttpResponse:
    """Note a test, then show its script; a place that cannot be is said on a page that leads back."""
    store = addressed_store(request, store_id)
    try:
        test = make_test(Actor.from_request(request), store, request.POST.get("at", "").strip()[:_LONGEST_PLACE])
    except NoPlaceForTest as reason:
        asked, back = f"Writer test of {store.name}", reverse("store-writers", args=[store.pk])
        context = {"reason": str(reason), "field": "at", "back": back, "asked": asked}
        return render(request, "coordinator/settings_refused.html", context, status=422)
    return SeeOther(reverse("store-writer-test", args=[store.pk, test.token]))


@require_safe
def show(request: HttpRequest, store_id: int, token: str) -> HttpResponse:
    """One test: what it has shown, its script, and what can be done with it."""
    store = addressed_store(request, store_id)
    test = _test(request, store, token)
    look, word = look_of(test)
    job, actor = look_under_way(test), Actor.from_request(request)
    context = {
        "store": store,
        "test": test,
        "look": look,
        "word": word,
        "job": job,
        "script": script_for(test, store),
        "why_no_look": "" if actor.may("lake.observe", store.connection) else "Needs the operator role.",
        "why_no_plan": why_no_plan(actor, store.connection),
        "poll_seconds": POLL_SECONDS if job else None,
        "worst_state": store.state,
    }
    return render(request, "coordinator/writer_test.html", context)


@require_POST
def check(request: HttpRequest, store_id: int, token: str) -> HttpResponse:
    """Have it looked at now; a look changes nothing."""
    store = addressed_store(request, store_id)
    check_test(Actor.from_request(request), _test(request, store, token))
    return SeeOther(reverse("store-writer-test", args=[store.pk, token]))


@require_POST
def clean(request: HttpRequest, store_id: int, token: str) -> HttpResponse:
    """Have it planned to remove what the script left, then show the plan."""
    store = addressed_store(request, store_id)
    test = _test(request, store, token)
    back, asked = reverse("store-writer-test", args=[store.pk, token]), f"Cleaning up after a test of {store.name}"
    return planned(request, store.connection, lambda: CleanWriterTest(test.store_name, test.token), back, asked)


def _test(request: HttpRequest, store: CommitStore, token: str) -> WriterTest:
    tests = seen(request, WriterTest).select_related("connection")
    return get_object_or_404(tests, connection=store.connection, store_name=store.name, token=token)
