"""What is wrong with the lake, as alerts tell it: findings, commits that wait too long, lifecycle rules that will bite,
and looks that did not happen."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from django.conf import settings
from django.db.models import Max, Q
from django.urls import reverse

from coordinator.models import Bucket, CommitStore, DeltaTable, ObservationPass, TableFinding, TtlMigration
from coordinator.observation.passes import looked_at
from coordinator.observation.settings_of_aws import judge_by_clock
from coordinator.protocols.deadlines import WARNED_BEFORE, moment_in_words, read_moment
from coordinator.protocols.titles import is_of_its_own, title_of
from coordinator.protocols.verdict import State
from coordinator.queries.next_step import next_step
from coordinator.repairs.guides import guide_of, in_words
from dashboard.alerts.problems import Problem, ProblemKind, ProblemSeverity, register_source
from dashboard.web.states import look_of
from dashboard.web.text import plain

FINDING = ProblemKind("table-finding", "A table is in trouble", "minutes", threshold=5, most=10_080)
PENDING = ProblemKind("pending-commit", "A commit is pending", "minutes", threshold=15, least=1, most=10_080)
UNBACKFILLED = ProblemKind(
    "unbackfilled-commit", "A commit is not backfilled", "minutes", threshold=60, least=1, most=10_080
)
SETTING = ProblemKind(
    "setting-finding", "A store or bucket is set up dangerously", "count", threshold=1, least=1, most=1
)
HAZARD = ProblemKind(
    "lifecycle-hazard", "A lifecycle rule will delete what is needed", "days", threshold=14, most=365, is_countdown=True
)
GONE = ProblemKind("table-gone", "A table vanished", "minutes", threshold=5, most=1_440)
LATE = ProblemKind("observation-late", "The lake was not looked at", "minutes", threshold=15, least=1, most=1_440)
MOST_WARNINGS = 3
GONE_TOLD_FOR = timedelta(days=7)
KINDS = (FINDING, PENDING, UNBACKFILLED, SETTING, HAZARD, GONE, LATE)
# Waiting commits have kinds of their own, with their own time to wait.
_WAITING = (State.PENDING, State.UNBACKFILLED, State.HEALTHY)
_SEVERITIES: Mapping[str, ProblemSeverity] = {
    State.BLOCKED: "critical", State.UNSAFE: "critical", State.ATTENTION: "warning"
}  # fmt: skip


_SETTING_STEPS: Mapping[str, str] = {
    "lifecycle-reaches-data": "Narrow the rule, or disable it, before it acts.",
    "lifecycle-reaches-log": "Narrow the rule, or disable it, before it acts.",
    "lifecycle-takes-old-version": "Bring the lost file back before the rule takes its old version.",
    "lifecycle-takes-unpublished": "Publish what waits, or disable the rule, before it acts.",
    "lifecycle-too-short": "Give temp files more days.",
    "ttl-off": "Turn TTL on for expireTime.",
    "ttl-on-commit-time": "Move TTL to expireTime.",
    "ttl-on-coordinator": "Turn TTL off.",
    "ttl-wrong-attribute": "Move TTL to expireTime.",
}
"""The first thing to do about a finding of a store or bucket."""
_DONE_ON_THE_TABLE = ("lifecycle-takes-old-version", "lifecycle-takes-unpublished")
_LABELS = {"bites_at": "Acts", "first_bites_at": "First acts", "ttl_attribute": "TTL goes by", "ttl_status": "TTL"}


def lake_problems(now: datetime) -> Iterator[Problem]:
    """Yield every problem of every connection."""
    yield from table_problems(now)
    yield from waiting_commits(now)
    yield from setting_problems(now)
    yield from gone_tables(now)
    yield from late_looks(now)


def table_problems(now: datetime) -> Iterator[Problem]:
    """Open findings; those that say no more than that a commit waits are left to `waiting_commits`."""
    found = TableFinding.objects.filter(resolved_at=None, table__gone_at=None).exclude(state__in=_WAITING)
    for finding in found.select_related("table__connection").order_by("pk").iterator(chunk_size=1_000):
        yield _of_finding(finding, now)


def waiting_commits(now: datetime) -> Iterator[Problem]:
    """Tables whose oldest accepted commit is not published, by its age."""
    waiting = DeltaTable.objects.filter(
        gone_at=None, oldest_unpublished_at__isnull=False, state__in=(State.PENDING, State.UNBACKFILLED)
    )
    found = TableFinding.objects.filter(resolved_at=None, state__in=(State.PENDING, State.UNBACKFILLED))
    by_table = {finding.table_id: finding for finding in found.filter(table__in=waiting).order_by("-version")}
    for table in waiting.select_related("connection").order_by("pk").iterator(chunk_size=1_000):
        since = table.oldest_unpublished_at
        if since is not None:
            yield _of_waiting(table, by_table.get(table.pk), since, now)


def setting_problems(now: datetime) -> Iterator[Problem]:
    """What diagnosis says of stores and buckets; a rule that will bite counts the days left.

    A failed reading ends nothing: what was found before still stands. Buckets are first judged anew where only the
    time has passed.
    """
    judge_by_clock(now)
    moving = frozenset(TtlMigration.objects.filter(finished_at=None).values_list("store", flat=True))
    troubled = Q(state_rank__lte=State.ATTENTION.rank) | Q(error_at__isnull=False)
    for store in CommitStore.objects.filter(troubled).select_related("connection").order_by("pk"):
        yield from _of_settings(store, "commit store", reverse("store", args=[store.pk]), now, store.pk in moving)
    for bucket in Bucket.objects.select_related("connection").order_by("pk"):
        yield from _of_settings(bucket, "bucket", reverse("bucket", args=[bucket.pk]), now)


def gone_tables(now: datetime) -> Iterator[Problem]:
    """Tables that were found gone within a week; whether somebody meant to drop them is not known."""
    gone = DeltaTable.objects.filter(gone_at__gt=now - GONE_TOLD_FOR)
    for table in gone.select_related("connection").order_by("pk").iterator(chunk_size=1_000):
        if table.gone_at is not None:
            yield _of_gone(table, table.gone_at, now)


def late_looks(now: datetime) -> Iterator[Problem]:
    """Connections whose last complete look is long ago."""
    looked = dict(
        ObservationPass.objects.filter(finished_at__isnull=False, error_code="")
        .values_list("connection")
        .annotate(at=Max("finished_at"))
        .order_by()
    )
    for connection in looked_at():
        since = looked.get(connection.pk, connection.created_at)
        yield Problem(
            kind=LATE.name,
            key=f"late:{connection.pk}",
            cause="observation-late",
            severity="critical",
            measure=(now - since).total_seconds() / 60,
            headline=f"{connection.name} has not been looked at since {since:%d %b %H:%M} UTC.",
            since=since,
            subject=connection.name,
            next_step="Look whether worker-aws runs, and whether it may still read.",
            meaning="Every page shows what was true then. Nothing that happened since is known.",
            advice="Look at the last passes and at worker-aws: is it running, and may it still read?",
            facts=(("Connection", connection.name), ("Looks every", f"{settings.OBSERVE_EVERY_SECONDS} s")),
            path=reverse("jobs"),
            link="See the jobs",
            connection=connection.pk,
        )


def looks_are_fresh(now: datetime) -> bool:
    """Say whether every connection was looked at within the time after which its absence is told."""
    return all(problem.measure < LATE.threshold for problem in late_looks(now))


def _of_finding(finding: TableFinding, now: datetime) -> Problem:
    table, guide = finding.table, guide_of(finding)
    own = f" {finding.state}" if is_of_its_own(finding.code, finding.state) else ""
    step = next_step(finding, guide)
    return Problem(
        kind=FINDING.name,
        key=f"finding:{finding.pk}",
        cause=f"{finding.code}{own} {table.connection.name}",
        severity=cast("ProblemSeverity", finding.severity),
        measure=(now - finding.opened_at).total_seconds() / 60,
        headline=f"{table.name}: {finding.summary}",
        since=finding.opened_at,
        title=title_of(finding.code, finding.state),
        subject=table.name,
        code=finding.code,
        next_step=step.says,
        meaning=finding.meaning,
        advice=in_words(guide.steps),
        warning=" ".join(f"{one.title}: {one.reason}" for one in guide.never[:MOST_WARNINGS]),
        facts=(("Table", table.uri), ("State", look_of(finding.state).word), *_evidence(finding.evidence)),
        path=step.path,
        link=step.label,
        connection=table.connection_id,
        uri=table.uri,
    )


def _of_waiting(table: DeltaTable, finding: TableFinding | None, since: datetime, now: datetime) -> Problem:
    is_pending = table.state == State.PENDING
    step = next_step(finding) if finding else None
    word = "pending" if is_pending else "not backfilled"
    return Problem(
        kind=(PENDING if is_pending else UNBACKFILLED).name,
        key=f"waiting:{table.pk}",
        cause=f"{word} {table.connection.name}",
        severity="warning",
        measure=(now - since).total_seconds() / 60,
        headline=f"{table.name} has a commit that is {word} since {since:%d %b %H:%M} UTC.",
        since=since,
        subject=table.name,
        code=finding.code if finding else "",
        next_step=step.says if step else "",
        meaning=table.summary,
        facts=(
            ("Table", table.uri),
            ("Published", str(table.published_version)),
            ("Accepted", str(table.accepted_version)),
        ),
        path=step.path if step else reverse("table", args=[table.pk]),
        link=step.label if step else "See the table",
        connection=table.connection_id,
        uri=table.uri,
    )


def _of_gone(table: DeltaTable, since: datetime, now: datetime) -> Problem:
    """Only what vanished together is one alert, so that acknowledging one table keeps no later one quiet."""
    accepted = table.accepted_version
    return Problem(
        kind=GONE.name,
        key=f"gone:{table.pk}",
        cause=f"table-gone {since:%Y-%m-%dT%H:%MZ} {table.connection.name}",
        severity="warning",
        measure=(now - since).total_seconds() / 60,
        headline=f"{table.name} vanished: it was found gone on {since:%d %b %H:%M} UTC.",
        since=since,
        subject=table.name,
        subject_path=reverse("table", args=[table.pk]),
        next_step="Unless it was dropped on purpose, see whether a backup has it.",
        meaning="Its log was empty then, and no commit store had an entry for it.",
        advice=(
            "Unless it was dropped on purpose, see whether a backup has it. "
            "This alert ends when the table is back, and after a week in any case."
        ),
        facts=(("Table", table.uri), *([] if accepted is None else [("Last accepted", str(accepted))])),
        path=reverse("table-backups", args=[table.pk]),
        link="See its backups",
        connection=table.connection_id,
        uri=table.uri,
    )


def _of_settings(
    thing: CommitStore | Bucket, what: str, path: str, now: datetime, is_moving: bool = False
) -> Iterator[Problem]:
    for finding in thing.facts.get("findings", []):
        evidence, code, state = finding["evidence"], finding["code"], finding["state"]
        bites_at = read_moment(evidence.get("first_bites_at") or evidence.get("bites_at"))
        severity = _severity_of_setting(state, bites_at, now)
        if severity is None:
            continue
        counts_down = bites_at is not None and not _is_unsafe_already(state, evidence)
        is_moving_ttl = is_moving and code.startswith("ttl-")
        step_at, link = _way(thing, code, evidence) or (path, f"See the {what}")
        yield Problem(
            kind=(HAZARD if counts_down else SETTING).name,
            key=f"{what}:{thing.pk}:{code}:{evidence.get('rule', '')}",
            cause=f"{code} {thing.connection.name}"[:200],
            severity=severity,
            measure=(bites_at - now).total_seconds() / 86_400 if bites_at and counts_down else 1,
            headline=f"The {what} {thing.name}: {finding['summary']}",
            since=thing.observed_at or now,
            title=title_of(code, state),
            subject=thing.name,
            subject_path=path,
            code=code,
            next_step="TTL is being moved to expireTime." if is_moving_ttl else _SETTING_STEPS.get(code, ""),
            meaning=finding["meaning"],
            facts=((what.capitalize(), thing.name), *_evidence(evidence)),
            path=step_at,
            link="See the move" if is_moving_ttl else link,
            connection=thing.connection_id,
            uri=f"s3a://{thing.name}/" if what == "bucket" else "",
        )


def _way(thing: CommitStore | Bucket, code: str, evidence: Mapping[str, Any]) -> tuple[str, str] | None:
    """The page on which the first step is taken and what its button says; None for the thing's own page."""
    if code.startswith("ttl-"):
        return reverse("store-ttl", args=[thing.pk]), "See its TTL"
    if code not in _DONE_ON_THE_TABLE:
        return None
    at = {"connection": thing.connection, "bucket": thing.name, "prefix": evidence.get("table")}
    table = DeltaTable.objects.filter(**at, gone_at=None).first()
    return (reverse("table", args=[table.pk]), "See the table") if table else None


def _is_unsafe_already(state: str, evidence: Mapping[str, Any]) -> bool:
    """Whether the setting is unsafe at any distance: what a rule takes of a published log or data is still needed."""
    return state == State.UNSAFE and "first_bites_at" in evidence


def _severity_of_setting(state: str, bites_at: datetime | None, now: datetime) -> ProblemSeverity | None:
    """None for what is no problem. A far deadline is none, and still told by a rule that looks further ahead."""
    is_far = bites_at is not None and bites_at - now > WARNED_BEFORE
    return _SEVERITIES.get(state) or ("info" if is_far else None)


def _evidence(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The plain values among the evidence, a few of them with their labels: the page has the rest."""
    told = [(key, value) for key, value in evidence.items() if isinstance(value, str | int | float | bool)]
    for key, value in told[:6]:
        at = read_moment(value) if key.endswith(("_at", "Time")) else None
        words = re.sub("(?<=[a-z])(?=[A-Z])", " ", key).replace("_", " ").capitalize()
        yield _LABELS.get(key, words), (moment_in_words(at) if at else plain(value))[:300]


register_source("lake", lake_problems, *KINDS)
