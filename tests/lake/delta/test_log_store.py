import pytest
from hypothesis import given

from lake.delta.facts import LogStoreEntry
from lake.delta.log_store import place_of, read_entry
from lake.delta.names import MAX_VERSION, commit_name
from tests.builders.delta import EPOCH_MS, UUID, incomplete_item, log_store_item
from tests.lake.delta.strategies import items

TEMP = f".tmp/{commit_name(7)}.{UUID}"


def test_a_complete_entry_is_read():
    assert read_entry(log_store_item(7)) == LogStoreEntry(
        table_path="s3a://lake/sales/orders",
        file_name=commit_name(7),
        version=7,
        temp_path=TEMP,
        complete=True,
        expire_time=EPOCH_MS // 1_000,
    )


def test_an_incomplete_entry_has_no_expiry_and_no_problem():
    entry = read_entry(incomplete_item(7))
    assert (entry.complete, entry.expire_time, entry.problems) == (False, None, ())


def test_an_escape_in_the_path_is_a_url_of_delta_rs_and_a_key_of_hadoop():
    path = {"S": "s3://lake/my%20table"}
    by_hadoop = read_entry(log_store_item(7, tablePath=path))
    by_delta_rs = read_entry(log_store_item(7, tablePath=path, tempPath={"S": f"_commit_{UUID}.json.tmp"}))
    assert (place_of(by_hadoop).key, place_of(by_delta_rs).key) == ("my%20table", "my table")
    assert by_delta_rs.problems == ()


def test_an_entry_whose_writer_does_not_show_is_read_as_a_url():
    assert place_of(read_entry(log_store_item(7, tablePath={"S": "s3a://lake/a%20b"}, tempPath=None))).key == "a b"


def test_a_commit_time_tells_an_old_writer():
    assert read_entry(log_store_item(7, commitTime={"N": "12"})).commit_time == 12


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"BOOL": True}, "complete is BOOL 'True', not text (S)."),
        ({"S": "True"}, 'complete is \'True\', not the text "true" or "false".'),
        ({"S": ""}, 'complete is \'\', not the text "true" or "false".'),
        ({"N": "1"}, "complete is N '1', not text (S)."),
        ({"NULL": True}, "complete is of type 'NULL', not text (S)."),
        ({"S": True}, "complete is S 'True', not text (S)."),
        ("true", "complete is not one value in DynamoDB's wire form."),
        ({}, "complete is not one value in DynamoDB's wire form."),
        (None, "complete is missing."),
    ],
)
def test_completeness_that_is_not_its_text_is_unknown(value, sentence):
    entry = read_entry(log_store_item(7, complete=value))
    assert (entry.complete, entry.problems) == (None, (sentence,))


@pytest.mark.parametrize(
    "name", ["../7.json", f"/{commit_name(7)}", "7.json", "99999999999999999999.json", f"{7:020d}.crc", f"{TEMP}"]
)
def test_a_file_name_that_is_no_commit_has_no_version(name):
    entry = read_entry(log_store_item(7, fileName={"S": name}))
    assert (entry.file_name, entry.version) == (name, None)
    assert entry.problems[0].startswith("fileName is ")


@pytest.mark.parametrize(
    "path",
    [
        "../../other/_delta_log/x.json",
        f"/{TEMP}",
        ".tmp/../x",
        ".tmp//x",
        "./.tmp/x",
        ".tmp\\x",
        ".tmp/",
        "",
        "a\nb",
        "s3a://other/key",
        "x\0y",
    ],
)
def test_a_temp_path_that_could_lead_elsewhere_is_not_followed(path):
    entry = read_entry(log_store_item(7, tempPath={"S": path}))
    assert entry.temp_path is None
    assert "which is no plain path below _delta_log/." in entry.problems[-1]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (commit_name(7), "not the name of a temp file."),
        (".tmp/scratch", "not the name of a temp file."),
        (f".tmp/{commit_name(8)}.{UUID}", "the temp file of another version."),
    ],
)
def test_a_temp_path_of_another_thing_is_kept_with_a_problem(path, sentence):
    entry = read_entry(log_store_item(7, tempPath={"S": path}))
    assert entry.temp_path == path
    assert entry.problems[0].endswith(sentence)


@pytest.mark.parametrize(
    "value",
    [{"N": "1.5"}, {"N": "-1"}, {"N": "soon"}, {"N": str(MAX_VERSION + 1)}, {"N": "9" * 400}, {"S": "1767225600"}],
)
def test_an_expiry_that_is_no_time_is_unknown(value):
    entry = read_entry(log_store_item(7, expireTime=value))
    assert entry.expire_time is None
    assert entry.problems[0].startswith("expireTime is ")


def test_a_sentence_quotes_only_the_beginning_of_a_long_value():
    [problem] = read_entry(log_store_item(7, complete={"S": "x" * 100_000})).problems
    assert len(problem) < 200


@given(items("tablePath", "fileName", "tempPath", "complete", "expireTime", "commitTime"))
def test_any_item_is_read(item):
    entry = read_entry(item)
    assert all(problem.endswith(".") and problem.isprintable() for problem in entry.problems)
    assert entry.complete in (True, False, None)
