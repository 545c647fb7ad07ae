"""The dead man's switch: while all of Levee's parts are well, a URL is called; who listens there misses the call."""

import logging
import urllib.error
import urllib.request
from datetime import datetime

from django.conf import settings

from dashboard.alerts.matching import is_told, rule_for
from dashboard.alerts.models import Rule
from dashboard.alerts.problems import Problem, look

TIMEOUT_SECONDS = 10
# What makes the call stop. A table in trouble does not: that Levee can tell by itself.
OWN_KINDS = frozenset({"worker-silent", "mail-stuck", "observation-late"})

logger = logging.getLogger(__name__)


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


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


def _call(url: str) -> bool:
    if not url.lower().startswith(("http://", "https://")):
        logger.warning("LEVEE_DEAD_MAN_URL begins with neither http:// nor https://: it is not called.")
        return False
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(url, timeout=TIMEOUT_SECONDS) as answer:
            return 200 <= int(answer.status) < 300
    except (urllib.error.URLError, OSError, ValueError) as error:
        logger.warning("The dead man's URL could not be called: %s", type(error).__name__)
        return False
