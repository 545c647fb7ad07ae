from django.apps import AppConfig

from dashboard.web.navigation import NavItem, register


class AccountsConfig(AppConfig):
    name = "dashboard.accounts"
    label = "accounts"

    def ready(self) -> None:
        register(NavItem("Console", "People", "people", "i-people", place=30, verb="people.manage"))
