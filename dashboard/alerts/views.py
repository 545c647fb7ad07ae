"""Alerts, messages, rules and recipients: everybody may read them; operators acknowledge, admins change the rest."""

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.accounts.scope import current_connection, seen
from dashboard.accounts.sessions import person_of
from dashboard.alerts import actions, queries, stopping
from dashboard.alerts.channels import transports
from dashboard.alerts.forms import AcknowledgeForm, RecipientForm, RuleForm
from dashboard.alerts.models import Alert, AlertState, Message, MessageState, Recipient, Rule
from dashboard.alerts.problems import SEVERITIES, kind_named, kinds
from dashboard.web.paging import Column, Sort, as_typed, choose_size, keyset_page

STATES = ("active", AlertState.ACKNOWLEDGED, AlertState.RESOLVED)
"""Active are all that are not resolved."""
MOST_AT_ONCE = 200
NEWEST_MESSAGE = Sort("newest", (Column("id", descending=True),))


@require_safe
def alerts(request: HttpRequest) -> HttpResponse:
    """List alerts, worst first."""
    return _list(request, AcknowledgeForm())


@require_POST
def acknowledge_alerts(request: HttpRequest) -> HttpResponse:
    """Acknowledge the alerts that were selected in the list, with one reason."""
    numbers = [int(text) for text in request.POST.getlist("alert")[:MOST_AT_ONCE] if text.isascii() and text.isdigit()]
    form = AcknowledgeForm(request.POST)
    if not numbers:
        form.add_error(None, "Select an alert first.")
    if not form.is_valid():
        return _list(request, form, selected=numbers)
    found = list(seen(request, Alert).select_related("connection").filter(pk__in=numbers))
    if not found:
        raise Http404
    reason = form.cleaned_data["reason"]
    done = actions.acknowledge_all(Actor.from_request(request), found, reason, form.until)
    ended = f" {len(found) - done:,} ended before that." if done < len(found) else ""
    messages.success(request, f"{done:,} alert{'' if done == 1 else 's'} acknowledged {form.length}.{ended}")
    return redirect(f"{reverse('alerts')}?{request.GET.urlencode()}")


def _list(request: HttpRequest, form: AcknowledgeForm, selected: Sequence[int] = ()) -> HttpResponse:
    chosen = _filter(request)
    counts = queries.counts(chosen)
    context = {
        "page": queries.alert_page(chosen, request.GET.get("after", ""), choose_size(request.GET.get("size", ""))),
        "chosen": chosen,
        "states": [(state, counts.get(state, 0)) for state in STATES],
        "severities": SEVERITIES[::-1],
        "most_counted": queries.MOST_COUNTED,
        "kinds": sorted(((kind.name, kind.words) for kind in kinds()), key=lambda one: one[1]),
        "form": form,
        "selected": selected,
        "can_acknowledge": Actor.from_request(request).may(actions.ACKNOWLEDGE, current_connection(request)),
    }
    return render(request, "alerts/list.html", context, status=400 if form.errors else 200)


def _filter(request: HttpRequest) -> queries.AlertFilter:
    connection, given = current_connection(request), request.GET
    state, severity = given.get("state", ""), given.get("severity", "")
    return queries.AlertFilter(
        state=state if state in STATES else "active",
        q=as_typed(given.get("q", "")),
        severity=severity if severity in SEVERITIES else "",
        kind=given.get("kind", "") if kind_named(given.get("kind", "")) else "",
        connection=connection.pk if connection else None,
    )


