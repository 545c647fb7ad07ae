"""Forms of signing in, of people, and of a person's own preferences."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.http import HttpRequest

from dashboard.accounts.door import check_password
from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection

ROLES = (("", "None"), *((role.value, role.value) for role in Role))
THEMES = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))


class SignInForm(AuthenticationForm):
    """Name and password; one sentence for every failure, so that nobody learns which names exist."""

    def clean(self) -> dict[str, Any]:
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if name and password and self.request is not None:
            refusal = "That name and password do not match."
            self.user_cache = check_password(self.request, "account.sign_in", name, password, refusal=refusal)
        return self.cleaned_data


class PasswordForm(forms.Form):
    """The password of the person who is signed in, typed once more."""

    password = forms.CharField(strip=False, max_length=4096)

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request = request

    def clean_password(self) -> str:
        return _own_password(self._request, "account.prove", self.cleaned_data["password"])


class NewPasswordForm(PasswordChangeForm):
    """The password of now, and a new one twice."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request = request

    def clean_old_password(self) -> str:
        return _own_password(self._request, "account.password", self.cleaned_data["old_password"])


def _own_password(request: HttpRequest, act: str, password: str) -> str:
    check_password(request, act, request.user.get_username(), password, refusal="That is not your password.")
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
