"""What was proven of a version stands after the items and files that proved it have gone."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from coordinator.protocols.log_view import LogView
from coordinator.protocols.overwritten import with_proofs
from coordinator.protocols.provenance import Surroundings, provenance_of
from coordinator.protocols.verdict import State
from lake.delta.facts import Acceptance, CommitInfo, LogListing, Provenance, TableFacts
from tests.builders.facts import (
    DAY,
    NOW,
    STORE,
    commit_name,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    provenance,
    registration,
    said,
    staged_name,
    temp_name,
)
from tests.coordinator.protocols.judged import codes, finding, verdict_of

A, B = temp_name(3, "aaaa"), temp_name(3, "bbbb")
OTHER_PATH = "s3://lake/orders"
OTHER_ID = "22222222-0b3c-4f6e-9b9a-2f3d4c5b6a71"


def log(*temp: tuple[str, str], published: str = "ea", size: int = 1_000, age: float = 3_600) -> LogListing:
    """Versions 0 to 3, the last of them with this ETag and size; temp files by name and ETag."""
    one = listing(range(4), age=age, temp=[log_object(name, etag=etag, age=age) for name, etag in temp])
    return replace(one, commits={**one.commits, 3: log_object(commit_name(3), etag=published, size=size, age=age)})


BOTH = ((A, "ea"), (B, "eb"))


def remembered(facts: TableFacts) -> Iterable[Provenance]:
    """What a reading of these facts leaves behind."""
    view = LogView(facts)
    return [with_proofs(view, one) for one in provenance_of(view, Surroundings("eu-west-1")).values()]


def by_version(known: Iterable[Provenance]) -> dict[int, Provenance]:
    return {one.version: one for one in known}


def under_two_paths(**options: object) -> TableFacts:
    entries = (entry(3, temp=A), entry(3, temp=B, path=OTHER_PATH))
    return log_store_facts(log(*BOTH), *entries, copies={A: True, B: False}, equal_bytes={A: True, B: False}, **options)


def later(*temp: tuple[str, str], seen: Iterable[Provenance], published: str = "ea", **read: object) -> TableFacts:
    """The table once every entry has expired; temp files by name and ETag."""
    return log_store_facts(log(*temp, published=published, age=2 * DAY), seen=seen, **read)


def unsafe(facts: TableFacts) -> list[str]:
    return [one.code for one in verdict_of(facts).findings if one.state is State.UNSAFE]


def test_a_version_that_was_accepted_twice_stays_so_after_both_entries_have_expired() -> None:
    facts = later(*BOTH, seen=remembered(under_two_paths()), copies={A: True, B: False})
    found = finding(facts, "accepted-twice")

    assert verdict_of(facts).state is found.state is State.UNSAFE
    assert OTHER_PATH in found.summary
    assert f"s3a://lake/orders (seen {NOW:%d %b %Y %H:%M} UTC)" in found.summary
    assert "3.json is that of s3a://lake/orders: rows of the other are not in the table." in found.summary


def test_it_stays_so_without_a_byte_of_the_copies_left() -> None:
    found = finding(later(seen=remembered(under_two_paths())), "accepted-twice")

    assert [one["is_published"] for one in found.evidence["accepted"]] == [False, True]  # type: ignore[attr-defined]


def test_it_stays_so_while_one_of_the_two_stores_still_holds_its_entry() -> None:
    theirs = {"other": [entry(3, temp=B)]}
    first = log_store_facts(log(*BOTH), entry(3, temp=A), in_stores=theirs, equal_bytes={A: True, B: False})
    facts = log_store_facts(log(*BOTH), entry(3, temp=A), equal_bytes={A: True}, seen=remembered(first))

    assert re.search("under delta_log .* under other ", finding(facts, "accepted-twice").summary)


def test_what_of_both_is_missing_is_not_guessed() -> None:
    facts = log_store_facts(log(published="kms"), entry(3, temp=A), entry(3, temp=B, path=OTHER_PATH))
    found = finding(later(seen=remembered(facts), published="kms"), "accepted-twice")

    assert found.summary.endswith("Which of them 3.json holds is not known.")


def test_two_copies_of_one_commit_end_it() -> None:
    facts = later(*BOTH, seen=remembered(under_two_paths()), copies={A: True, B: True})

    assert verdict_of(facts).state is State.HEALTHY


def test_log_clean_up_ends_it() -> None:
    cleaned = listing(range(4, 9), checkpoints=[6])

    assert "accepted-twice" not in codes(log_store_facts(cleaned, seen=remembered(under_two_paths())))


def accepted_anew(first: str, again: str, **read: object) -> TableFacts:
    """One lock accepted version 3 twice, the second time after its first entry had gone; that one is published."""
    before = log_store_facts(listing(range(3), temp=[first]), entry(3, temp=first, complete=False))
    after = log_store_facts(log((again, "eb"), published="eb"), entry(3, temp=again), seen=remembered(before), **read)
    return replace(after, provenance=by_version(remembered(after)))


def test_one_lock_that_accepted_a_version_anew_has_lost_the_first_commit() -> None:
    facts = accepted_anew(A, B)
    found = finding(facts, "accepted-twice")

    assert (found.version, found.state) == (3, State.UNSAFE)
    assert f"as {A} (seen " in found.summary
    assert f"as {B} (seen " in found.summary
    assert "3.json is that of " + B in found.summary
    assert "accepted-twice" in codes(later((B, "eb"), published="eb", seen=facts.provenance.values()))


def test_one_lock_that_accepted_the_same_bytes_again_has_lost_nothing() -> None:
    facts = log_store_facts(log((A, "ea"), (B, "eb")), entry(3, temp=B), copies={A: True, B: True})
    first = provenance(3, store=STORE, file_name=A, accepted_etag="ea")

    again = replace(facts, provenance=by_version(remembered(replace(facts, provenance={3: first}))))
    assert "accepted-twice" not in codes(again)


def test_a_commit_of_delta_rs_that_it_may_have_given_up_is_undecided() -> None:
    first, again = (f"_commit_{name}-7f7e-4c5e-9d57-1d2b5f0a9c11.json.tmp" for name in ("8f0a3b0c", "9f0a3b0c"))
    facts = accepted_anew(first, again)

    assert "accepted-twice" not in codes(facts)
    assert finding(facts, "undecided").summary == (
        "Whether a first commit of version 3 was lost cannot be decided: its entry was gone before it was complete, "
        "and delta-rs, which wrote it, removes what it gives up."
    )


def test_a_commit_of_spark_is_not_one_that_delta_rs_gave_up() -> None:
    again = "_commit_8f0a3b0c-7f7e-4c5e-9d57-1d2b5f0a9c11.json.tmp"

    assert "accepted-twice" in codes(accepted_anew(A, again))


def test_a_file_that_is_left_of_two_accepted_ones_does_not_make_the_published_one_a_replaced_one() -> None:
    facts = later((B, "eb"), copies={B: False}, seen=remembered(under_two_paths()))

    assert unsafe(facts) == ["accepted-twice"]


def test_an_entry_beside_the_coordinators_list_is_no_second_commit() -> None:
    staged = Acceptance("commits", "eu-west-1", OTHER_ID, staged_name(3).partition("/")[2])
    known = provenance(3, store=STORE, file_name=A, etag="ea", accepted_etag="ea", disputed=True, rivals=(staged,))

    facts = log_store_facts(log((A, "ea")), entry(3, temp=A), copies={A: True}, seen=[known])
    assert verdict_of(facts).state is State.HEALTHY


def test_of_two_coordinators_both_commits_stay_after_one_registration_has_gone() -> None:
    mine, theirs = (coordinator_commit(3, name=f"{3:020d}.{uid}.json") for uid in ("aaaa", "bbbb"))
    both = (registration(3, mine), registration(3, theirs, table_id=OTHER_ID, store="commits_eu"))
    staged = [log_object(staged_name(3, "aaaa"), etag="e"), log_object(staged_name(3, "bbbb"), etag="eb")]
    compared = {staged[0].name: True, staged[1].name: False}
    first = coordinated_facts(listing(staged=staged), *both, equal_bytes=compared, copies=compared)

    alone = coordinated_facts(listing(staged=staged), registration(3), copies=compared, seen=remembered(first))
    assert "3.json is that of commits: rows of the other" in finding(alone, "accepted-twice").summary
    assert "commits_eu" in finding(alone, "accepted-twice").summary
    assert unsafe(replace(alone, listing=listing(staged=staged[1:]))) == ["accepted-twice"]


def replaced(**options: object) -> TableFacts:
    """The entry names A, and 3.json holds other bytes of the same size under an ETag that tells nothing."""
    return log_store_facts(
        log((A, "ea"), published="ex"), entry(3, temp=A), copies={A: False}, equal_bytes={A: False}, **options
    )


def test_a_published_file_that_was_shown_not_to_be_the_accepted_one_stays_so() -> None:
    seen = list(remembered(replaced()))
    facts = later(published="ex", seen=seen)
    found = finding(facts, "bytes-differ")

    assert verdict_of(facts).state is found.state is State.UNSAFE
    assert A in found.summary
    assert STORE in found.summary
    assert "gone" in found.meaning
    assert unsafe(log_store_facts(log(published="ex"), entry(3, temp=A), seen=seen)) == ["bytes-differ"]


@pytest.mark.parametrize("facts", [under_two_paths, replaced])
def test_while_items_and_files_are_there_it_is_told_once(facts: Callable[..., TableFacts]) -> None:
    verdict = verdict_of(facts(seen=remembered(facts())))

    assert "more finding" not in "".join(one.summary for one in verdict.findings)


def test_a_file_that_was_seen_before_and_then_replaced_is_overwritten_after_its_copy_has_gone() -> None:
    known = provenance(3, etag="first", store=STORE, file_name=A, accepted_size=1_000)

    assert unsafe(later(published="ex", seen=remembered(replaced(seen=[known])))) == ["overwritten"]


@pytest.mark.parametrize(
    ("published", "infos"), [("ea", []), ("kms", [said(3, etag="kms", digest="ea")])], ids=["its ETag", "its MD5"]
)
def test_a_published_file_that_is_shown_to_be_right_ends_it(published: str, infos: list[CommitInfo]) -> None:
    facts = later(published=published, infos=infos, seen=remembered(replaced()))

    assert verdict_of(facts).state is State.HEALTHY


def test_a_wrong_file_that_is_put_again_does_not_end_it() -> None:
    seen = [replace(one, digest="wrong") if one.version == 3 else one for one in remembered(replaced())]
    same = later(published="again", infos=[said(3, etag="again", digest="wrong")], seen=seen)

    assert unsafe(same) == ["overwritten"]


def test_a_file_put_again_that_nothing_can_be_compared_with_is_not_called_right() -> None:
    assert verdict_of(later(published="again", seen=remembered(replaced()))).state is State.NOT_CHECKED


def test_a_copy_that_was_written_again_proves_nothing_against_the_file_it_was_published_as() -> None:
    known = provenance(3, etag="ea", store=STORE, file_name=A, accepted_size=1_000, accepted_etag="ea")
    facts = log_store_facts(log((A, "new")), entry(3, temp=A), copies={A: False}, equal_bytes={A: False}, seen=[known])

    (of_three,) = (one for one in remembered(facts) if one.version == 3)
    assert of_three.differs_etag is None


def test_of_more_versions_than_are_told_singly_every_last_copy_is_named() -> None:
    """The oldest are those that a rule which deletes by age reaches first."""
    versions, rival = range(1, 31), "eb"
    temps = [log_object(temp_name(version, "bbbb"), etag=rival, size=999) for version in versions]
    both = {"other": [entry(version, temp=temp_name(version, "bbbb")) for version in versions]}
    own = [entry(version, temp=temp_name(version, "aaaa")) for version in versions]
    held = log_store_facts(listing(range(31), temp=temps), *own, in_stores=both)
    facts = log_store_facts(listing(range(31), temp=temps), seen=remembered(held))

    found = [one for one in verdict_of(facts).findings if one.code == "accepted-twice"]
    copies = {copy["file"] for one in found for copy in one.evidence["last_copies"]}
    assert len(found) < len(versions)
    assert copies == {one.name for one in temps}


def test_an_item_that_somebody_raised_and_left_its_time_proves_nothing_against_the_file() -> None:
    """As the reference has it for K9; the item lists nothing, so that its time is all that it says of the version."""
    stamp = int(NOW.timestamp() * 1_000) - 3_600_000
    raised = replace(registration(3), table_timestamp=stamp - 5)
    held = replace(coordinated_facts(listing(range(4)), raised), commit_infos={3: said(3, in_commit_timestamp=stamp)})
    facts = coordinated_facts(listing(range(4)), registration(4), seen=remembered(held))

    assert by_version(remembered(held))[3].differs_etag is None
    assert "bytes-differ" not in codes(facts)