@require_http_methods(["GET", "HEAD", "POST"])
def alert(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Show an alert; a POST acknowledges it."""
    found = get_object_or_404(seen(request, Alert).select_related("rule", "connection"), pk=alert_id)
    actor = Actor.from_request(request)
    form = AcknowledgeForm(request.POST or None)
    if form.is_valid():
        try:
            actions.acknowledge(actor, found, form.cleaned_data["reason"], form.until)
        except actions.NotNow as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Acknowledged {form.length}: nobody is reminded until then.")
            return redirect("alert", alert_id)
    members = found.members.order_by("gone_at", "since", "pk")
    context = {
        "alert": found,
        "members": members[: queries.MEMBERS_SHOWN],
        "more_members": max(members.count() - queries.MEMBERS_SHOWN, 0),
        "told": found.messages.select_related("recipient").order_by("pk"),
        "form": form,
        "can_acknowledge": actor.may(actions.ACKNOWLEDGE, found.connection),
        "lasted": (found.resolved_at or timezone.now()) - found.since,
    }
    return render(request, "alerts/detail.html", context, status=400 if form.errors else 200)


@require_POST
def reopen_alert(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Take an acknowledgement back."""
    found = get_object_or_404(seen(request, Alert).select_related("connection"), pk=alert_id)
    try:
        actions.reopen(Actor.from_request(request), found)
    except actions.NotNow as error:
        messages.error(request, str(error))
    return redirect("alert", alert_id)


@require_safe
def messages_sent(request: HttpRequest) -> HttpResponse:
    """List every message, newest first; ?state narrows."""
    given = request.GET.get("state", "")
    wanted = given if given in MessageState.values else ""
    rows = Message.objects.filter(**({"state": wanted} if wanted else {})).select_related("alert", "recipient")
    page = keyset_page(rows, NEWEST_MESSAGE, request.GET.get("after", ""), choose_size(request.GET.get("size", "")))
    context = {"page": page, "wanted": wanted, "states": MessageState.choices, "channels": sorted(transports())}
    return render(request, "alerts/messages.html", context)


@require_safe
def message(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a message as it was sent."""
    found = get_object_or_404(Message.objects.select_related("alert", "recipient"), pk=pk)
    stuck = found.state in {MessageState.FAILED, MessageState.UNKNOWN}
    may = Actor.from_request(request).may(actions.MANAGE)
    return render(request, "alerts/message.html", {"message": found, "can_send_again": stuck and may})


@require_POST
def message_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a message that was given up be tried again."""
    try:
        actions.send_again(Actor.from_request(request), get_object_or_404(Message, pk=pk))
    except actions.NotNow as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "It waits for another try.")
    return redirect("alert-message", pk)


@csrf_exempt  # mail programs post the link without ever having seen a form; its signature is the proof
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """Stop mails to the address that the link was made for; a GET asks first, as mail scanners open links."""
    address = stopping.address_of(token)
    stopped = bool(address and request.method == "POST")
    if address and stopped:
        stopping.stop_mails(Actor.from_request(request), address)
    context = {"address": address, "stopped": stopped}
    return render(request, "alerts/stop.html", context, status=200 if address else 404)


@require_http_methods(["GET", "HEAD", "POST"])
def own_mails(request: HttpRequest) -> HttpResponse:
    """Let a person stop their own mails."""
    user = person_of(request)
    if request.method == "POST":
        stopping.set_own_mails(Actor.from_request(request), user, wanted=request.POST.get("mails") == "on")
        messages.success(request, "Kept.")
        return redirect("own-mails")
    stopped = Recipient.objects.filter(user=user, is_stopped=True).exists()
    told = Message.objects.filter(address__iexact=user.email)[:20] if user.email else []
    return render(request, "alerts/own.html", {"wanted": not stopped, "address": user.email, "told": told})


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """List the rules, by kind."""
    kept = Rule.objects.select_related("connection").prefetch_related("recipients")
    found = ((kind_named(rule.kind), rule) for rule in kept)
    rows = [(kind, rule, kind.in_words(rule.threshold)) for kind, rule in found if kind]
    return render(request, "alerts/rules.html", {"rows": rows, "can_manage": _may(request)})


@require_http_methods(["GET", "HEAD", "POST"])
def rule(request: HttpRequest, pk: int) -> HttpResponse:
    """Show and change a rule."""
    return _edit(request, get_object_or_404(Rule, pk=pk))


@require_http_methods(["GET", "HEAD", "POST"])
def new_rule(request: HttpRequest, kind: str) -> HttpResponse:
    """Add a narrower rule of a kind."""
    require_manager(request)
    return _edit(request, Rule(kind=kind))


def _edit(request: HttpRequest, rule: Rule) -> HttpResponse:
    kind, is_new = kind_named(rule.kind), rule.pk is None
    if kind is None:
        raise Http404
    initial = {"threshold": kind.threshold} if is_new else None
    form = RuleForm(request.POST or None, kind=kind, instance=rule, initial=initial)
    if form.is_valid():
        actions.save_rule(Actor.from_request(request), form)
        messages.success(request, f"{rule.name} is kept.")
        return redirect("alert-rules")
    context = {
        "form": form,
        "kind": kind,
        "rule": None if is_new else rule,
        "can_manage": _may(request),
        "is_default": not is_new and _is_default(rule),
    }
    return render(request, "alerts/rule.html", context, status=400 if form.errors else 200)


@require_POST
def rule_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a rule that somebody added; the default ones are switched off instead."""
    found = get_object_or_404(Rule, pk=pk)
    if _is_default(found):
        require_manager(request)
        messages.error(request, "The default rule of a kind is not deleted: switch it off instead.")
        return redirect("alert-rule", pk)
    actions.delete_rule(Actor.from_request(request), found)
    return redirect("alert-rules")


@require_http_methods(["GET", "HEAD", "POST"])
def recipients(request: HttpRequest) -> HttpResponse:
    """List recipients; a POST adds one."""
    form = RecipientForm(request.POST or None)
    if request.method == "POST":
        require_manager(request)
        if form.is_valid():
            actions.save_recipient(Actor.from_request(request), form.instance)
            return redirect("alert-recipients")
    rows = Recipient.objects.select_related("user").annotate(number_of_rules=Count("rules"))
    context = {"recipients": rows, "form": form, "can_manage": _may(request)}
    return render(request, "alerts/recipients.html", context, status=400 if form.errors else 200)


@require_POST
def recipient_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a test message."""
    found = get_object_or_404(Recipient, pk=pk)
    if actions.send_test(Actor.from_request(request), found):
        messages.success(request, f"A test to {found.name} is on its way: see the messages.")
    else:
        messages.error(request, f"{found.name} has no address to send to.")
    return redirect("alert-recipients")


@require_POST
def recipient_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a recipient."""
    actions.delete_recipient(Actor.from_request(request), get_object_or_404(Recipient, pk=pk))
    return redirect("alert-recipients")


def require_manager(request: HttpRequest) -> None:
    require(Actor.from_request(request), actions.MANAGE)


def _may(request: HttpRequest) -> bool:
    return Actor.from_request(request).may(actions.MANAGE)


def _is_default(rule: Rule) -> bool:
    return rule.narrowness == (False, 0, False)
