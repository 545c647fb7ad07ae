"""Which orphans a plan removes, in which order, and which stay."""

from dataclasses import replace

import pytest

from changes.plan import ChangePlan
from coordinator.repairs import object_calls, orphan_calls
from lake.delta.facts import Acceptance, TableFacts
from lake.delta.names import checksum_name
from tests.builders.facts import (
    DAY,
    TABLE_ID,
    commit_name,
    entry,
    listing,
    log_object,
    log_store_facts,
    provenance,
    registration,
    staged_name,
    temp_name,
)
from tests.coordinator.repairs.states import STAMP, default_file, file, kinds, losers, never_named, plans, refusals
from tests.coordinator.repairs.test_planning import PLANNED_BY_NAME


def of_two_coordinators(*, closed_at: int = 3) -> TableFacts:
    """As `losers`, with a second registration, which is closed and lists nothing any more."""
    other = registration(closed_at, table_id="other", store="commits_eu", accepting=False)
    facts = losers("lost")
    return replace(facts, registrations=(*facts.registrations, other))


@pytest.mark.parametrize("closed_at", [3, 4])
def test_a_staged_file_that_a_second_coordinator_may_have_accepted_goes_on_nobodys_word(closed_at):
    assert plans(losers("lost"))["remove-orphans"].danger == ""
    assert "an accepted commit of version 3" in plans(of_two_coordinators(closed_at=closed_at))["remove-orphans"].danger


def test_a_coordinator_that_was_closed_below_a_version_did_not_accept_it():
    assert plans(of_two_coordinators(closed_at=2))["remove-orphans"].danger == ""


def test_a_staged_file_of_a_coordinator_that_is_gone_goes_on_nobodys_word():
    of_another = provenance(2, store="commits_eu", lock_domain="other", file_name=f"{2:020d}.x.json")
    facts = replace(losers("lost"), provenance={2: of_another})

    assert "an accepted commit of version 3" in plans(facts)["remove-orphans"].danger


def test_a_staged_file_that_a_removed_registration_was_seen_to_list_stays():
    name = staged_name(3, "lost").partition("/")[2]
    by_other = Acceptance("commits_eu", "eu-west-1", "other", name)
    known = provenance(3, store="commits", lock_domain=TABLE_ID, disputed=True, rivals=(by_other,))

    assert "remove-orphans" not in plans(replace(losers("lost"), provenance={3: known}))


def test_orphans_are_removed_in_bounded_plans():
    files = [log_object(temp_name(3, f"lost{number}"), age=2 * DAY) for number in range(1_000)]
    plan = plans(log_store_facts(listing(temp=[*files, temp_name(3)]), entry(3)))["remove-orphans"]

    assert len(plan.calls) == 300
    assert "700 more" in " ".join(plan.consequences)


def deleted(plan: ChangePlan) -> set[str]:
    """The files that a plan deletes, relative to the log."""
    found = {call.key.partition("_delta_log/")[2] for call in plan.calls if isinstance(call, orphan_calls.DeleteOrphan)}
    assert found
    return found


def test_what_is_proven_goes_and_what_is_not_stays_for_another_plan():
    """Of two losers one may be the transaction's own second try."""
    facts = losers("lost", "again")
    again = replace(default_file(staged_name(3, "again")), size=7)
    plan = plans(facts, files={staged_name(3, "again"): again})["remove-orphans"]

    assert (plan.can_lose, deleted(plan)) == (False, {staged_name(3, "lost")})
    assert "1 file that may be the last copy of an accepted commit stay" in " ".join(plan.consequences)


def test_a_registration_at_the_version_tells_a_loser_by_its_time():
    at_three = replace(losers("lost", checksum=False), registrations=(replace(registration(3), table_timestamp=7),))
    files = {commit_name(3): file(commit_name(3), time=7), staged_name(3, "lost"): file(staged_name(3, "lost"), time=8)}
    tied = {**files, staged_name(3, "lost"): file(staged_name(3, "lost"), time=7)}

    assert not plans(at_three, files=files)["remove-orphans"].can_lose
    assert plans(at_three, files=tied)["remove-orphans"].can_lose


def test_a_file_that_cannot_be_read_as_a_commit_witnesses_nothing():
    for name in (commit_name(3), staged_name(3, "lost")):
        broken = {name: replace(default_file(name), problems=("line 1: cut off",))}
        assert plans(losers("lost"), files=broken)["remove-orphans"].can_lose


def test_no_staged_file_goes_while_none_equals_the_published_one():
    facts = losers("lost", "other", staged=[log_object(staged_name(3), size=8, age=2 * DAY)])

    assert "remove-orphans" not in plans(facts)
    assert "last copy" in refusals(facts)["remove-orphans"]


def test_a_published_file_is_compared_again_with_the_staged_one_before_its_rivals_go():
    [equal, delete] = plans(losers("lost"))["remove-orphans"].calls

    assert equal == object_calls.RequireEqual(
        "lake", f"orders/_delta_log/{staged_name(3)}", f"orders/_delta_log/{commit_name(3)}"
    )
    assert isinstance(delete, orphan_calls.DeleteOrphan)


def test_a_losers_file_goes_while_its_entry_names_the_other():
    [delete] = plans(PLANNED_BY_NAME["C1"])["remove-orphans"].calls

    assert isinstance(delete, orphan_calls.DeleteOrphan)
    assert (delete.named, delete.survivor) == (temp_name(3), "")


@pytest.mark.parametrize("own", [STAMP - 10 * DAY * 1_000, None])
def test_a_temp_file_that_was_brought_back_is_as_old_as_it_says_itself(own):
    """S3 gives what is restored the time of then, too late for an entry of its own to have expired."""
    name = temp_name(3, "lost")
    plan = plans(PLANNED_BY_NAME["C1"], files={name: replace(default_file(name), timestamp=own)})["remove-orphans"]

    assert kinds(plan) == ["SaveAside", "DeleteOrphan"]


def test_a_temp_file_whose_own_entry_may_have_expired_is_kept_before_it_goes():
    plan = plans(
        log_store_facts(listing(temp=[log_object(temp_name(3, "first"), size=7, age=3 * DAY), temp_name(3)]), entry(3))
    )["remove-orphans"]
    [save, delete] = plan.calls

    assert plan.can_lose
    assert isinstance(save, object_calls.SaveAside)
    assert isinstance(delete, orphan_calls.DeleteOrphan)
    assert (save.source, delete.survivor) == (delete.key, save.key)


def test_a_plan_that_keeps_a_copy_keeps_it_where_the_shown_plan_said():
    plan = plans(never_named())["remove-orphans"].saving_under("shown")

    assert [call.key for call in plan.calls if isinstance(call, object_calls.SaveAside)] == [
        call.survivor for call in plan.calls if isinstance(call, orphan_calls.DeleteOrphan)
    ]
    assert plan.rescue_folder == "shown"


def test_the_temp_file_of_an_expired_entry_is_no_orphan_while_its_version_left_a_trace():
    """The file of version 4 may have been lost after its entry expired; its checksum is still there."""
    log = listing(temp=[log_object(temp_name(4), age=2 * DAY)])
    facts = log_store_facts(replace(log, checksums={4: log_object(checksum_name(4))}), entry(3))

    assert "remove-orphans" not in plans(facts)
