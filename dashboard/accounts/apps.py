from django.apps import AppConfig

from dashboard.accounts.roles import PERMISSIONS
from dashboard.web.navigation import NavItem, register


class AccountsConfig(AppConfig):
    name = "dashboard.accounts"
    label = "accounts"

    def ready(self) -> None:
        from dashboard.audit.queries import offer  # its models can be imported now, and not before

        offer(*PERMISSIONS, "account.sign_in", "account.sign_out")
        register(NavItem("Console", "People", "people", "i-people", place=30, verb="people.manage"))
