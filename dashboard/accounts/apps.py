from django.apps import AppConfig

from dashboard.accounts.roles import PERMISSIONS
from dashboard.web.navigation import NavItem, register


class AccountsConfig(AppConfig):
    name = "dashboard.accounts"
    label = "accounts"

    def ready(self) -> None:
        from dashboard.accounts.door import PASSWORD_ACTS
        from dashboard.accounts.models import Grant
        from dashboard.audit.queries import offer  # its models can be imported now, and not before
        from dashboard.connections.held import counted_as

        offer(*PERMISSIONS, *PASSWORD_ACTS, "account.sign_out")
        counted_as(Grant, "role that a person has on it", "roles that people have on it")
        register(NavItem("Console", "People", "people", "i-people", place=30, verb="people.manage"))
