"""What can be wrong with Levee itself: workers, queues, mails, jobs that people asked for, and guessed passwords.

The dead man's switch: while all of that is well, a URL is called; who listens there misses the call.
"""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

import urllib3
from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from urllib3.exceptions import HTTPError

from dashboard.accounts.door import PASSWORD_ACTS
from dashboard.alerts.matching import is_told, rule_for
from dashboard.alerts.models import Message, MessageState, Rule
from dashboard.alerts.problems import Problem, ProblemKind, look, register_source
from dashboard.audit.models import AuditEntry
from dashboard.jobs.beats import silent_since
from dashboard.jobs.models import Job, JobState

WORKER = ProblemKind("worker-silent", "A worker does not answer", "minutes", threshold=3, least=1, most=1_440)
QUEUE = ProblemKind("queue-grows", "Jobs wait for a worker", "count", threshold=50, least=1, most=100_000)
MAIL = ProblemKind("mail-stuck", "Messages cannot be sent", "minutes", threshold=15, least=1, most=10_080)
JOB = ProblemKind("job-failed", "A job that somebody asked for has failed", "count", threshold=1, least=1, most=1)
SIGN_IN = ProblemKind("sign-in-refused", "Passwords are guessed", "count", threshold=10, least=1, most=100_000)
KINDS = (WORKER, QUEUE, MAIL, JOB, SIGN_IN)

WAITS_TOO_LONG = timedelta(minutes=2)
FAILED_WITHIN = timedelta(hours=24)
REFUSED_WITHIN = timedelta(hours=1)
MOST_NAMED = 5
MOST_JOBS = 500
TIMEOUT_SECONDS = 10
# What makes the call stop. A table in trouble does not: that Levee can tell by itself.
OWN_KINDS = frozenset({"worker-silent", "mail-stuck", "observation-late"})
logger = logging.getLogger(__name__)


def own_problems(now: datetime) -> Iterator[Problem]:
    """Yield what is wrong with Levee's own parts."""
    yield from silent_workers(now)
    yield from long_queues(now)
    yield from stuck_messages(now)
    yield from failed_jobs(now)
    yield from refused_passwords(now)


def silent_workers(now: datetime) -> Iterator[Problem]:
    """Each queue by the time since its last sign of life."""
    for queue, since in silent_since().items():
        yield Problem(
            kind=WORKER.name,
            key=f"worker:{queue}",
            cause="workers",
            severity="critical",
            measure=(now - since).total_seconds() / 60,
            headline=f"The worker of the queue {queue} does not answer.",
            since=since,
            subject=queue,
            next_step=f"Look whether worker-{queue} runs, and at its log; start it again.",
            meaning="What this queue carries waits: looks at the lake, jobs that people asked for, or mails.",
            facts=(("Queue", queue),),
            path=reverse("jobs"),
            link="See the jobs",
        )


def long_queues(now: datetime) -> Iterator[Problem]:
    waiting = Job.objects.filter(state=JobState.QUEUED, created_at__lt=now - WAITS_TOO_LONG)
    count = waiting.count()
    oldest = waiting.order_by("created_at").values_list("created_at", flat=True).first()
    if oldest is not None:
        yield Problem(
            kind=QUEUE.name,
            key="queue",
            cause="queue",
            severity="warning",
            measure=count,
            headline=f"{count:,} jobs have waited longer than 2 minutes for a worker.",
            since=oldest,
            next_step="Look which queue they wait in; start more workers for it.",
            meaning="Work arrives faster than the workers do it, or a worker stands still.",
            path=reverse("jobs"),
            link="See what waits",
        )


def stuck_messages(now: datetime) -> Iterator[Problem]:
    """Messages that are due and were not sent, or of which nobody knows."""
    waiting = Message.objects.filter(state__in=(MessageState.WAITING, MessageState.SENDING), due_at__lt=now)
    oldest = waiting.order_by("created_at").first()
    if oldest is not None:
        yield Problem(
            kind=MAIL.name,
            key="mail",
            cause="mail",
            severity="critical",
            measure=(now - oldest.created_at).total_seconds() / 60,
            headline=f"{waiting.count():,} messages cannot be sent.",
            since=oldest.created_at,
            next_step="Look at the log of messages; check LEVEE_SMTP_URL and the server behind it.",
            meaning=oldest.error or "No channel is set up for them.",
            path=reverse("alert-messages"),
            link="See the messages",
        )


