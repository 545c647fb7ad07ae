"""The form of a plan. What it accepts is what `levee apply` accepts: the declaration reads its values."""

import re
from collections.abc import Iterable

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


class PlanForm(forms.Form):
    """One plan, in the keys of `[[plans]]`; an empty field is a key left out."""

    name = forms.CharField(max_length=64, help_text="a-z, 0-9 and dashes, such as warehouse-daily")
    connection = forms.ChoiceField(choices=_connections)
    vault_connection = forms.ChoiceField(
        required=False,
        choices=lambda: [("", "The same"), *_connections()],
        help_text="An account of its own keeps the copy from whoever can delete the source",
    )
    source = forms.CharField(max_length=1_100, help_text="A bucket or a prefix of it: s3a://acme-lake-prod/warehouse/")
    destination = forms.CharField(
        max_length=1_100,
        help_text="A pool, where what is there already is not copied again; with {date} in the bucket's name, a bucket "
        "for each snapshot",
    )
    inventory = forms.CharField(
        max_length=1_100,
        required=False,
        help_text="The folder that holds the dated deliveries of S3 Inventory; empty: the source is listed at each run",
    )
    minimum_lag_hours = forms.IntegerField(
        min_value=0,
        initial=24,
        help_text="How long before its start an inventory may already miss objects. S3 promises no limit",
    )
    engine = forms.ChoiceField(
        choices=Plan.Engine.choices, help_text="Spark copies where S3 Batch Operations does not exist"
    )
    selection = forms.ChoiceField(choices=Plan.Selection.choices)
    taken = forms.ChoiceField(choices=Plan.Files.choices, help_text="The log is always copied")
    window_hours = forms.IntegerField(min_value=0, initial=168)
    schedule = forms.CharField(max_length=64, required=False, help_text="Cron, UTC: 0 3 * * *; empty: by hand")
    objective_hours = forms.IntegerField(
        min_value=1,
        required=False,
        help_text="How far behind its source a table may be before somebody is told; empty: 36, or more where an "
        "inventory needs it",
    )
    cost_ceiling_usd = forms.FloatField(required=False, help_text="A run that is estimated above it waits for approval")
    daily = forms.IntegerField(min_value=0, required=False)
    weekly = forms.IntegerField(min_value=0, required=False)
    monthly = forms.IntegerField(min_value=0, required=False)
    storage_class = forms.ChoiceField(
        required=False,
        choices=[(one, one) for one in ("", *STORAGE_CLASSES[1:])],
        help_text="In cold classes the request price of small files outweighs their storage",
    )
    encryption_key = forms.CharField(
        max_length=256, required=False, help_text="ARN; empty: as the destination bucket encrypts by itself"
    )
    source_key = forms.CharField(max_length=256, required=False, help_text="ARN; only for the policies")
    role_arn = forms.CharField(
        max_length=256,
        required=False,
        help_text="ARN of a role in the backup account; the plan's policies page writes it",
    )
    evidence = forms.CharField(
        max_length=1_100,
        required=False,
        help_text="Empty: _levee/ in the destination bucket. A bucket for each snapshot needs another place",
    )
    notify = forms.CharField(max_length=2_000, required=False, help_text="With commas between; besides the alert rules")
    paused = forms.BooleanField(required=False)

    def offer(self, names: Iterable[str]) -> None:
        """Offer connections of these names alone; others are as good as absent from the page."""
        listed = [(name, name) for name in names]
        self.fields["connection"].widget.choices = listed
        self.fields["vault_connection"].widget.choices = [("", "The same"), *listed]

    def values(self) -> dict[str, object]:
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


def form_of(plan: Plan) -> PlanForm:
    """The form of a stored plan, as it stands."""
    values = {name: getattr(plan, name) for name in PlanForm.base_fields if name not in {*PERIODS, "notify", "taken"}}
    values |= {"connection": plan.connection.name, "vault_connection": plan.vault_connection.name}
    values |= {period: plan.keep.get(period) for period in PERIODS}
    return PlanForm(initial={**values, "taken": plan.files, "notify": ", ".join(plan.notify)})
