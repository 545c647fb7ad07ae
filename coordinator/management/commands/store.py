"""`levee store NAME [ACTION]`: one commit store, and what would be done to it, done with `--apply`."""

from typing import Any

from django.core.management.base import CommandParser
from django.template.loader import render_to_string

from coordinator.contract import MigrationDocument, StoreJson, TtlDocument
from coordinator.documents import moment, store_document
from coordinator.lookup import find_store
from coordinator.models import CommitStore
from coordinator.protocols.stores import COMMIT_COORDINATOR, LOG_STORE
from coordinator.settings.actions import cancel_ttl_migration
from coordinator.settings.requests import TTL_CHANGES, ChangeCapacity, ChangeProtection, ChangeRecovery, ChangeRequest
from coordinator.settings.views_of import ExpiryFacts, capacity_advice, expiry_facts
from coordinator.settings_commands import SettingsCommand, or_usage_error
from coordinator.settings_forms import store_change, store_creation
from dashboard.accounts.actor import Actor
from dashboard.commands import Options, UsageError, document_of
from dashboard.connections.lookup import only_connection

ACTS = {
    "capacity": ChangeCapacity.ACT,
    "protect": ChangeProtection.ACT,
    "recovery": ChangeRecovery.ACT,
    **{act: act for act in TTL_CHANGES},
}
ACTIONS = ("create", *ACTS, "stop-migration")


class Command(SettingsCommand):
    """Without an action print what the database holds of a store; with one plan a change, from a fresh reading."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name")
        parser.add_argument("action", nargs="?", choices=ACTIONS, help="nothing: show the store")
        parser.add_argument("--connection", metavar="NAME", help="where several connections have a store of this name")
        parser.add_argument("--kind", choices=(LOG_STORE, COMMIT_COORDINATOR), default=LOG_STORE, help="create")
        parser.add_argument("--on-demand", action="store_true", help="create, capacity: pay for each request")
        parser.add_argument("--read", type=int, metavar="UNITS", help="create, capacity: reads a second")
        parser.add_argument("--write", type=int, metavar="UNITS", help="create, capacity: writes a second")
        parser.add_argument("--no-protection", action="store_true", help="create: without deletion protection")
        parser.add_argument("--no-recovery", action="store_true", help="create: without point-in-time recovery")
        parser.add_argument("--no-ttl", action="store_true", help="create: a log store without TTL")
        parser.add_argument("--encryption", default="", metavar="KEY", help="create: aws, or the ARN of a KMS key")
        parser.add_argument("--tag", action="append", default=[], metavar="KEY=VALUE", help="create; may be repeated")
        parser.add_argument("--on", action="store_true", help="protect, recovery: switch it on")
        parser.add_argument("--off", action="store_true", help="protect, recovery: switch it off")
        self.add_change_arguments(parser, "the name, where a change cannot be undone")

    def handle(self, *args: Any, **options: Any) -> None:
        name, action = options["name"], options["action"]
        if action is None:
            self._show(find_store(name, options["connection"]))
        elif action == "stop-migration":
            self._stop(find_store(name, options["connection"]), options["apply"])
        else:
            named = options["connection"]
            connection = only_connection(named) if action == "create" else find_store(name, named).connection
            with or_usage_error():
                self.change(connection, _change(name, action, options), options)

    def _show(self, store: CommitStore) -> None:
        advice, expiry = capacity_advice(store), expiry_facts(store)
        document: StoreJson = {**store_document(store), "capacity": advice, "ttl": _ttl_document(expiry)}
        context = {"store": store, "advice": advice, "expiry": expiry}
        self.emit(document, render_to_string("coordinator/store.txt", context))

    def _stop(self, store: CommitStore, apply: bool) -> None:
        migration = store.ttl_migrations.filter(finished_at=None).select_related("store__connection").first()
        stopped = bool(migration and apply and cancel_ttl_migration(Actor.command(), migration))
        phase = migration.phase if migration else None
        said = "TTL of this store is not being moved."
        if migration:
            said = (
                "Stopped: what DynamoDB was asked for goes on." if stopped else "Would stop the move. --apply does it."
            )
        self.emit({"phase": phase, "stopped": stopped}, said)


def _change(name: str, action: str, options: Options) -> ChangeRequest:
    fields = _fields(action, options)
    if action == "create":
        return store_creation({**fields, "name": name})
    if action in ("protect", "recovery") and options["on"] == options["off"]:
        raise UsageError("Say --on or --off.")
    return store_change(name, {**fields, "act": ACTS[action]})


def _fields(action: str, options: Options) -> dict[str, str]:
    """The options as the forms of the pages have them."""
    units = {name: str(options[name]) for name in ("read", "write") if options[name] is not None}
    on_demand = options["on_demand"] or (action == "create" and not units)
    if action in ("capacity", "create") and (on_demand == bool(units) or len(units) == 1):
        raise UsageError("Say --on-demand, or both --read UNITS and --write UNITS.")
    chosen = {name: not options[f"no_{name}"] for name in ("protection", "recovery", "ttl")} | {"on": options["on"]}
    key = options["encryption"]
    return {
        **units,
        **{name: "yes" for name, is_chosen in chosen.items() if is_chosen},
        "kind": options["kind"],
        "billing": "on_demand" if on_demand else "provisioned",
        "encryption": key if key in ("", "aws") else "key",
        "key": key,
        "tags": "\n".join(options["tag"]),
    }


def _ttl_document(expiry: ExpiryFacts) -> TtlDocument:
    migration = expiry.migration
    moved = document_of(MigrationDocument, migration, phase_at=moment(migration.phase_at)) if migration else None
    return document_of(
        TtlDocument,
        expiry,
        status=expiry.ttl_status,
        attribute=expiry.ttl_attribute,
        since=moment(expiry.since),
        migration=moved,
        **expiry.counts,
    )
