"""The audit of packages says what it found, and never that all is well when nobody was asked."""

import pytest

from tools.advisories import judged, unanswered

SAFE = {"name": "django", "version": "5.2.19", "vulns": []}
VULNERABLE = {**SAFE, "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["5.2.20"]}]}
UNKNOWN = {"name": "redis", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "said", "fails"),
    [
        ([VULNERABLE, SAFE], "django 5.2.19: PYSEC-2026-1, mended in 5.2.20", True),
        ([SAFE, UNKNOWN], "Not audited, for the advisory service does not know them: redis.", False),
        ([UNKNOWN], "NOT AUDITED: the advisory service that this machine reaches knows none of the packages.", False),
    ],
)
def test_what_was_found_is_said_and_only_a_vulnerability_fails(packages, said, fails):
    lines, failed = judged({"dependencies": packages})
    assert (lines[0], failed) == (said, fails)


def test_only_a_service_that_is_not_there_is_no_failure():
    assert not unanswered("requests.exceptions.ProxyError: HTTPSConnectionPool(...)")[1]
    assert unanswered("requirement without a hash")[1]
