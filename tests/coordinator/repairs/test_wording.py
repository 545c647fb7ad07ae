"""Calls as pages and commands show them."""

import pytest

from changes.calls import Call
from coordinator.protocols.wording import short
from coordinator.repairs import item_calls, object_calls, orphan_calls, restore_calls
from tests.builders.facts import TABLE_ID, URI, commit_name, staged_name, temp_name
from tests.coordinator.repairs.scenes import KINDS

LOG = "orders/_delta_log/"
COMMIT, TEMP, STAGED = LOG + commit_name(1042), LOG + temp_name(1042), LOG + staged_name(1042)
ITEM = {"tableId": {"S": TABLE_ID}, "tableVersion": {"N": "7"}, "path": {"S": URI}}

SAID: list[tuple[Call, str, str, str]] = [
    (
        object_calls.Publish("lake", TEMP, COMMIT, "e1", 4_212),
        "s3:GetObject, s3:PutObject",
        "Copies the temp file .tmp/…1042.json.7f3c9b52 to …1042.json, only if that key is still absent, reads it back "
        "and compares all 4,212 bytes.",
        "If-None-Match: *; the temp file still has ETag e1 and 4,212 B.",
    ),
    (
        object_calls.SaveAside("lake", "orders/_levee_rescue/x/item.json", item=ITEM),
        "s3:PutObject",
        "Keeps a copy of the item as JSON as orders/_levee_rescue/x/item.json.",
        "If-None-Match: *; equal bytes count as kept.",
    ),
    (
        restore_calls.RestoreObject("lake", "orders/_levee_rescue/x/_delta_log/.tmp/y", TEMP, 4_212, "abc"),
        "s3:GetObject, s3:PutObject",
        "Copies the saved copy of .tmp/…1042.json.7f3c9b52 back to where it was, only if that key is absent, reads it "
        "back and compares all 4,212 bytes.",
        "If-None-Match: *; the copy still has the SHA-256 abc.",
    ),
    (
        object_calls.RequireEqual("lake", TEMP, COMMIT),
        "s3:GetObject",
        "Compares .tmp/…1042.json.7f3c9b52 with …1042.json, byte by byte.",
        "Both exist and are equal; else nothing further is done.",
    ),
    (
        object_calls.RequireAbsent("lake", (TEMP, COMMIT)),
        "s3:HeadObject",
        "Looks for .tmp/…1042.json.7f3c9b52 and …1042.json once more.",
        "None exists; else nothing further is done.",
    ),
    (
        object_calls.RequireEmpty("lake", LOG),
        "s3:ListObjectsV2",
        "Lists orders/_delta_log/ once more.",
        "Nothing lies there; else nothing further is done.",
    ),
    (
        item_calls.RequireNoEntry("delta_log_eu", URI, commit_name(1042)),
        "dynamodb:GetItem",
        f"Reads the entry of …1042.json under {URI} in delta_log_eu once more.",
        "None exists; else nothing further is done.",
    ),
    (
        item_calls.CompleteEntry("delta_log", URI, commit_name(1042), temp_name(1042), 86_400),
        "dynamodb:UpdateItem",
        "Marks the entry of …1042.json in delta_log complete, only if it is still the one shown here; it expires 1 d "
        "later.",
        f'complete = "false" AND tempPath = "{temp_name(1042)}"',
    ),
    (
        item_calls.DeleteEntry("delta_log", URI, commit_name(1042), temp_name(1042)),
        "dynamodb:DeleteItem",
        "Deletes the entry of …1042.json from delta_log, only if it is still the one shown here.",
        f'complete = "false" AND tempPath = "{temp_name(1042)}"',
    ),
    (
        item_calls.ClearCommits("commits", TABLE_ID, URI, 7, {"L": [{}, {}]}),
        "dynamodb:UpdateItem",
        "Clears 2 entries from the coordinator's list in commits, only if no writer has moved on.",
        f'tableVersion = 7 AND path = "{URI}" AND schemaVersion = 1 AND commits = the list shown here',
    ),
    (
        item_calls.RaiseVersion("commits", TABLE_ID, URI, 3, 1_042, 99),
        "dynamodb:UpdateItem",
        "Raises tableVersion in commits from 3 to 1,042 and tableTimestamp to 99.",
        f'tableVersion = 3 AND path = "{URI}" AND schemaVersion = 1',
    ),
    (
        item_calls.Register("commits", ITEM),
        "dynamodb:PutItem",
        f"Puts registration {TABLE_ID} into commits at version 7, with the path {URI}.",
        "attribute_not_exists(tableId)",
    ),
    (
        item_calls.DeleteRegistration("commits", TABLE_ID, URI, 4),
        "dynamodb:DeleteItem",
        f"Deletes registration {TABLE_ID} from commits.",
        f'hasAcceptedCommits = false AND commits = [] AND path = "{URI}" AND tableVersion = 4',
    ),
    (
        orphan_calls.DeleteOrphan("lake", TEMP, "e1", 7, "delta_log", (URI, commit_name(1042))),
        "dynamodb:GetItem, s3:DeleteObject",
        "Reads the entry of …1042.json again, then deletes .tmp/…1042.json.7f3c9b52, 7 B.",
        "If-Match: e1; the entry of …1042.json does not name the file.",
    ),
    (
        orphan_calls.DeleteOrphan("lake", TEMP, "e1", 7, "delta_log", (URI, commit_name(1042)), named=".tmp/x"),
        "dynamodb:GetItem, s3:DeleteObject",
        "Reads the entry of …1042.json again, then deletes .tmp/…1042.json.7f3c9b52, 7 B.",
        "If-Match: e1; the entry of …1042.json names .tmp/x.",
    ),
    (
        orphan_calls.DeleteOrphan("lake", STAGED, "e1", 7, "commits", registration=TABLE_ID, survivor="rescued"),
        "dynamodb:GetItem, s3:GetObject, s3:DeleteObject",
        f"Reads registration {TABLE_ID} again, then deletes _staged_commits/…1042.c02e88d1.json, 7 B.",
        f"If-Match: e1; registration {TABLE_ID} does not name the file; its bytes equal those of rescued.",
    ),
]


@pytest.mark.parametrize(("call", "operation", "says", "condition"), SAID, ids=[type(one[0]).__name__ for one in SAID])
def test_a_call_says_what_it_does_and_on_which_condition(call, operation, says, condition):
    assert (call.operation, call.says, call.condition) == (operation, says, condition)


def test_every_kind_of_call_has_words():
    assert {type(call) for call, *_ in SAID} == set(KINDS)


def test_a_staged_file_is_called_so():
    assert object_calls.Publish("lake", STAGED, COMMIT, "e", 1).says.startswith(
        "Copies the staged file _staged_commits/…1042.c02e88d1.json to …1042.json"
    )


def test_version_0_keeps_a_digit():
    assert short(LOG + commit_name(0)) == "…0.json"


def test_another_name_is_left_as_it_is():
    assert short("orders/_delta_log/_commit_5f0c.json.tmp") == "_commit_5f0c.json.tmp"
