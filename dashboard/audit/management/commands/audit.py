"""`levee audit`: what was done, newest first; its export; and the proof that nobody has changed it since."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from dashboard.audit.chain import ChainVerification, verify
from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import OUTCOMES, AuditFilter, as_document, audit_page, export_rows
from dashboard.audit.sentences import says
from dashboard.commands import Failed, JsonCommand, UsageError, columns
from dashboard.web.exports import lines
from dashboard.web.states import look_of

LARGEST_LIMIT = 10_000


class Command(JsonCommand):
    """Print the newest entries, export all that match, or verify the chain of seals."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", nargs="?", default="list", choices=("list", "export", "verify"))
        parser.add_argument("--limit", type=int, default=50, help="how many entries of the list; 50 by default")
        parser.add_argument(
            "--action", default="", help="one action, such as lake.observe; lake. means all of the lake"
        )
        parser.add_argument("--actor", default="", help="one person's name, command or schedule")
        parser.add_argument("--outcome", default="", choices=OUTCOMES)
        parser.add_argument("--form", default="jsonl", choices=("csv", "jsonl"), help="of the export")
        parser.add_argument("--head", default="", help="a seal written down earlier, which the chain has to hold")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = AuditFilter(actor=options["actor"], action=options["action"], outcome=options["outcome"])
        if options["what"] == "verify":
            self._verify(options["head"].strip().lower())
        elif options["what"] == "export":
            self._export(wanted, options["form"])
        else:
            self._list(wanted, options["limit"])

    def _list(self, wanted: AuditFilter, limit: int) -> None:
        if not 1 <= limit <= LARGEST_LIMIT:
            raise UsageError(f"--limit is {limit}: write a number from 1 to {LARGEST_LIMIT:,}.")
        entries = audit_page(wanted, "", limit, whole=True).rows
        self.emit([as_document(entry) for entry in entries], _as_text(entries))

    def _export(self, wanted: AuditFilter, form: str) -> None:
        for part in lines(export_rows(wanted), form, "audit"):
            self.stdout.write(part, ending="")

    def _verify(self, head: str) -> None:
        verdict = verify(head)
        self.emit({"holds": verdict.holds, **asdict(verdict)}, _as_sentences(verdict))
        if not verdict.holds:
            raise Failed(f"The audit log does not hold: {verdict.breaks[0]}")


def _as_sentences(verdict: ChainVerification) -> list[str]:
    held = f"{verdict.sealed:,} entries hold, {verdict.unsealed:,} are not sealed yet."
    return [held, *(_proven(verdict.since, verdict.head) if verdict.since else []), *verdict.breaks]


def _proven(since: datetime, head: str) -> list[str]:
    return [
        f"Proven: none of them was changed, removed or slipped in since {since:%Y-%m-%d %H:%M} UTC by anybody who has "
        "the database and not LEVEE_AUDIT_SECRET.",
        "Not proven: that none was cut off at the end, that those of the last ten minutes are as they were, nor that "
        "each is the act of whom it names.",
        f"Newest seal: {head}. Keep it elsewhere: with --head it proves the first two as well, up to itself.",
    ]


def _as_text(entries: tuple[AuditEntry, ...]) -> list[str]:
    rows = [
        (
            f"{entry.at:%Y-%m-%d %H:%M:%S}",
            f"{entry.actor_name} {getattr(entry, 'shell', None) or ''}".strip(),
            says(entry),
            look_of(entry.outcome).word,
            entry.target_label,
            entry.detail,
        )
        for entry in entries
    ]
    return columns(("AT (UTC)", "WHO", "ACT", "OUTCOME", "TARGET", "DETAIL"), rows) if rows else ["No entries."]
