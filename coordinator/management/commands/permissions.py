"""`levee permissions`: the policy that each feature needs, and with `--check` which permissions are held."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import CommandParser

from coordinator.queries.connections import FeatureLines, feature_lines, role_trust
from coordinator.settings.actions import check_permissions
from coordinator.settings.iam_names import NEW_STORES
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, JsonCommand, UsageError
from dashboard.connections.lookup import only_connection
from dashboard.connections.models import Connection
from dashboard.jobs.models import JobState

PREFIX = re.compile(r"[A-Za-z0-9_.-]{1,250}")
TRUST_TITLE = "Trust of the connection's role"
WORDS = {"yes": "Held", "no": "Missing", "unknown": "Not known"}


class Command(JsonCommand):
    """Print IAM policies with the connection's real names; `--check` asks AWS and changes nothing."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--connection", metavar="NAME", help="where several are declared")
        about = f"how the names of new stores begin ({NEW_STORES})"
        parser.add_argument("--new-stores", metavar="PREFIX", default=NEW_STORES, help=about)
        parser.add_argument("--check", action="store_true", help="find out which permissions are held, one by one")

    def handle(self, *args: Any, **options: Any) -> None:
        connection = only_connection(options["connection"])
        found = self._check(connection) if options["check"] else {}
        features = feature_lines(connection, found, _prefix(options["new_stores"]))
        trust = role_trust(connection)
        document = {"connection": connection.name, "features": features, "trust": trust, **found}
        self.emit(document, [*_as_text(features), *(("", TRUST_TITLE, trust) if trust else ())])
        missing = sum(feature.missing for feature in features)
        if missing:
            raise Failed(f"{missing:,} permission{'s are' if missing > 1 else ' is'} missing: see above.")

    def _check(self, connection: Connection) -> Mapping[str, object]:
        job = check_permissions(Actor.command(), connection, here=True)
        if job.state != JobState.SUCCEEDED:
            raise Failed(f"The permissions could not be checked: {job.error_text or job.message}")
        return {key: job.result[key] for key in ("checked_at", "identity", "permissions")}


def _prefix(text: str) -> str:
    if not PREFIX.fullmatch(text):
        raise UsageError(f"{text!r} is no beginning of a table's name: letters, digits, hyphens, dots, underscores.")
    return text


def _as_text(features: list[FeatureLines]) -> Iterator[str]:
    for feature in features:
        yield from ("", feature.title)
        if not feature.lines:
            yield feature.policy
        for line in feature.lines:
            reason = f": {line['reason']}" if line["reason"] else ""
            yield f"  {WORDS[line['held']]:10} {line['action']} on {line['resource']}{reason}"
