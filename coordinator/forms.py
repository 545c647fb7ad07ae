"""What the lists accept in their address, checked."""

from typing import Any

from django import forms

from coordinator.models import MECHANISM_WORDS
from coordinator.protocols.verdict import State
from coordinator.queries.table_list import GONE, UNPUBLISHED, TableFilter
from dashboard.web.states import look_of

MOST_PICKED = 500
_STATES = [(state.value, look_of(state).word) for state in State]
_MECHANISMS = [("", "Any mechanism"), *((mechanism.value, word) for mechanism, word in MECHANISM_WORDS.items())]


class _Numbers(forms.Field):
    """Primary keys, one for each field of the name; what is no number, or beyond MOST_PICKED, is refused."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> tuple[int, ...]:
        given = list(value or [])
        if len(given) > MOST_PICKED or not all(text.isascii() and text.isdigit() and len(text) < 19 for text in given):
            raise forms.ValidationError(f"Name up to {MOST_PICKED} tables by their numbers.")
        return tuple(sorted({int(text) for text in given}))


class TableFilterForm(forms.Form):
    """Filters of the tables list. Every field may be missing; `all` is the same as no state."""

    state = forms.ChoiceField(
        required=False, choices=[("all", "All"), *_STATES, (UNPUBLISHED, "Not published"), (GONE, "Gone")]
    )
    q = forms.CharField(required=False, max_length=1_100)
    mechanism = forms.ChoiceField(required=False, choices=_MECHANISMS)
    bucket = forms.CharField(required=False, max_length=63)
    connection = forms.CharField(required=False, max_length=64)
    plan = forms.CharField(required=False, max_length=64)
    store = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    table = _Numbers(required=False)

    def chosen(self) -> TableFilter:
        """The filter; call it on a valid form only."""
        values: dict[str, Any] = dict(self.cleaned_data)
        values["only"] = values.pop("table")
        if values["state"] == "all":
            values["state"] = ""
        return TableFilter(**values)

    def refusals(self) -> list[str]:
        """One sentence for each field that cannot be read."""
        return [f"{field}: {' '.join(str(error) for error in errors)}" for field, errors in self.errors.items()]
