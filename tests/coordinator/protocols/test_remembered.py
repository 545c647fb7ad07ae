"""What was proven of a version, or seen of one that is gone from the end of the log, outlives its items and files."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from coordinator.protocols.log_view import LogView
from coordinator.protocols.needed_facts import wanted_heads
from coordinator.protocols.overwritten import with_proofs
from coordinator.protocols.provenance import Surroundings, abandoned, provenance_of
from coordinator.protocols.remembered import MOST_LOOKED_UP, judge_vanished
from coordinator.protocols.verdict import Finding, Severity, State
from lake.delta.facts import (
    Acceptance,
    AskedStores,
    CommitInfo,
    LogListing,
    Mechanism,
    Provenance,
    ReadingProblem,
    TableFacts,
)
from tests.builders.facts import (
    COORDINATOR,
    DAY,
    NOW,
    STORE,
    TABLE_ID,
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
    table_facts,
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
    assert "…3.json is that of s3a://lake/orders: rows of the other are not in the table." in found.summary


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

    assert found.summary.endswith("Which of them …3.json holds is not known.")


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
    assert "…3.json is that of " + B in found.summary
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
    assert "…3.json is that of commits: rows of the other" in finding(alone, "accepted-twice").summary
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


DELTA_RS = "_commit_8f0a3b0c-7f7e-4c5e-9d57-1d2b5f0a9c11.json.tmp"
EXPIRES = 1_700_000_000
NEVER_SEEN: dict[str, Any] = {"seen_at": None, "size": None, "etag": None}


def looked_up(facts: TableFacts, *found: int) -> TableFacts:
    """The facts after every object that diagnosis wants was looked up; of versions only those are there."""
    there = {commit_name(version): log_object(commit_name(version)) for version in found}
    return replace(facts, heads={name: there.get(name) for name in wanted_heads(facts)})


def after(*seen: Provenance, log: Any = None, **facts: Any) -> TableFacts:
    """Versions 0 to 4 are there, these were seen, and all that is wanted was looked up and is not there."""
    return looked_up(table_facts(log or listing(range(5)), seen=seen, **facts))


def vanished(facts: TableFacts) -> list[Finding]:
    return judge_vanished(LogView(facts))


def accepted(version: int, name: str = "", **known: Any) -> Provenance:
    """A version that an entry was seen to accept, and that was never seen published."""
    return provenance(version, store=STORE, file_name=name or temp_name(version), **NEVER_SEEN, **known)


COORDINATED = provenance(5, store=COORDINATOR, **{**NEVER_SEEN, "lock_domain": TABLE_ID})


@pytest.mark.parametrize("mechanism", Mechanism)
def test_versions_that_were_published_and_are_gone_are_one_finding(mechanism: Mechanism) -> None:
    (found,) = vanished(after(*(provenance(v) for v in range(8)), mechanism=mechanism))

    assert (found.severity, found.state, found.version) == (Severity.CRITICAL, State.UNSAFE, 7)
    assert found.summary == (
        "Versions 5 to 7 were published and are gone, and no item names them any more. Readers silently see 4."
    )
    assert [one["version"] for one in found.evidence["gone"]] == [5, 6, 7]
    assert found.evidence["gone"][0]["etag"] == "e"


def test_nothing_is_said_before_they_were_looked_up_once_more() -> None:
    facts = table_facts(listing(range(5)), seen=[provenance(v) for v in range(8)])

    assert vanished(facts) == []
    assert wanted_heads(facts) == tuple(commit_name(version) for version in (7, 6, 5))


def test_a_file_that_has_come_back_meanwhile_is_not_gone() -> None:
    facts = looked_up(table_facts(listing(range(5)), seen=[provenance(v) for v in range(6)]), 5)

    assert vanished(facts) == []
    assert verdict_of(facts).published_version == 5


def test_a_version_that_was_accepted_and_never_seen_published_is_lost_all_the_same() -> None:
    (found,) = vanished(after(accepted(5)))

    assert (found.severity, found.state, found.version) == (Severity.CRITICAL, State.UNSAFE, 5)
    assert found.summary == (
        "Version 5 was accepted and was never seen published, and no item names it any more. Readers silently see 4."
    )


def asked(**stores: Any) -> dict[str, Any]:
    return {"asked_stores": AskedStores(**{name: frozenset(held) for name, held in stores.items()})}


@pytest.mark.parametrize(
    ("seen", "read", "code"),
    [
        (accepted(5), {"problems": [ReadingProblem("entries", "AccessDenied")]}, "undecided"),
        (accepted(5), {"unread_stores": [ReadingProblem(f"DynamoDB table {STORE}", "AccessDenied")]}, "undecided"),
        (accepted(5), {"unread_stores": [ReadingProblem("DynamoDB table another", "AccessDenied")]}, "vanished"),
        (accepted(5), asked(log_stores=["another"]), "undecided"),
        (accepted(5), asked(coordinators=[STORE]), "undecided"),
        (accepted(5), asked(log_stores=[STORE]), "vanished"),
        (accepted(5), {"region": "us-east-1"}, "undecided"),
        (accepted(5, expire_time=EXPIRES), {}, "vanished"),
        (accepted(5, DELTA_RS), {}, "undecided"),
        (accepted(5, DELTA_RS, expire_time=EXPIRES), {}, "vanished"),
        (COORDINATED, asked(log_stores=[COORDINATOR]), "undecided"),
        (COORDINATED, asked(registrations=[(COORDINATOR, "another")]), "undecided"),
        (COORDINATED, asked(registrations=[(COORDINATOR, TABLE_ID)]), "vanished"),
        (COORDINATED, asked(coordinators=[COORDINATOR]), "vanished"),
        (COORDINATED, {}, "vanished"),
    ],
)
def test_a_lost_commit_is_undecided_while_its_store_is_unread_or_it_may_be_given_up(seen, read, code) -> None:
    assert [one.code for one in vanished(after(seen, **read))] == [code]


def test_the_store_that_was_not_read_is_named() -> None:
    (found,) = vanished(after(accepted(5), region="us-east-1"))

    assert (found.severity, found.state) == (Severity.WARNING, State.NOT_CHECKED)
    assert f"{STORE}, which accepted it, was not read" in found.summary


def test_what_an_admin_gave_up_is_not_lost_again() -> None:
    assert vanished(after(abandoned(accepted(5), [temp_name(5)], NOW))) == []


def test_while_an_item_names_it_a_lost_file_has_its_state() -> None:
    by_entry = looked_up(log_store_facts(listing(range(5)), entry(4), entry(5), seen=[provenance(5)]))
    by_registration = looked_up(coordinated_facts(listing(range(5)), registration(5), seen=[provenance(5)]))

    assert codes(by_entry) == ["C7"]
    assert vanished(by_registration) == []


@pytest.mark.parametrize("commits", [[3, 5], []], ids=["a gap and a cleaned-up beginning", "no commit at all"])
def test_what_is_not_gone_from_the_end_is_another_matter(commits: list[int]) -> None:
    assert vanished(after(*(provenance(v) for v in range(6)), log=listing(commits))) == []


def test_files_that_hold_what_was_committed_are_named() -> None:
    temp = log_object(temp_name(5))
    facts = after(provenance(5), log=listing(range(5), temp=[temp]))

    assert vanished(facts)[0].evidence["gone"][0]["survivors"] == [temp.name]
    assert [one["file"] for one in finding(facts, "vanished").evidence["last_copies"]] == [temp.name]


def test_of_very_many_only_those_next_to_the_end_are_looked_up() -> None:
    facts = table_facts(listing(range(5)), seen=[provenance(v) for v in range(99)])
    (found,) = vanished(looked_up(facts))

    assert sorted(wanted_heads(facts)) == [commit_name(version) for version in range(5, 5 + MOST_LOOKED_UP)]
    assert (found.version, found.evidence["count"], len(found.evidence["gone"])) == (98, 94, MOST_LOOKED_UP)
