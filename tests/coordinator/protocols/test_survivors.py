"""What proves that a file may be deleted, and what does not."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from coordinator.protocols.survivors import (
    NamedFile,
    Proof,
    Said,
    Staged,
    Witnesses,
    WrittenAside,
    fate_of_registration,
    fate_of_staged,
    fate_of_temp,
)
from lake.delta.facts import Acceptance, Registration
from tests.builders.facts import (
    DAY,
    commit_name,
    coordinator_commit,
    entry,
    log_object,
    provenance,
    registration,
    staged_name,
    temp_name,
)

FILE = log_object(temp_name(2, "this"), age=2 * DAY)
ANOTHER = log_object(temp_name(2), age=2 * DAY)
PUBLISHED = log_object(commit_name(2), age=2 * DAY)
ASIDE = WrittenAside(FILE, 2, PUBLISHED, False)
NAMED = entry(2, temp=FILE.name)
OTHER = NamedFile(entry(2), ANOTHER)


def seen_accepting(name: str, **known: Any) -> WrittenAside:
    return replace(ASIDE, provenance=provenance(2, age=2 * DAY - 1, store="delta_log", file_name=name, **known))


TEMP_FATES: list[tuple[str, WrittenAside, Proof]] = [
    ("a copy", replace(ASIDE, is_copy=True), Proof.COPIED),
    ("a copy that a complete entry names", replace(ASIDE, is_copy=True, entries=[NamedFile(NAMED)]), Proof.COPIED),
    ("another is named", replace(ASIDE, entries=[OTHER]), Proof.NEVER_ACCEPTED),
    ("a moved one is named", replace(ASIDE, entries=[NamedFile(entry(2, temp="_commit_9.json.tmp"))],
                                    published=log_object(commit_name(2), age=2 * DAY - 60)), Proof.NEVER_ACCEPTED),
    ("another was seen to be named", seen_accepting(ANOTHER.name), Proof.NEVER_ACCEPTED),
    ("witnesses name another", replace(ASIDE, witnessed=True, copy_beside=True), Proof.NEVER_ACCEPTED),
    ("an incomplete entry names it", replace(ASIDE, entries=[NamedFile(entry(2, temp=FILE.name, complete=False))]),
     Proof.NEEDED),
    ("an incomplete entry names a copy",
     replace(ASIDE, is_copy=True, entries=[NamedFile(entry(2, temp=FILE.name, complete=False))]), Proof.NEEDED),
    ("a complete entry names it, the file is gone", replace(ASIDE, published=None, is_copy=None,
                                                            entries=[NamedFile(NAMED)]), Proof.NEEDED),
    ("a complete entry names it, the file differs", replace(ASIDE, entries=[NamedFile(NAMED)]), Proof.NEEDED),
    ("a complete entry names it, not compared", replace(ASIDE, is_copy=None, entries=[NamedFile(NAMED)]), Proof.NEEDED),
    ("it was seen to be named", seen_accepting(FILE.name), Proof.NEEDED),
    ("both were seen to be named", seen_accepting(FILE.name, disputed=True), Proof.NEEDED),
    ("two others were seen to be named", seen_accepting(ANOTHER.name, disputed=True), Proof.UNPROVEN),
    ("another is named, and two were seen to be",
     replace(seen_accepting(ANOTHER.name, disputed=True), entries=[OTHER]), Proof.UNPROVEN),
    ("witnesses name another, and two were seen to be named",
     replace(seen_accepting(ANOTHER.name, disputed=True), witnessed=True), Proof.UNPROVEN),
    ("two were seen to be named, and it is a copy",
     replace(seen_accepting(ANOTHER.name, disputed=True), is_copy=True), Proof.COPIED),
    ("one of two entries names it", replace(ASIDE, entries=[OTHER, NamedFile(NAMED)]), Proof.NEEDED),
    ("an entry cannot be read", replace(ASIDE, entries=[NamedFile(entry(2, complete=None))]), Proof.NEEDED),
    ("an entry is malformed", replace(ASIDE, entries=[NamedFile(entry(2, problems=("x",)))]), Proof.NEEDED),
    ("an entry names another version", replace(ASIDE, entries=[NamedFile(entry(2, temp=temp_name(3)))]), Proof.NEEDED),
    ("no version", replace(ASIDE, version=None), Proof.UNPROVEN),
    ("no entry, not published", replace(ASIDE, published=None, is_copy=None), Proof.UNPROVEN),
    ("no entry, other bytes", ASIDE, Proof.UNPROVEN),
    ("no entry, not compared", replace(ASIDE, is_copy=None), Proof.UNPROVEN),
    ("witnesses name another, which left no temp file", replace(ASIDE, witnessed=True), Proof.UNPROVEN),
    ("another is named, and it says itself that it is older than its object",
     replace(ASIDE, entries=[OTHER], written_at=FILE.modified_at - timedelta(days=10)), Proof.UNPROVEN),
    ("another is named, and it says itself that it was written then",
     replace(ASIDE, entries=[OTHER], written_at=FILE.modified_at), Proof.NEVER_ACCEPTED),
    ("not compared, though witnessed", replace(ASIDE, is_copy=None, witnessed=True), Proof.UNPROVEN),
    ("another is named since its own entry may have expired",
     replace(ASIDE, entries=[NamedFile(entry(2), log_object(temp_name(2), age=2 * DAY - 3_600))]), Proof.UNPROVEN),
    ("another is named before an entry of its own can have expired",
     replace(ASIDE, entries=[NamedFile(entry(2), log_object(temp_name(2), age=2 * DAY - 3_000))]),
     Proof.NEVER_ACCEPTED),
    ("another is named a day before it was written",
     replace(ASIDE, entries=[NamedFile(entry(2), log_object(temp_name(2), age=3 * DAY))]), Proof.NEVER_ACCEPTED),
    ("another was seen to be named since its own entry may have expired",
     replace(ASIDE, provenance=provenance(2, age=0, store="delta_log", file_name=ANOTHER.name)), Proof.UNPROVEN),
    ("another was seen to be named before it was written, or in the same second: its entry may have gone",
     replace(ASIDE, provenance=provenance(2, age=2 * DAY - 0.5, store="delta_log", file_name=ANOTHER.name)),
     Proof.UNPROVEN),
    ("another was seen to be named, and expired before it could be tried",
     seen_accepting(ANOTHER.name, expire_time=int(FILE.modified_at.timestamp()) + 200), Proof.UNPROVEN),
    ("another was seen to be named, and expired after it was tried",
     seen_accepting(ANOTHER.name, expire_time=int(FILE.modified_at.timestamp()) + 400), Proof.NEVER_ACCEPTED),
    ("another that its writer may have given up was seen to be named", seen_accepting("_commit_9.json.tmp"),
     Proof.UNPROVEN),
    ("another was seen to be named, and it was put again later",
     replace(ASIDE, provenance=provenance(2, age=2 * DAY + 1, store="delta_log", file_name=ANOTHER.name),
             written_at=FILE.modified_at - timedelta(minutes=1)), Proof.UNPROVEN),
    ("another is named, entries live for no time", replace(ASIDE, entries=[OTHER], life_seconds=0),
     Proof.UNPROVEN),
    ("another is named, entries live for a minute", replace(ASIDE, entries=[OTHER], life_seconds=60), Proof.UNPROVEN),
    ("another that is gone is named, incomplete", replace(ASIDE, entries=[NamedFile(entry(2, complete=False))]),
     Proof.UNPROVEN),
]  # fmt: skip


@pytest.mark.parametrize(("one", "proof"), [case[1:] for case in TEMP_FATES], ids=[case[0] for case in TEMP_FATES])
def test_a_temp_file_goes_only_where_it_is_a_copy_or_was_never_accepted(one: WrittenAside, proof: Proof) -> None:
    fate = fate_of_temp(one)

    assert (fate.proof, fate.may_go) == (proof, proof in (Proof.COPIED, Proof.NEVER_ACCEPTED))
    assert (fate.why == "") == fate.may_go


LOSER = Staged(log_object(staged_name(2)), 2, PUBLISHED, False, [True], accepted_up_to=3)

DISPUTED = replace(LOSER, provenance=provenance(2, store="commits", file_name="another.json", disputed=True))
BY_ANOTHER = provenance(
    2,
    store="commits",
    file_name="another.json",
    disputed=True,
    rivals=(Acceptance("commits_eu", "eu-west-1", "id", staged_name(2).partition("/")[2]),),
)

STAGED_FATES: list[tuple[str, Staged, Proof]] = [
    ("a copy", replace(LOSER, is_copy=True), Proof.COPIED),
    ("witnesses name another", replace(LOSER, witnessed=True), Proof.NEVER_ACCEPTED),
    ("another is listed", replace(LOSER, other_is_listed=True, rivals_are_copies=[False]), Proof.NEVER_ACCEPTED),
    ("another was seen to be listed",
     replace(LOSER, provenance=provenance(2, store="commits", file_name="another.json")), Proof.NEVER_ACCEPTED),
    ("another is listed, and two were seen to be",
     replace(DISPUTED, other_is_listed=True, rivals_are_copies=[False]), Proof.UNPROVEN),
    ("witnesses name another, and two were seen to be listed", replace(DISPUTED, witnessed=True), Proof.UNPROVEN),
    ("it is listed", replace(LOSER, is_listed=True, witnessed=True), Proof.NEEDED),
    ("it was seen to be listed",
     replace(LOSER, provenance=provenance(2, store="commits", file_name=staged_name(2)), witnessed=True), Proof.NEEDED),
    ("no staged file is a copy", replace(LOSER, rivals_are_copies=[False]), Proof.NEEDED),
    ("no staged file is a copy, though witnessed", replace(LOSER, rivals_are_copies=[], witnessed=True), Proof.NEEDED),
    ("its version is not published", replace(LOSER, published=None), Proof.NEEDED),
    ("its version is above the accepted one", replace(LOSER, accepted_up_to=1), Proof.NEEDED),
    ("nothing was accepted", replace(LOSER, accepted_up_to=None), Proof.NEEDED),
    ("another is a copy, and nothing else tells", LOSER, Proof.UNPROVEN),
    ("it was not compared", replace(LOSER, is_copy=None), Proof.UNPROVEN),
    ("no other was compared", replace(LOSER, rivals_are_copies=[None, False]), Proof.UNPROVEN),
    ("no version", replace(LOSER, version=None), Proof.UNPROVEN),
    ("a second coordinator, though another is listed",
     replace(LOSER, other_is_listed=True, one_coordinator=False), Proof.UNPROVEN),
    ("a second coordinator, though another was seen to be listed",
     replace(LOSER, provenance=provenance(2, store="commits", file_name="a.json"), one_coordinator=False),
     Proof.UNPROVEN),
    ("a second coordinator, though witnessed", replace(LOSER, witnessed=True, one_coordinator=False), Proof.UNPROVEN),
    ("two were accepted, though another is listed",
     replace(LOSER, other_is_listed=True, provenance=provenance(2, disputed=True)), Proof.UNPROVEN),
    ("a second coordinator was seen to accept it", replace(LOSER, witnessed=True, provenance=BY_ANOTHER), Proof.NEEDED),
]  # fmt: skip


@pytest.mark.parametrize(("one", "proof"), [case[1:] for case in STAGED_FATES], ids=[case[0] for case in STAGED_FATES])
def test_a_staged_file_goes_only_where_it_is_a_copy_or_was_never_accepted(one: Staged, proof: Proof) -> None:
    fate = fate_of_staged(one)

    assert (fate.proof, fate.why == "") == (proof, fate.may_go)


A, B = Said("a", 7), Said("b", 8)
ITEM = replace(registration(2), table_timestamp=7)

WITNESSES: list[tuple[str, Witnesses, Said, bool]] = [
    ("the checksum is of the published one", Witnesses(2, checksum=Said("a")), B, True),
    ("the item holds the published one's time", Witnesses(2, registration=ITEM), B, True),
    ("the item was seen to hold it", Witnesses(2, provenance=provenance(2, accepted_timestamp=7)), B, True),
    ("nothing is there", Witnesses(2), B, False),
    ("the checksum names no transaction", Witnesses(2, checksum=Said("")), B, False),
    ("the checksum is of the other", Witnesses(2, checksum=Said("b")), B, False),
    ("one transaction wrote both", Witnesses(2, checksum=Said("a")), Said("a", 8), False),
    ("the item is at another version", Witnesses(1, registration=ITEM), B, False),
    ("the times are one", Witnesses(2, registration=ITEM), Said("b", 7), False),
    ("the item holds no time", Witnesses(2, registration=replace(ITEM, table_timestamp=None)), Said("b"), False),
    ("two commits were seen to be accepted",
     Witnesses(2, provenance=provenance(2, accepted_timestamp=7, disputed=True)), B, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("witnesses", "loser", "told"), [case[1:] for case in WITNESSES], ids=[case[0] for case in WITNESSES]
)
def test_witnesses_tell_a_loser_only_by_what_does_not_depend_on_the_files(
    witnesses: Witnesses, loser: Said, told: bool
) -> None:
    assert witnesses.tell(A, loser) is told


def test_a_published_file_without_a_transaction_is_named_by_no_checksum() -> None:
    assert not Witnesses(2, checksum=Said("")).tell(Said(""), B)


@pytest.mark.parametrize(
    "item",
    [
        registration(2, accepted=None),
        registration(2),
        registration(2, coordinator_commit(2), accepted=False),
        registration(2, accepted=False, problems=("commits is missing.",)),
    ],
)
def test_a_registration_that_may_have_accepted_a_commit_stays(item: Registration) -> None:
    assert not fate_of_registration(item, lost_its_race=True).may_go


def test_a_registration_goes_once_its_upgrade_has_lost_its_race() -> None:
    item = registration(2, accepted=False)

    assert fate_of_registration(item, lost_its_race=True).may_go
    assert not fate_of_registration(item, lost_its_race=False).may_go


def test_moments_at_the_end_of_time_prove_nothing() -> None:
    late = replace(ANOTHER, modified_at=ANOTHER.modified_at + timedelta(days=365_000 * 7))
    endless = NamedFile(entry(2, expire_time=2**62))

    assert fate_of_temp(replace(ASIDE, entries=[NamedFile(entry(2), late)])).proof is Proof.UNPROVEN
    assert fate_of_temp(replace(ASIDE, published=None, entries=[endless])).proof is Proof.UNPROVEN
