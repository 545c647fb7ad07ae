"""The keys with which a warm Spark asks S3."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from dashboard.connections.models import Connection
from dashboard.spark import warm
from lake.spark.settings import Credentials

pytestmark = pytest.mark.django_db


def test_a_worker_of_an_assumed_role_gets_keys_that_were_taken_for_it(monkeypatch):
    """Those of a lake that has been open for long may end before its own time is up."""
    fresh, old = (SimpleNamespace(keys=lambda word=word: (word, word, word)) for word in ("fresh", "old"))
    monkeypatch.setattr(warm, "open_lake", lambda access: nullcontext(fresh))
    made = []
    worker = warm.WarmWorker(lambda settings, home: made.append(settings.credentials))
    worker.borrow(Connection(region="eu-west-1", role_arn="arn:aws:iam::111122223333:role/levee"), old)
    assert made == [Credentials("fresh", "fresh", "fresh")]