def failed_jobs(now: datetime) -> Iterator[Problem]:
    """Jobs of people that failed or were lost within a day, and that no later one of the same kind has made good."""
    later = Job.objects.filter(
        kind=OuterRef("kind"),
        target_key=OuterRef("target_key"),
        created_at__gt=OuterRef("created_at"),
        state=JobState.SUCCEEDED,
    )
    failed = Job.objects.filter(
        Q(requested_by__isnull=False) | Q(requested_by_name="command"),
        state__in=(JobState.FAILED, JobState.LOST),
        finished_at__gte=now - FAILED_WITHIN,
    ).exclude(Exists(later))
    for job in failed.order_by("-finished_at")[:MOST_JOBS]:
        yield Problem(
            kind=JOB.name,
            key=f"job:{job.pk}",
            cause=f"jobs:{job.kind}:{job.error_code}"[:200],
            severity="warning",
            measure=1,
            headline=f"{job.title}: {'failed' if job.state == JobState.FAILED else 'its worker was lost'}.",
            since=job.finished_at or now,
            subject=job.title,
            code=job.error_code,
            next_step="Read its log, mend the cause, and ask for it again.",
            meaning=job.error_text or job.message,
            facts=(("Job", str(job.pk)), ("Asked for by", job.requested_by_name), ("About", job.target_label)),
            path=reverse("job", args=[job.pk]),
            link="See the job",
            connection=job.connection_id,
        )


def refused_passwords(now: datetime) -> Iterator[Problem]:
    """Wrong passwords of the last hour, at the sign-in page and inside."""
    refused = AuditEntry.objects.filter(action__in=PASSWORD_ACTS, outcome="refused", at__gte=now - REFUSED_WITHIN)
    count, oldest = refused.count(), refused.order_by("at").values_list("at", flat=True).first()
    if oldest is not None:
        yield Problem(
            kind=SIGN_IN.name,
            key="sign-in",
            cause="sign-in",
            severity="warning",
            measure=count,
            headline=f"Wrong passwords were given {count:,} times within an hour.",
            since=oldest,
            next_step="Look in the audit log whose names they were, and where they came from.",
            meaning="Somebody guesses passwords, or has forgotten one. Each further failure makes the next try wait.",
            advice="Look in the audit log whose names they were and where they came from. An admin gives a link "
            "to a new password to who cannot get in.",
            facts=(("Names", _most(refused, "target_label")), ("Addresses", _most(refused, "ip"))),
            path=f"{reverse('audit')}?action=account.&outcome=refused",
            link="See the audit log",
        )


def _most(refused: "QuerySet[AuditEntry]", field: str) -> str:
    """Return the values seen most, each with its number."""
    counted = refused.order_by().values_list(field).annotate(many=Count("pk")).order_by("-many")[:MOST_NAMED]
    return ", ".join(f"{value or 'not known'} ({many:,})" for value, many in counted)


def call_while_well(now: datetime) -> bool:
    """Call LEVEE_DEAD_MAN_URL unless something of Levee's own is wrong; returns whether it was called."""
    if not settings.DEAD_MAN_URL:
        return False
    if ill := own_troubles(now):
        logger.warning("The dead man's URL is not called: %s", " ".join(ill))
        return False
    return _call(settings.DEAD_MAN_URL)


def own_troubles(now: datetime) -> list[str]:
    """Return one sentence for each part of Levee that is not well."""
    seen, rules = look(now), list(Rule.objects.filter(kind__in=OWN_KINDS))

    def is_grave(problem: Problem) -> bool:
        rule = rule_for(problem, rules)
        return rule is not None and is_told(problem, rule)

    broken = [f"{kind} could not be checked." for kind in seen.failed if kind in OWN_KINDS]
    return broken + [problem.headline for problem in seen.problems if problem.kind in OWN_KINDS and is_grave(problem)]


def _call(url: str) -> bool:
    if not url.lower().startswith(("http://", "https://")):
        logger.warning("LEVEE_DEAD_MAN_URL begins with neither http:// nor https://: it is not called.")
        return False
    try:
        answer = urllib3.request("GET", url, redirect=False, retries=False, timeout=TIMEOUT_SECONDS)
    except HTTPError as error:
        logger.warning("The dead man's URL could not be called: %s", type(error).__name__)
        return False
    return 200 <= answer.status < 300


register_source("levee", own_problems, *KINDS)
