"""What writers and readers of a table need: settings of their sessions, and which engines may touch it."""

import shlex

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from coordinator.coordination.compatibility import ReadSupport, WriteSupport, matrix
from coordinator.coordination.conf_documents import conf_document
from coordinator.coordination.features import LEFT_BEHIND
from coordinator.coordination.least_policies import PolicyPlace
from coordinator.coordination.offers import NOTE, coordination_offers
from coordinator.coordination.releases import RELEASES, release_named
from coordinator.coordination.session_conf import MECHANISMS, WriterConfig
from coordinator.coordination.writer_configs import writer_config_of_store, writer_config_of_table
from coordinator.coordination.writer_policies import place_of_store, place_of_table, policies_of
from coordinator.models import MECHANISM_WORDS, CommitStore
from coordinator.queries.table_page import frame
from coordinator.queries.writer_tests import tests_of
from coordinator.views.addressed import addressed_store, addressed_table
from coordinator.views.settings_plan import why_no_plan
from dashboard.accounts.actor import Actor
from lake.delta.facts import Mechanism

READ_LOOKS = {
    ReadSupport.FRESH: "healthy",
    ReadSupport.STALE: "attention",
    ReadSupport.REFUSED: "cancelled",
    ReadSupport.UNKNOWN: "not_checked",
}
WRITE_LOOKS = {
    WriteSupport.YES: "healthy",
    WriteSupport.REFUSED: "cancelled",
    WriteSupport.NEVER: "unsafe",
    WriteSupport.UNKNOWN: "not_checked",
}
"""The state whose shape and tone each answer is shown with."""


@require_safe
def of_table(request: HttpRequest, table_id: int) -> HttpResponse:
    """Session settings for this table, by mechanism and release."""
    table = addressed_table(request, table_id)
    context = _settings(request, Mechanism(table.mechanism), writer_config_of_table(table))
    context["doctor"] = reverse("table-doctor", args=[table.pk])
    chosen = Mechanism(str(context["chosen_mechanism"]))
    context |= _policies(place_of_table(table, chosen), chosen, [table.uri])
    return render(request, "coordinator/table_writers.html", frame(table, "writers") | context)


@require_safe
def of_store(request: HttpRequest, store_id: int) -> HttpResponse:
    """Session settings for the tables of one commit store."""
    store = addressed_store(request, store_id)
    is_log_store = store.kind == CommitStore.Kind.LOG_STORE
    own = Mechanism.LOG_STORE if is_log_store else Mechanism.COORDINATED_COMMITS
    context = _settings(request, own, writer_config_of_store(store))
    context |= {"tests": tests_of(store), "why_no_test": why_no_plan(Actor.from_request(request), store.connection)}
    chosen = Mechanism(str(context["chosen_mechanism"]))
    context |= _policies(place_of_store(store, chosen), chosen, ["--store", store.name])
    context |= {"store": store, "worst_state": store.state, "doctor": reverse("store-doctor", args=[store.pk])}
    return render(request, "coordinator/store_writers.html", context)


@require_safe
def compatibility(request: HttpRequest, table_id: int) -> HttpResponse:
    """Which engines read this table fresh, stale or not at all, and which must never write it."""
    table = addressed_table(request, table_id)
    mechanism = Mechanism(table.mechanism)
    coordinated = mechanism is Mechanism.COORDINATED_COMMITS
    rows = matrix(mechanism, table.reader_features, table.writer_features)
    context = {
        "engines": [(row, READ_LOOKS[row.read], WRITE_LOOKS[row.write]) for row in rows],
        "stale": sum(row.read is ReadSupport.STALE for row in rows),
        "never": sum(row.write is WriteSupport.NEVER for row in rows),
        "leftovers": [] if coordinated else [one for one in LEFT_BEHIND if one in table.features],
        "source": mechanism.value,
        "may_move": mechanism in MECHANISMS,
        "coordination": coordination_offers(table),
        "note": NOTE,
    }
    return render(request, "coordinator/table_compatibility.html", frame(table, "compatibility") | context)


def _settings(request: HttpRequest, own: Mechanism, config: WriterConfig) -> dict[str, object]:
    default = own if own in MECHANISMS else Mechanism.SINGLE_DRIVER
    asked = request.GET.get("mechanism", "")
    mechanism = next((one for one in MECHANISMS if one.value == asked), default)
    release = release_named(request.GET.get("release", ""))
    return {
        "conf": conf_document(mechanism, config, release),
        "chosen_mechanism": mechanism.value,
        "mechanisms": [(one.value, MECHANISM_WORDS[one]) for one in MECHANISMS],
        "own": own.value,
        "chosen_release": release.delta,
        "releases": RELEASES,
    }


def _policies(place: PolicyPlace, mechanism: Mechanism, named: list[str]) -> dict[str, object]:
    words = ["levee", "commits", "policy", *named, "--mechanism", mechanism.value, "--role", "writer"]
    policies = policies_of(place, mechanism)
    notes: dict[str, list[str]] = {}
    for one in policies:
        for note in one.notes:
            notes.setdefault(note, []).append(one.what)
    return {
        "policies": policies,
        "policy_notes": list(notes.items()),
        "policy_place": place.uri.s3a,
        "policy_command": shlex.join(words),
    }
