import pytest
from hypothesis import given

from lake.delta.coordinator_items import read_registration
from lake.delta.facts import CoordinatorCommit, Registration
from lake.delta.wire import MOST_PROBLEMS
from tests.builders.delta import EPOCH_MS, UUID, coordinator_commit, registration_item
from tests.lake.delta.strategies import items


def with_element(**changes):
    return read_registration(registration_item(3, commits={"L": [coordinator_commit(3, **changes)]}), "commits")


def test_a_registration_is_read():
    assert read_registration(registration_item(3, [3]), "commits") == Registration(
        table_id=UUID,
        path="s3a://lake/sales/orders",
        table_version=3,
        table_timestamp=EPOCH_MS + 3,
        accepting_commits=True,
        has_accepted_commits=True,
        schema_version=1,
        commits=(CoordinatorCommit(3, f"{3:020d}.{UUID}.json", 1_000, EPOCH_MS + 3, EPOCH_MS + 3),),
        store="commits",
    )


def test_a_fresh_registration_has_no_timestamp_yet():
    fresh = read_registration(registration_item(0, hasAcceptedCommits={"BOOL": False}, tableTimestamp=None), "commits")
    assert (fresh.table_timestamp, fresh.has_accepted_commits, fresh.problems) == (None, False, ())


def test_commits_are_ascending_whatever_the_order_of_the_list():
    assert [commit.version for commit in read_registration(registration_item(5, [5, 4, 3]), "commits").commits] == [
        3,
        4,
        5,
    ]


@pytest.mark.parametrize("attribute", ["acceptingCommits", "hasAcceptedCommits"])
@pytest.mark.parametrize("value", [{"S": "True"}, {"S": "false"}, {"N": "1"}, {"NULL": True}, {"BOOL": "true"}, None])
def test_a_boolean_of_another_type_is_unknown(attribute, value):
    registration = read_registration(registration_item(3, **{attribute: value}), "commits")
    assert None in (registration.accepting_commits, registration.has_accepted_commits)
    assert registration.problems[0].startswith(f"{attribute} is ")


@pytest.mark.parametrize("value", [{"S": "[]"}, {"M": {}}, {"SS": ["a"]}, {"L": "x"}, None])
def test_commits_that_are_no_list_are_empty_with_a_problem(value):
    registration = read_registration(registration_item(3, commits=value), "commits")
    assert registration.commits == ()
    assert registration.problems[0].startswith("commits is ")


@pytest.mark.parametrize("element", [{"S": "x"}, {}, None, 7, {"M": []}])
def test_an_element_that_is_no_map_is_left_out_with_its_position(element):
    registration = read_registration(registration_item(3, commits={"L": [coordinator_commit(3), element]}), "commits")
    assert [commit.version for commit in registration.commits] == [3]
    assert registration.problems == ("commits[1] is not a map (M).",)


@pytest.mark.parametrize("version", [None, {"N": "-3"}, {"S": "3"}, {"N": "9" * 30}])
def test_an_element_without_a_readable_version_is_left_out(version):
    registration = with_element(version=version)
    assert registration.commits == ()
    assert registration.problems[0].startswith("commits[0].version is ")


@pytest.mark.parametrize("name", ["../x.json", "/x.json", "a/b.json", "..", ".", "", "a\\b", "a\nb", "x\0"])
def test_a_file_name_that_could_lead_elsewhere_is_emptied_and_its_commit_kept(name):
    registration = with_element(fsName={"S": name})
    assert [(commit.version, commit.file_name) for commit in registration.commits] == [(3, "")]
    assert "which is no plain file name." in registration.problems[-1]


@pytest.mark.parametrize("name", [f"{4:020d}.{UUID}.json", f"{3:020d}.json", "notes.txt"])
def test_a_file_name_of_another_thing_is_kept_with_a_problem(name):
    registration = with_element(fsName={"S": name})
    assert registration.commits[0].file_name == name
    assert registration.problems[0].endswith("not the name of a staged commit of version 3.")


def test_a_size_that_cannot_be_read_is_unknown():
    registration = with_element(fsLength={"S": "1000"}, fsTimestamp=None)
    assert (registration.commits[0].size, registration.commits[0].file_timestamp) == (None, None)
    assert registration.problems == (
        "commits[0].fsLength is S '1000', not number (N).",
        "commits[0].fsTimestamp is missing.",
    )


def test_thousands_of_bad_elements_give_a_readable_number_of_problems():
    assert len(read_registration(registration_item(3, commits={"L": [7] * 5_000}), "commits").problems) == MOST_PROBLEMS


@given(
    items(
        "tableId",
        "path",
        "acceptingCommits",
        "hasAcceptedCommits",
        "tableVersion",
        "tableTimestamp",
        "schemaVersion",
        "commits",
    )
)
def test_any_item_is_read(item):
    registration = read_registration(item, "commits")
    assert all(problem.endswith(".") and problem.isprintable() for problem in registration.problems)
    assert all("/" not in commit.file_name for commit in registration.commits)
