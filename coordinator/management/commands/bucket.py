"""`levee bucket NAME [ACTION]`: one bucket, and what would be done to its rules and temp files, done with `--apply`."""

from typing import Any

from django.core.management.base import CommandParser
from django.template.loader import render_to_string
from django.utils import timezone

from coordinator.contract import BucketJson
from coordinator.documents import bucket_document
from coordinator.lookup import find_bucket
from coordinator.models import Bucket
from coordinator.queries.deadlines import deadlines_of
from coordinator.settings.requests import (
    ChangeRequest,
    RemoveTempRule,
    SetMultipartRule,
    SetTempRule,
    Sweep,
)
from coordinator.settings.views_of import lifecycle_view
from coordinator.settings_commands import SettingsCommand, or_usage_error
from coordinator.settings_forms import sweep_before
from dashboard.commands import Options, UsageError

ACTIONS = ("tmp-rule", "multipart-rule", "sweep")
DEFAULT_DAYS = {"tmp-rule": 3, "multipart-rule": 7, "sweep": 3}


class Command(SettingsCommand):
    """Without an action print what the database holds of a bucket; with one plan a change, from a fresh reading."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name")
        parser.add_argument("action", nargs="?", choices=ACTIONS, help="nothing: show the bucket")
        parser.add_argument("--connection", metavar="NAME", help="where several connections see a bucket of this name")
        parser.add_argument("--prefix", metavar="P", help="tmp-rule, sweep: the table's key prefix")
        parser.add_argument("--days", type=int, metavar="N", help="after how many days; 3, for uploads 7")
        parser.add_argument("--before", metavar="MOMENT", help="sweep: this moment in place of days, ISO 8601")
        parser.add_argument("--remove", action="store_true", help="tmp-rule: take the rule away")
        parser.add_argument("--rule", metavar="ID", help="with --remove: the rule's name, in place of a prefix")
        self.add_change_arguments(parser, "the name, where a change cannot be undone")

    def handle(self, *args: Any, **options: Any) -> None:
        bucket = find_bucket(options["name"], options["connection"])
        if options["action"] is None:
            self._show(bucket)
            return
        with or_usage_error():
            self.change(bucket.connection, _change(bucket, options), options)

    def _show(self, bucket: Bucket) -> None:
        document: BucketJson = {**bucket_document(bucket), "lifecycle": lifecycle_view(bucket)}
        context = {"told": document, "deadlines": deadlines_of(bucket)}
        self.emit(document, render_to_string("coordinator/bucket.txt", context))


def _change(bucket: Bucket, options: Options) -> ChangeRequest:
    action, prefix = options["action"], (options["prefix"] or "").strip("/")
    days = DEFAULT_DAYS[action] if options["days"] is None else options["days"]
    if action == "multipart-rule":
        return SetMultipartRule(bucket.name, days)
    if action == "sweep":
        return Sweep(bucket.name, options["before"] or sweep_before(days, timezone.now()), prefix)
    if options["remove"]:
        return RemoveTempRule(bucket.name, options["rule"] or _rule_on(bucket, options["prefix"]))
    if options["prefix"] is None:
        raise UsageError("Name the table's key prefix: --prefix P.")
    return SetTempRule(bucket.name, prefix, days)


def _rule_on(bucket: Bucket, prefix: str | None) -> str:
    """The id of the rule on one table's temp files, as last read. Raises UsageError."""
    if prefix is None:
        raise UsageError("Name the rule to remove: --rule ID, or the table's --prefix P.")
    folder = f"{prefix.strip('/')}/_delta_log/.tmp/".lstrip("/")
    rules = [rule for rule in lifecycle_view(bucket).rules if rule.is_temp_rule]
    found = [rule.id for rule in rules if f"{rule.prefix.removesuffix('/')}/" == folder]
    if not found:
        raise UsageError(f"{bucket.name} has no rule on {folder} as last read: `levee observe` reads its rules anew.")
    return found[0]
