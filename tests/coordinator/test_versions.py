"""What the entry of a version without a file means."""

import pytest

from coordinator.models import Entry
from coordinator.versions import VersionState, entry_state


@pytest.mark.parametrize(
    ("code", "complete", "published", "state"),
    [
        ("C7", True, False, VersionState.MISSING),
        ("unknown", True, False, VersionState.MISSING),
        ("unknown", True, None, VersionState.PENDING),
        ("C11", False, False, VersionState.MISSING),
        ("unknown", False, None, VersionState.PENDING),
    ],
)
def test_a_finished_entry_is_missing_its_file_once_that_is_known(code, complete, published, state):
    assert entry_state(Entry(version=3, code=code, complete=complete, published=published)) == state
