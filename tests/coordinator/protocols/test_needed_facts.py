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
from lake.delta.facts import LogObject
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


def test_a_healthy_table_needs_nothing_more() -> None:
    facts = log_store_facts(listing(temp=None), *(entry(v) for v in range(4)))

    assert wanted_heads(facts) == ()
    assert wanted_comparisons(facts) == ()


def test_a_pending_entry_needs_its_temp_file_and_then_its_file() -> None:
    facts = log_store_facts(listing(range(3), temp=None), entry(2), entry(3, complete=False))

    assert wanted_heads(facts) == (temp_name(3), commit_name(3))


def test_what_was_looked_up_is_not_wanted_again() -> None:
    heads = {temp_name(3): None, commit_name(3): None}
    facts = log_store_facts(listing(range(3), temp=None), entry(3, complete=False), heads=heads)

    assert wanted_heads(facts) == ()


def test_an_old_incomplete_entry_below_a_partial_listing_is_looked_up() -> None:
    facts = log_store_facts(listing([8, 9], from_version=8, temp=None), entry(2, complete=False), entry(9))

    assert wanted_heads(facts) == (temp_name(2), commit_name(2))


def test_old_complete_entries_below_a_partial_listing_are_not_looked_up() -> None:
    facts = log_store_facts(listing([8, 9], from_version=8, temp=None), *(entry(v) for v in range(10)))

    assert wanted_heads(facts) == ()


def test_the_newest_entry_below_a_partial_listing_is_looked_up() -> None:
    facts = log_store_facts(listing([8, 9], from_version=8, temp=None), entry(5))

    assert wanted_heads(facts) == (temp_name(5), commit_name(5))


def test_an_unbackfilled_commit_is_looked_up_in_both_folders() -> None:
    facts = coordinated_facts(listing(staged=None), registration(4, coordinator_commit(4)))

    assert wanted_heads(facts) == (staged_name(4), staged_name(4, folder="_commits"), commit_name(4))


def test_the_accepted_version_is_looked_up_although_the_list_is_empty() -> None:
    assert wanted_heads(coordinated_facts(listing(), registration(4))) == (commit_name(4),)


def test_an_unused_registration_is_looked_up_if_the_metadata_names_it() -> None:
    assert wanted_heads(coordinated_facts(listing(), registration(4, accepted=False))) == (commit_name(4),)
    orphan = registration(4, accepted=False, table_id="other")
    assert wanted_heads(coordinated_facts(listing(), registration(3), orphan)) == ()


def test_versions_between_the_listing_and_the_accepted_one_are_looked_up_newest_first() -> None:
    facts = coordinated_facts(listing(), registration(7, coordinator_commit(6)))

    commits = [name for name in wanted_heads(facts) if not name.startswith("_")]
    assert commits == [commit_name(version) for version in (7, 6, 5, 4)]


def test_a_version_whose_entry_expired_meanwhile_is_looked_up() -> None:
    facts = log_store_facts(listing(), entry(6))

    assert wanted_heads(facts) == (temp_name(6), commit_name(6), commit_name(5), commit_name(4))


@pytest.mark.parametrize("version", [MOST_BETWEEN + 5, 2**62])
def test_an_item_far_above_the_log_costs_no_request_for_each_version(version: int) -> None:
    assert wanted_heads(coordinated_facts(listing(), registration(version))) == (commit_name(version),)


def test_an_edited_item_cannot_point_elsewhere() -> None:
    tricked = entry(4, complete=False, temp="../../other/_delta_log/.tmp/x")
    listed = coordinator_commit(4, name="../../../secret.json")

    assert wanted_heads(log_store_facts(listing(), tricked)) == (commit_name(4),)
    assert wanted_heads(coordinated_facts(listing(), registration(3, listed))) == (commit_name(4),)


def test_look_ups_are_bounded_and_newest_first() -> None:
    facts = log_store_facts(listing(range(1)), *(entry(v) for v in range(1, 500)))

    assert len(wanted_heads(facts)) == MOST_LOOKUPS
    assert wanted_heads(facts)[:2] == (temp_name(499), commit_name(499))


def test_copies_of_an_incomplete_entry_are_to_be_compared() -> None:
    facts = log_store_facts(listing(temp=[temp_name(1), temp_name(3)]), entry(1, complete=False), entry(3))

    assert wanted_comparisons(facts) == ((1, temp_name(1), commit_name(1)),)


def test_a_listed_commit_that_is_published_is_to_be_compared() -> None:
    facts = coordinated_facts(listing(staged=[staged_name(3)]), registration(3, coordinator_commit(3)))

    assert wanted_comparisons(facts) == ((3, staged_name(3), commit_name(3)),)


def test_a_comparison_that_was_made_is_not_wanted_again() -> None:
    facts = log_store_facts(listing(temp=[temp_name(3)]), entry(3, complete=False), equal_bytes={3: True})

    assert wanted_comparisons(facts) == ()


def encrypted(name: str, size: int = 1_000) -> LogObject:
    """An object whose ETag says nothing of its bytes."""
    return log_object(name, size=size, etag=name)


def test_a_file_whose_etag_and_size_tell_all_is_not_compared() -> None:
    staged = [staged_name(3), log_object(staged_name(3, "loser"), size=900)]

    assert wanted_copies(coordinated_facts(listing(staged=staged), registration(3))) == ()


def test_a_staged_file_of_the_published_size_under_another_etag_is_compared() -> None:
    facts = coordinated_facts(listing(staged=[encrypted(staged_name(3))]), registration(3))

    assert wanted_copies(facts) == ((staged_name(3), commit_name(3)),)


def test_a_temp_file_is_compared_where_no_entry_speaks_of_its_version_or_a_complete_one_names_it() -> None:
    temp = [encrypted(temp_name(version)) for version in (1, 2, 3)]
    log = listing(temp=[*temp, encrypted(temp_name(3, "loser"))])
    facts = log_store_facts(log, entry(2, complete=False), entry(3))

    assert wanted_copies(facts) == ((temp_name(3), commit_name(3)), (temp_name(1), commit_name(1)))


def test_a_temp_file_whose_entries_were_not_all_kept_is_not_compared() -> None:
    facts = log_store_facts(listing(temp=[encrypted(temp_name(2))]), entry(3))

    assert wanted_copies(replace(facts, entries_from=3)) == ()


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
