"""Looking at a self-test of a writer and keeping what was seen; a look changes nothing in the lake."""

from dataclasses import replace
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from coordinator.models import WriterTest
from coordinator.observation.storable import clean_json, clean_text
from coordinator.writer_tests.judging import PROVEN, WriterTestOutcome, WriterTestState, judge
from coordinator.writer_tests.reading import read_test
from lake.aws.access import Lake
from lake.aws.errors import AwsError


def look_at(test: WriterTest, lake: Lake) -> WriterTestOutcome:
    """Read one test, judge it, keep the outcome. Raises AwsError; what was seen before then stays."""
    now = timezone.now()
    try:
        facts = read_test(test.connection, lake, test, now)
    except AwsError as error:
        WriterTest.objects.filter(pk=test.pk).update(error_text=clean_text(str(error)))
        raise
    outcome = judge(facts)
    _keep(test, outcome, now)
    if facts.is_empty and test.state != WriterTestState.NOT_SEEN:
        return replace(outcome, sentence=f"Nothing is left of this test. What it had shown: {test.sentence}")
    return outcome


def _keep(test: WriterTest, outcome: WriterTestOutcome, now: datetime) -> None:
    """One UPDATE, unless a later look was faster."""
    rows = WriterTest.objects.filter(pk=test.pk).filter(Q(checked_at=None) | Q(checked_at__lt=now))
    seen = ~Q(state=WriterTestState.NOT_SEEN)
    if outcome.state is WriterTestState.NOT_SEEN:
        rows.filter(seen, cleaned_at=None).update(cleaned_at=now)
        rows.update(checked_at=now, error_text="")
        return
    if outcome.state is WriterTestState.NOT_KNOWN:
        rows = rows.exclude(state__in=PROVEN)  # what was proven in time is not made unsaid by looking too late
    rows.update(
        state=outcome.state.value,
        sentence=clean_text(outcome.sentence),
        evidence=clean_json(outcome.evidence),
        checked_at=now,
        error_text="",
        cleaned_at=None,
    )
