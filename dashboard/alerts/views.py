"""Alerts and messages as everybody may read them; acknowledging is for operators."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import current_connection
from dashboard.accounts.sessions import person_of
from dashboard.alerts import actions, queries, stopping
from dashboard.alerts.channels import transports
from dashboard.alerts.forms import AcknowledgeForm
from dashboard.alerts.models import Alert, AlertState, Message, MessageState, Recipient
from dashboard.web.paging import choose_size

STATES = ("active", *AlertState.values)


@require_safe
def alerts(request: HttpRequest) -> HttpResponse:
    """List alerts, newest first; ?state is one of STATES. Context of `alerts/list.html`: `page`, `wanted`, `states`,
    `counts`, `now`."""
    connection = current_connection(request)
    number = connection.pk if connection else None
    given = request.GET.get("state", "")
    wanted = given if given in STATES else "active"
    page = queries.alert_page(wanted, number, request.GET.get("after", ""), choose_size(request.GET.get("size", "")))
    counts = queries.counts(number)
    counts["active"] = counts.get("open", 0) + counts.get("acknowledged", 0)
    states = [(state, counts.get(state, 0)) for state in STATES]
    return render(request, "alerts/list.html", {"page": page, "wanted": wanted, "states": states})


@require_http_methods(["GET", "HEAD", "POST"])
def alert(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Show an alert; a POST acknowledges it.

    Context of `alerts/detail.html`: `alert`, `members` (Member, at most MEMBERS_SHOWN), `more_members`, `told`
    (Message, oldest first), `form` (AcknowledgeForm), `can_acknowledge`, `lasted` (timedelta).
    """
    found = get_object_or_404(Alert.objects.select_related("rule", "connection", "returned_from"), pk=alert_id)
    actor = Actor.from_request(request)
    form = AcknowledgeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            actions.acknowledge(actor, found, form.cleaned_data["reason"], form.until)
        except actions.NotNow as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Acknowledged: nobody is reminded until then.")
            return redirect("alert", alert_id)
    members = found.members.order_by("gone_at", "since", "pk")
    context = {
        "alert": found,
        "members": members[: queries.MEMBERS_SHOWN],
        "more_members": max(members.count() - queries.MEMBERS_SHOWN, 0),
        "told": found.messages.select_related("recipient").order_by("pk"),
        "form": form,
        "can_acknowledge": actor.may(actions.ACKNOWLEDGE, found.connection),
        "lasted": queries.lasted(found, timezone.now()),
    }
    return render(request, "alerts/detail.html", context, status=400 if form.errors else 200)


@require_POST
def reopen_alert(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Take an acknowledgement back."""
    found = get_object_or_404(Alert.objects.select_related("connection"), pk=alert_id)
    try:
        actions.reopen(Actor.from_request(request), found)
    except actions.NotNow as error:
        messages.error(request, str(error))
    return redirect("alert", alert_id)


@require_safe
def messages_sent(request: HttpRequest) -> HttpResponse:
    """List every message, newest first; ?state narrows. Context of `alerts/messages.html`: `page`, `wanted`, `states`,
    `channels` (what is set up)."""
    given = request.GET.get("state", "")
    wanted = given if given in MessageState.values else ""
    page = queries.message_page(wanted, request.GET.get("after", ""), choose_size(request.GET.get("size", "")))
    context = {"page": page, "wanted": wanted, "states": MessageState.choices, "channels": sorted(transports())}
    return render(request, "alerts/messages.html", context)


@require_safe
def message(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a message as it was sent. Context of `alerts/message.html`: `message`, `can_send_again`."""
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
    """Stop mails to the address that the link was made for; a GET asks first, as mail scanners open links.

    Context of `alerts/stop.html`: `address` (or None), `stopped`.
    """
    address = stopping.address_of(token)
    stopped = bool(address and request.method == "POST")
    if address and stopped:
        stopping.stop_mails(Actor.from_request(request), address)
    context = {"address": address, "stopped": stopped}
    return render(request, "alerts/stop.html", context, status=200 if address else 404)


@require_http_methods(["GET", "HEAD", "POST"])
def own_mails(request: HttpRequest) -> HttpResponse:
    """Let a person stop their own mails. Context of `alerts/own.html`: `wanted`, `address`, `told` (Message)."""
    user = person_of(request)
    if request.method == "POST":
        actions.set_own_mails(Actor.from_request(request), user, wanted=request.POST.get("mails") == "on")
        messages.success(request, "Kept.")
        return redirect("own-mails")
    stopped = Recipient.objects.filter(user=user, is_stopped=True).exists()
    told = Message.objects.filter(address__iexact=user.email)[:20] if user.email else []
    return render(request, "alerts/own.html", {"wanted": not stopped, "address": user.email, "told": told})
