"""Forms of signing in and of a person's own preferences."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

THEMES = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))


class SignInForm(AuthenticationForm):
    """Name and password; one sentence for every failure, so that nobody learns which names exist."""

    error_messages = {
        "invalid_login": "That name and password do not match.",
        "inactive": "That name and password do not match.",
        "paused": "Too many tries. Wait %(minutes)d minutes, or ask an admin for a new password.",
    }

    def __init__(self, *args: Any, is_paused: bool = False, pause_minutes: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_paused = is_paused
        self._pause_minutes = pause_minutes

    def clean(self) -> dict[str, Any]:
        if self._is_paused:
            raise forms.ValidationError(
                self.error_messages["paused"], code="paused", params={"minutes": self._pause_minutes}
            )
        return super().clean()


class ThemeForm(forms.Form):
    """The person's choice of light and dark."""

    theme = forms.ChoiceField(choices=THEMES)
