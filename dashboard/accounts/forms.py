"""Forms of signing in, of people, and of a person's own preferences."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest

from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection


def is_paused(request: HttpRequest) -> bool:
    """Say whether django-axes has refused this request's sign-in without looking at the password."""
    return bool(getattr(request, "axes_locked_out", False))


ROLES = (("", "None"), *((role.value, role.value) for role in Role))
THEMES = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))


class SignInForm(AuthenticationForm):
    """Name and password; one sentence for every failure, so that nobody learns which names exist."""

    error_messages = {
        "invalid_login": "That name and password do not match.",
        "inactive": "That name and password do not match.",
        "paused": "Too many tries. Wait %(minutes)d minutes, or ask an admin for a link to a new password.",
    }

    def get_invalid_login_error(self) -> forms.ValidationError:
        if self.request is not None and is_paused(self.request):
            minutes = settings.AXES_COOLOFF_TIME.total_seconds() // 60
            return forms.ValidationError(self.error_messages["paused"], code="paused", params={"minutes": minutes})
        return super().get_invalid_login_error()


class PasswordForm(forms.Form):
    """The password of the person who is signed in, typed once more."""

    password = forms.CharField(strip=False, max_length=4096)

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request = request

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        known = authenticate(self._request, username=self._request.user.get_username(), password=password)
        if is_paused(self._request):
            raise forms.ValidationError("Too many tries. Wait a quarter of an hour.", code="paused")
        if known is None or known.pk != self._request.user.pk:
            raise forms.ValidationError("That is not your password.", code="invalid")
        return password


class PersonForm(forms.Form):
    """A person as an admin sees one: address for mails, the role everywhere, and roles on single connections."""

    email = forms.EmailField(required=False, max_length=254)
    role = forms.ChoiceField(required=False, choices=ROLES)
    is_active = forms.BooleanField(required=False)

    def __init__(self, *args: Any, connections: Iterable[Connection], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.connections = tuple(connections)
        for connection in self.connections:
            self.fields[_grant_field(connection)] = forms.ChoiceField(
                required=False, choices=ROLES, label=connection.name
            )

    @property
    def grant_fields(self) -> list[forms.BoundField]:
        return [self[_grant_field(connection)] for connection in self.connections]

    @property
    def chosen_role(self) -> Role | None:
        return Role(self.cleaned_data["role"]) if self.cleaned_data["role"] else None

    @property
    def chosen_grants(self) -> dict[int, Role]:
        """Return the roles by the connection's number; connections without one are left out."""
        chosen = {connection.pk: self.cleaned_data[_grant_field(connection)] for connection in self.connections}
        return {number: Role(role) for number, role in chosen.items() if role}


class NewPersonForm(PersonForm):
    """A person who is not there yet."""

    name = forms.CharField(max_length=150)


def _grant_field(connection: Connection) -> str:
    return f"on_{connection.pk}"


class ThemeForm(forms.Form):
    """The person's choice of light and dark."""

    theme = forms.ChoiceField(choices=THEMES)
