"""The form of a plan. What it accepts is what `levee apply` accepts: the declaration reads its values."""

import re
from collections.abc import Iterable
from typing import Any

from django import forms

from backups import inventory_setup
from backups.declaration import STORAGE_CLASSES
from backups.models import Plan
from dashboard.connections.models import Connection
from dashboard.declaration.reading import DeclarationError

PERIODS = ("daily", "weekly", "monthly")
_PLACE = re.compile(r"plans\[0\](?:\.keep)?\.(\w+):? ?(.*)", re.DOTALL)


def _connections() -> list[tuple[str, str]]:
    return [(name, name) for name in Connection.objects.values_list("name", flat=True)]


def _connections_or_same() -> list[tuple[str, str]]:
    return [("", "The same"), *_connections()]


class PlanForm(forms.Form):
    """One plan, in the keys of `[[plans]]`; an empty field is a key left out."""

    name = forms.CharField(max_length=64)
    connection = forms.ChoiceField(choices=_connections)
    vault_connection = forms.ChoiceField(required=False, choices=_connections_or_same)
    source = forms.CharField(max_length=1_100)
    destination = forms.CharField(max_length=1_100)
    inventory = forms.CharField(max_length=1_100, required=False)
    minimum_lag_hours = forms.IntegerField(min_value=0, initial=24)
    engine = forms.ChoiceField(choices=Plan.Engine.choices)
    selection = forms.ChoiceField(choices=Plan.Selection.choices)
    taken = forms.ChoiceField(choices=Plan.Files.choices)
    window_hours = forms.IntegerField(min_value=0, initial=168)
    schedule = forms.CharField(max_length=64, required=False)
    objective_hours = forms.IntegerField(min_value=1, initial=36)
    cost_ceiling_usd = forms.FloatField(required=False)
    daily = forms.IntegerField(min_value=0, required=False)
    weekly = forms.IntegerField(min_value=0, required=False)
    monthly = forms.IntegerField(min_value=0, required=False)
    storage_class = forms.ChoiceField(required=False, choices=[(one, one) for one in ("", *STORAGE_CLASSES[1:])])
    encryption_key = forms.CharField(max_length=256, required=False)
    source_key = forms.CharField(max_length=256, required=False)
    role_arn = forms.CharField(max_length=256, required=False)
    evidence = forms.CharField(max_length=1_100, required=False)
    notify = forms.CharField(max_length=2_000, required=False)
    paused = forms.BooleanField(required=False)

    def offer(self, names: Iterable[str]) -> None:
        """Offer connections of these names alone; others are as good as absent from the page."""
        listed = [(name, name) for name in names]
        self.fields["connection"].widget.choices = listed
        self.fields["vault_connection"].widget.choices = [("", "The same"), *listed]

    def values(self) -> dict[str, Any]:
        """The plan's keys as the declaration reads them; call it on a valid form only."""
        given = dict(self.cleaned_data)
        keep = {period: given.pop(period) for period in PERIODS}
        people = [one.strip() for one in given.pop("notify").replace(",", "\n").splitlines() if one.strip()]
        given["files"] = given.pop("taken")
        kept = {key: value for key, value in given.items() if value not in ("", None)}
        return {**kept, "keep": {period: count for period, count in keep.items() if count}, "notify": people}

    def refuse(self, error: DeclarationError) -> None:
        """Show what the declaration says beside the field that it names."""
        found = _PLACE.fullmatch(str(error))
        named = {"files": "taken"}.get(found[1], found[1]) if found else ""
        field, said = (named, found[2]) if found and named in self.fields else (None, str(error))
        self.add_error(field, said[:1].upper() + said[1:])


class InventoryForm(forms.Form):
    """How S3 is to list a plan's source."""

    format = forms.ChoiceField(choices=[(one, one) for one in inventory_setup.FORMATS])
    frequency = forms.ChoiceField(choices=[(one, one) for one in inventory_setup.FREQUENCIES])
    replace = forms.BooleanField(required=False)

    def choice(self) -> inventory_setup.Choice:
        """What was chosen; call it on a valid form only."""
        return inventory_setup.Choice(self.cleaned_data["format"], self.cleaned_data["frequency"])


def form_of(plan: Plan) -> PlanForm:
    """The form of a stored plan, as it stands."""
    values = {name: getattr(plan, name) for name in PlanForm.base_fields if name not in {*PERIODS, "notify", "taken"}}
    values |= {"connection": plan.connection.name, "vault_connection": plan.vault_connection.name}
    values |= {period: plan.keep.get(period) for period in PERIODS}
    return PlanForm(initial={**values, "taken": plan.files, "notify": ", ".join(plan.notify)})
