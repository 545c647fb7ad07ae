"""What diagnosis asks to be looked up."""

from dataclasses import replace

import pytest

from coordinator.protocols.needed_facts import (
    MOST_BETWEEN,
    MOST_COPIES,
    MOST_COPY_BYTES,
    MOST_LOOKUPS,
    wanted_comparisons,
    wanted_copies,
    wanted_heads,
)
from lake.delta.facts import LogObject, TableFacts
from tests.builders.facts import (
    commit_name,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    registration,
    staged_name,
    temp_name,
)

TAIL = listing([8, 9], from_version=8, temp=None)
PENDING = log_store_facts(listing(range(3), temp=None), entry(2), entry(3, complete=False))
TRICKED = entry(4, complete=False, temp="../../other/_delta_log/.tmp/x")
LISTED = coordinator_commit(4, name="../../../secret.json")
IN_BOTH_FOLDERS = (staged_name(4), staged_name(4, folder="_commits"), commit_name(4))


def at(version: int, *others: object, staged: object = (), **item: object) -> TableFacts:
    """Versions 0 to 3 are published; the registration stands at a version."""
    return coordinated_facts(listing(staged=staged), registration(version, **item), *others)


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (log_store_facts(listing(temp=None), *(entry(v) for v in range(4))), ()),
        (PENDING, (temp_name(3), commit_name(3))),
        (replace(PENDING, heads={temp_name(3): None, commit_name(3): None}), ()),
        (log_store_facts(TAIL, entry(2, complete=False), entry(9)), (temp_name(2), commit_name(2))),
        (log_store_facts(TAIL, *(entry(v) for v in range(10))), ()),
        (log_store_facts(TAIL, entry(5)), (temp_name(5), commit_name(5))),
        (log_store_facts(listing([2, 3], checkpoints=[2], temp=None), entry(0, complete=False), entry(3)), ()),
        (log_store_facts(listing(), entry(6)), (temp_name(6), commit_name(6), commit_name(5), commit_name(4))),
        (log_store_facts(listing(), TRICKED), (commit_name(4),)),
        (coordinated_facts(listing(staged=None), registration(4, coordinator_commit(4))), IN_BOTH_FOLDERS),
        (coordinated_facts(listing(), registration(3, LISTED)), (commit_name(4),)),
        (at(4), (commit_name(4),)),
        (at(4, accepted=False), (commit_name(4),)),
        (at(3, registration(4, accepted=False, table_id="other")), ()),
        (at(MOST_BETWEEN + 5), (commit_name(MOST_BETWEEN + 5),)),
        (at(2**62), (commit_name(2**62),)),
    ],
    ids=[
        "healthy", "pending", "looked up before", "an old incomplete entry", "old complete entries", "the newest entry",
        "a cleaned-up entry", "an entry expired meanwhile", "an edited entry", "in both folders", "an edited list",
        "an empty list",
        "an unused registration", "an unused one that is not named", "far above the log", "very far above it",
    ],
)  # fmt: skip
def test_what_the_listing_does_not_show_is_looked_up(facts: TableFacts, wanted: tuple[str, ...]) -> None:
    assert wanted_heads(facts) == wanted


def test_versions_between_the_listing_and_the_accepted_one_are_looked_up_newest_first() -> None:
    wanted = wanted_heads(coordinated_facts(listing(), registration(7, coordinator_commit(6))))

    assert [name for name in wanted if not name.startswith("_")] == [commit_name(version) for version in (7, 6, 5, 4)]


def test_look_ups_are_bounded_and_newest_first() -> None:
    wanted = wanted_heads(log_store_facts(listing(range(1)), *(entry(v) for v in range(1, 500))))

    assert (len(wanted), wanted[:2]) == (MOST_LOOKUPS, (temp_name(499), commit_name(499)))


def test_accepted_copies_are_compared_once_where_their_item_is_not_settled() -> None:
    facts = log_store_facts(listing(temp=[temp_name(1), temp_name(3)]), entry(1, complete=False), entry(3))
    listed = coordinated_facts(listing(staged=[staged_name(3)]), registration(3, coordinator_commit(3)))

    assert wanted_comparisons(facts) == ((1, temp_name(1), commit_name(1)),)
    assert wanted_comparisons(replace(facts, equal_bytes={temp_name(1): True})) == ()
    assert wanted_comparisons(listed) == ((3, staged_name(3), commit_name(3)),)


def encrypted(name: str, size: int = 1_000) -> LogObject:
    """An object whose ETag says nothing of its bytes."""
    return log_object(name, size=size, etag=name)


def test_a_staged_file_is_compared_where_its_size_and_etag_leave_it_in_doubt() -> None:
    told = [staged_name(3), log_object(staged_name(3, "loser"), size=900)]

    assert wanted_copies(at(3, staged=told)) == ()
    assert wanted_copies(at(3, staged=[encrypted(staged_name(3))])) == ((staged_name(3), commit_name(3)),)


def test_a_temp_file_is_compared_where_no_entry_speaks_of_its_version_or_a_complete_one_names_it() -> None:
    temp = [encrypted(temp_name(version)) for version in (1, 2, 3)]
    facts = log_store_facts(listing(temp=[*temp, encrypted(temp_name(3, "loser"))]), entry(2, complete=False), entry(3))

    assert wanted_copies(facts) == ((temp_name(3), commit_name(3)), (temp_name(1), commit_name(1)))
    unkept = log_store_facts(listing(temp=temp[:2]), entry(3), entries_from=3)
    assert wanted_copies(unkept) == ()


def test_files_that_a_list_names_or_whose_version_is_not_published_are_not_compared() -> None:
    log = listing(staged=[encrypted(staged_name(3)), encrypted(staged_name(4))])

    assert wanted_copies(coordinated_facts(log, registration(4, coordinator_commit(3), coordinator_commit(4)))) == ()


def test_rivals_are_compared_first_and_then_the_newest() -> None:
    staged = [encrypted(staged_name(version)) for version in range(1, 100)]
    log = listing(range(100), staged=[*staged, encrypted(staged_name(2, "rival"))])
    wanted = [name for name, _ in wanted_copies(coordinated_facts(log, registration(99)))]

    assert wanted[:3] == [staged_name(2), staged_name(2, "rival"), staged_name(99)]
    assert len(wanted) == MOST_COPIES


def test_comparisons_with_published_files_are_bounded_in_bytes() -> None:
    half = MOST_COPY_BYTES // 2
    commits = {version: encrypted(commit_name(version), half) for version in range(5)}
    log = replace(listing(staged=[encrypted(staged_name(version), half) for version in range(5)]), commits=commits)

    assert len(wanted_copies(coordinated_facts(log, registration(4)))) == 2
