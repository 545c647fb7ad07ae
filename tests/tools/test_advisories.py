"""The audit of packages says what it found, and never that all is well when nobody was asked."""

from tools.advisories import judged, unanswered
from tools.check import CHECKS

SAFE = {"name": "django", "version": "5.2.19", "vulns": []}
UNKNOWN = {"name": "redis", "skip_reason": "not found"}


def test_it_is_one_of_the_checks():
    assert CHECKS["advisories"] == ("-m", "tools.advisories")


def test_a_vulnerability_is_named_with_its_cure_and_fails():
    vulnerable = {**SAFE, "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["5.2.20"]}]}
    lines, failed = judged({"dependencies": [vulnerable, SAFE]})
    assert (lines, failed) == (["django 5.2.19: PYSEC-2026-1, mended in 5.2.20"], True)


def test_packages_without_one_pass():
    lines, failed = judged({"dependencies": [SAFE]})
    assert (lines, failed) == (["1 locked packages have no known vulnerability."], False)


def test_a_package_that_nobody_knows_is_named():
    lines, failed = judged({"dependencies": [SAFE, UNKNOWN]})
    assert "redis" in lines[0]
    assert not failed


def test_a_service_that_knows_nothing_is_no_clean_bill():
    lines, failed = judged({"dependencies": [UNKNOWN]})
    assert (lines[0].startswith("NOT AUDITED"), len(lines), failed) == (True, 1, False)


def test_a_service_that_is_not_there_is_said_and_does_not_fail():
    for said in (
        "requests.exceptions.ProxyError: HTTPSConnectionPool(...)",
        "requests.exceptions.ConnectionError: x",
        "ERROR: Tip: your network may be blocking this service.",
    ):
        lines, failed = unanswered(said)
        assert (lines[0].startswith("NOT AUDITED"), failed) == (True, False)


def test_an_audit_that_breaks_fails():
    assert unanswered("requirement without a hash") == (
        ["requirement without a hash", "The audit could not be made."],
        True,
    )
