"""What runs are tried on: a world in this process, and the sandbox's S3."""

from collections.abc import Iterator

import pytest

from tests.backups.runs.ground import Ground
from tests.backups.runs.world import World, inhabit


@pytest.fixture
def world(monkeypatch) -> World:
    return inhabit(monkeypatch, World())


@pytest.fixture
def ground(monkeypatch, settings, tmp_path) -> Iterator[Ground]:
    """S3 and S3 Batch Operations of the sandbox; the data work is in plain Python."""
    ground = Ground()
    ground.allow(settings, tmp_path)
    ground.inhabit(monkeypatch)
    monkeypatch.setattr("backups.advancing.POLL_SECONDS", 0.02)
    ground.own_rules()
    yield ground
    ground.own_rules()
