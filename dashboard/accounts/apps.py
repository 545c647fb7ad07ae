from django.apps import AppConfig

from dashboard.web.navigation import NavItem, register


class AccountsConfig(AppConfig):
    name = "dashboard.accounts"
    label = "accounts"

    def ready(self) -> None:
        from dashboard.accounts import search
        from dashboard.accounts.models import Grant
        from dashboard.connections.held import counted_as

        counted_as(Grant, "role that a person has on it", "roles that people have on it")
        register(NavItem("Console", "People", "people", "i-people", place=30, verb="people.manage"))
        for label, page in (("Preferences of your account", "me"), ("Your mails", "own-mails"), ("Glossary", "states")):
            register(NavItem("Console", label, page))
        search.in_modules.name("dashboard.accounts.people")
