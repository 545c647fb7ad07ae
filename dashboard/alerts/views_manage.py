"""Rules and recipients: everybody may read them, admins change them."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.alerts import actions, queries
from dashboard.alerts.forms import NewRuleForm, RecipientForm, RuleForm, rule_kind
from dashboard.alerts.models import Recipient, Rule
from dashboard.alerts.problems import ProblemKind, kind_named, kinds


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """List the rules by kind. Context of `alerts/rules.html`: `groups` (Kind and its rules), `can_manage`."""
    listed = list(queries.rules())
    groups = [(kind, [rule for rule in listed if rule.kind == kind.name]) for kind in kinds()]
    return render(request, "alerts/rules.html", {"groups": groups, "can_manage": _may(request)})


@require_http_methods(["GET", "HEAD", "POST"])
def rule(request: HttpRequest, pk: int) -> HttpResponse:
    """Show and change a rule. Context of `alerts/rule.html`: `rule`, `kind`, `form`, `can_manage`, `is_default`."""
    found = get_object_or_404(Rule, pk=pk)
    kind = kind_named(found.kind)
    if kind is None:
        raise Http404
    form = RuleForm(request.POST if request.method == "POST" else None, kind=kind, initial=_as_initial(found))
    if request.method == "POST" and form.is_valid():
        actions.save_rule(Actor.from_request(request), found, form.rule_values())
        messages.success(request, f"{found.name} is changed.")
        return redirect("alert-rules")
    return _rule_page(request, form, kind, found)


@require_http_methods(["GET", "HEAD", "POST"])
def new_rule(request: HttpRequest, kind: str) -> HttpResponse:
    """Add a narrower rule of a kind. Context of `alerts/rule.html`: as above, `rule` is None."""
    known = rule_kind(kind)
    if known is None:
        raise Http404
    require_manager(request)
    initial = {"threshold": known.threshold, "least_severity": "warning", "is_enabled": True, "remind_hours": 4,
               "escalate_hours": 0}  # fmt: skip
    form = NewRuleForm(request.POST if request.method == "POST" else None, kind=known, initial=initial)
    if request.method == "POST" and form.is_valid():
        draft = Rule(kind=known.name, name=form.cleaned_data["name"])
        actions.save_rule(Actor.from_request(request), draft, form.rule_values())
        return redirect("alert-rules")
    return _rule_page(request, form, known, None)


@require_POST
def rule_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a rule that somebody added; the default ones are switched off instead."""
    found = get_object_or_404(Rule, pk=pk)
    if _is_default(found):
        require_manager(request)
        messages.error(request, "This is the rule for everything of its kind: switch it off instead.")
        return redirect("alert-rule", pk)
    actions.delete_rule(Actor.from_request(request), found)
    return redirect("alert-rules")


@require_http_methods(["GET", "HEAD", "POST"])
def recipients(request: HttpRequest) -> HttpResponse:
    """List recipients; a POST adds one. Context of `alerts/recipients.html`: `recipients`, `form`, `can_manage`."""
    form = RecipientForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        require_manager(request)
        if form.is_valid():
            data = form.cleaned_data
            if Recipient.objects.filter(name=data["name"]).exists():
                form.add_error("name", f"There is a recipient called {data['name']} already.")
            else:
                fields = {name: data[name] for name in ("name", "kind", "user", "address", "digest")}
                draft = Recipient(**fields)
                actions.save_recipient(Actor.from_request(request), draft)
                return redirect("alert-recipients")
    context = {"recipients": queries.recipients(), "form": form, "can_manage": _may(request)}
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


def _rule_page(request: HttpRequest, form: RuleForm, kind: ProblemKind, rule: Rule | None) -> HttpResponse:
    context = {
        "form": form,
        "kind": kind,
        "rule": rule,
        "can_manage": _may(request),
        "is_default": rule is not None and _is_default(rule),
        "recipients": Recipient.objects.all(),
    }
    return render(request, "alerts/rule.html", context, status=400 if form.errors else 200)


def _as_initial(rule: Rule) -> dict[str, Any]:
    names = ("threshold", "least_severity", "is_enabled", "remind_hours", "escalate_hours", "quiet_from",
             "quiet_until", "connection", "plan")  # fmt: skip
    to = {name: list(getattr(rule, name).all()) for name in ("recipients", "escalate_to")}
    return {**{name: getattr(rule, name) for name in names}, "uri_prefix": rule.prefix, **to}
