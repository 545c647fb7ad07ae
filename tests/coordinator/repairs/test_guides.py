"""What to do about a finding that blocks a table or makes it unsafe, in order."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from coordinator import protocols
from coordinator.models import TableFinding
from coordinator.repairs.guides import Guide, guide_of

NAME = "00000000000000000007.json"
LOOK = {"version": 7, "file": NAME, "bucket": "lake", "key": f"a b/_delta_log/{NAME}"}
KEPT = {"version_id": "v'1", "size": 573, "etag": "e", "modified_at": "2026-11-22T04:21:07+00:00", "seen": True}
SAFE = {"C2": "publish-commit", "C6": "republish-file", "C10": "abandon-commit", "K3": "backfill"}
LOST = ("checkpoint-without-commit", "log-start-missing", "unreadable-commit", "version-hole")
"""Findings about which nothing can be done but to bring files back."""
_OF_STORES_AND_BUCKETS = ("stores.py", "waiting_files.py", "published_reach.py", "archive_tiers.py", "rule_troubles.py")


def guide(code: str, *, repairs: tuple[str, ...] = (), state: str = "blocked", **evidence: Any) -> Guide:
    finding = TableFinding(code=code, version=7, state=state, repairs=list(repairs), evidence=evidence)
    return guide_of(finding)


def loud_codes() -> list[str]:
    """Every code that the protocols' source gives a finding of a table that is blocked or unsafe."""
    found = {"C6", "C7"}  # given by a variable
    for path in Path(protocols.__path__[0]).glob("*.py"):
        if path.name in _OF_STORES_AND_BUCKETS:
            continue
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                source = ast.unparse(call)
                loud = re.match(r"(blocked|unsafe)\(|Finding\(.*State\.(BLOCKED|UNSAFE)", source, re.DOTALL)
                if call.args and loud:
                    words = (one.value for one in ast.walk(call.args[0]) if isinstance(one, ast.Constant))
                    found.update(str(word) for word in words)
    return sorted(found)


def test_the_codes_are_found() -> None:
    assert {"C7", "C11", "K7", "two-lock-domains", "overwritten", "checkpoint-broken"} <= set(loud_codes())


@pytest.mark.parametrize("code", loud_codes())
def test_there_is_something_to_do_about_every_loud_finding(code: str) -> None:
    looks = {"older_versions": [LOOK | {"versions": []}]} if code in LOST else {}
    found = guide(code, repairs=(SAFE.get(code, ""),), **looks)
    assert found.steps
    assert all(step.title and step.says and step.who for step in found.steps)
    assert not any("{" in text for step in found.steps for text in (step.title, step.says))
    assert not any("{" in text for one in found.never for text in (one.title, one.reason))


def test_what_can_lose_a_commit_comes_after_all_that_cannot() -> None:
    found = guide("C11", repairs=("abandon-commit",), older_versions=[LOOK | {"versions": [KEPT]}])
    titles = [step.title for step in found.steps]
    assert titles == [
        "Stop the writers of this table",
        "Bring back the older version of 00000000000000000007.json",
        "Abandon commit 7",
    ]
    assert guide("C7").steps[-1].title == "Or give version 7 up"
    assert all(guide(code).never for code in ("C6", "C7", "C10", "C11", "K6"))


def test_a_safe_repair_needs_no_writer_stopped() -> None:
    steps = guide("C6", repairs=("republish-file",)).steps
    assert [step.offer.repair for step in steps if step.offer] == ["republish-file"]
    assert not any(step.stops_writers for step in steps)


def test_the_file_is_put_back_only_where_its_key_is_free_and_every_name_is_quoted() -> None:
    (step,) = [one for one in guide("C7", older_versions=[LOOK | {"versions": [KEPT]}]).steps if one.commands]
    fetch, put = step.commands.splitlines()
    assert fetch.startswith("aws s3api get-object --bucket lake --key 'a b/_delta_log/00000000000000000007.json'")
    assert """--version-id 'v'"'"'1'""" in fetch
    assert put.endswith("--if-none-match '*'")


@pytest.mark.parametrize(("count", "lines"), [(1, 1), (2, 0)])
def test_a_commit_file_that_nobody_saw_is_at_most_fetched_and_of_several_none(count: int, lines: int) -> None:
    found = guide("C7", older_versions=[LOOK | {"versions": [KEPT | {"seen": False}] * count}])
    commands = [line for step in found.steps for line in step.commands.splitlines()]
    assert [line.split()[2] for line in commands] == ["get-object"] * lines


def test_a_file_that_is_there_is_never_put_back() -> None:
    found = guide("overwritten", state="unsafe", older_versions=[LOOK | {"versions": [KEPT]}])
    assert "put-object" not in "".join(step.commands for step in found.steps)
