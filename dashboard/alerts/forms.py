"""Forms of alerts: what people type is checked here, and every complaint is a sentence."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.validators import validate_email
from django.utils import timezone

from dashboard.alerts.models import Recipient, RecipientKind, Rule
from dashboard.alerts.problems import SEVERITIES, ProblemKind
from dashboard.alerts.webhook import NotAllowedThere, check_url
from dashboard.connections.models import Connection

ENDS = (("1", "for an hour"), ("4", "for 4 hours"), ("24", "for a day"), ("168", "for a week"), ("720", "for 30 days"))
MOST_HOURS = 720
_SELECT = forms.Select(attrs={"class": "input"})


class AcknowledgeForm(forms.Form):
    """Why nobody is to be reminded, and for how long."""

    reason = forms.CharField(max_length=500)
    hours = forms.ChoiceField(choices=ENDS)

    @property
    def length(self) -> str:
        return dict(ENDS)[self.cleaned_data["hours"]]

    @property
    def until(self) -> Any:
        return timezone.now() + timedelta(hours=int(self.cleaned_data["hours"]))


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """A rule of one kind; a new one is narrower than the default one, and has a name."""

    least_severity = forms.ChoiceField(choices=[(severity, severity) for severity in SEVERITIES], widget=_SELECT)
    remind_hours = forms.IntegerField(min_value=0, max_value=MOST_HOURS)
    escalate_hours = forms.IntegerField(min_value=0, max_value=MOST_HOURS)
    connection = forms.ModelChoiceField(
        Connection.objects.all(), required=False, empty_label="Every connection", widget=_SELECT
    )

    class Meta:
        model = Rule
        fields = ["name", "threshold", "least_severity", "is_enabled", "remind_hours", "escalate_hours", "quiet_from",
                  "quiet_until", "connection", "prefix", "plan", "recipients", "escalate_to"]  # fmt: skip
        widgets = {"recipients": forms.CheckboxSelectMultiple, "escalate_to": forms.CheckboxSelectMultiple}
        error_messages = {"name": {"unique": "There is a rule of this name already."}}

    def __init__(self, *args: Any, kind: ProblemKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        self.is_new = self.instance.pk is None
        if not self.is_new:
            del self.fields["name"]

    def clean_threshold(self) -> float:
        threshold = float(self.cleaned_data["threshold"])
        if not self.kind.least <= threshold <= self.kind.most:
            least, most = f"{self.kind.least:g}", f"{self.kind.most:,g}"
            raise forms.ValidationError(f"{threshold:g} makes no sense here: write {least} to {most} {self.kind.unit}.")
        return threshold

    def clean_prefix(self) -> str:
        prefix = str(self.cleaned_data["prefix"])
        if prefix and not prefix.startswith("s3a://"):
            raise forms.ValidationError("Write the prefix as s3a://bucket/path/.")
        return prefix

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        if bool(cleaned.get("quiet_from")) != bool(cleaned.get("quiet_until")):
            raise forms.ValidationError("Quiet hours have a beginning and an end: give both or neither.")
        if cleaned.get("escalate_hours") and not cleaned.get("escalate_to"):
            raise forms.ValidationError("Choose who is notified when nobody acknowledges it.")
        if self.is_new and not (cleaned.get("connection") or cleaned.get("prefix") or cleaned.get("plan")):
            raise forms.ValidationError("Say where it holds: a connection, a prefix or a plan.")
        return cleaned


class RecipientForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """Somebody or something to be told."""

    kind = forms.ChoiceField(choices=RecipientKind.choices, widget=_SELECT)
    user = forms.ModelChoiceField(
        User.objects.filter(is_active=True).order_by("username"), required=False, widget=_SELECT
    )
    digest = forms.ChoiceField(choices=Recipient.Digest.choices, required=False, widget=_SELECT)

    class Meta:
        model = Recipient
        fields = ["name", "kind", "user", "address", "digest"]
        help_texts = {"address": "Not for a person. A webhook's origin has to be listed in LEVEE_WEBHOOK_ORIGINS."}
        error_messages = {"name": {"unique": "There is a recipient of this name already."}}

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        kind, address = cleaned.get("kind"), cleaned.get("address", "")
        if kind == RecipientKind.PERSON:
            if cleaned.get("user") is None:
                self.add_error("user", "Say which person.")
            address = ""
        try:
            if kind == RecipientKind.ADDRESS:
                validate_email(address)
            elif kind != RecipientKind.PERSON:
                check_url(address)
        except forms.ValidationError:
            self.add_error("address", "This is no mail address: write somebody@example.com.")
        except NotAllowedThere as error:
            self.add_error("address", str(error))
        return {**cleaned, "address": address, "digest": cleaned.get("digest") or Recipient.Digest.NEVER}
