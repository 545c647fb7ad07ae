"""Take one guard away, and a schedule fails: each guard is there for a reason that the schedules can show."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import pytest

from changes import carrying_out as changes
from changes.calls import done
from changes.plan import ChangePlan
from coordinator.coordination import carrying_out
from coordinator.coordination.checks import Operation
from coordinator.observation import passes, witnesses
from coordinator.observation.reading import read_once
from coordinator.protocols import log_store, remembered
from coordinator.repairs import carrying_out as repairs
from coordinator.repairs import jobs
from coordinator.repairs.item_calls import RequireNoEntry, entry_key
from coordinator.repairs.kinds import remove_orphans
from coordinator.repairs.orphan_calls import DeleteOrphan
from lake.delta.facts import Provenance
from tests.schedules import gate, test_coordination, test_looks, test_repairs
from tests.schedules import guarded_scenes as scenes
from tests.schedules.exploring import Theatre, told
from tests.schedules.expressions import placeholders
from tests.schedules.log_store import expire
from tests.schedules.scenes import TO_THE_END, Scene, Turn, standing
from tests.schedules.wire import answer

Patch = pytest.MonkeyPatch
Explore = Callable[[Theatre, Scene], Iterator[str]]


@dataclass(frozen=True)
class Guard:
    """`remove` takes it away; `explore` plays the schedules of a scene in which others meet what it guards.

    `shown` is one that is known to fail then. `at` are the requests before which others have to act for it, where it
    cannot help at others.
    """

    remove: Callable[[Patch], None]
    scene: Scene
    explore: Explore = test_repairs.explore
    _: KW_ONLY
    shown: str
    at: str = ""

    def failures(self, theatre: Theatre) -> Iterator[str]:
        return (wrong for wrong in self.explore(theatre, self.scene) if self.at in wrong)


def scene(name: str, actor: str, effects: int = TO_THE_END) -> Scene:
    """A scene that is played with all its guards elsewhere; here one actor alone takes its turn."""
    known = (*test_looks.SOUND, *test_looks.UNSOUND, *test_coordination.dropping_scenes())
    found = next(one for one in known if one.name == name)
    return replace(found, turns=((Turn(actor, effects),),))


def explore_told(theatre: Theatre, scene: Scene) -> Iterator[str]:
    return test_looks.explore(theatre, scene, test_looks.tell_of_it)


# Taken away from the requests, as if Levee had never sent them


def unconditionally(operation: str) -> Callable[[Patch], None]:
    """Requests of one kind lose their condition before they are carried out."""

    def answered(lake: Any, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Any:
        if gate.operation_of(method, target, headers) == operation:
            headers = {name: value for name, value in headers.items() if name.lower() not in CONDITIONS}
            body = without_condition(body) if operation.startswith("dynamodb") else body
        return answer(lake, method, target, headers, body)

    return lambda patch: patch.setattr(gate, "answer", answered)


CONDITIONS = ("if-none-match", "if-match")


def without_condition(body: bytes) -> bytes:
    asked = json.loads(body)
    asked.pop("ConditionExpression", None)
    used = placeholders(asked.get("UpdateExpression", ""))
    for given in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        kept = {name: value for name, value in asked.pop(given, {}).items() if name in used}
        asked |= {given: kept} if kept else {}
    return json.dumps(asked).encode()


def inconsistently(patch: Patch) -> None:
    """No read of DynamoDB asks for consistency."""

    def answered(lake: Any, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Any:
        return answer(lake, method, target, headers, body.replace(b'"ConsistentRead":true', b'"ConsistentRead":false'))

    patch.setattr(gate, "answer", answered)


# Taken away from the product


def without_second_confirmation(patch: Patch) -> None:
    """The worker carries out the plan of now, whatever was confirmed."""

    def confirmed(context: Any, subject: Any, fresh: Any) -> Any:
        made = fresh.made_of(subject)
        return made if isinstance(made, ChangePlan) else fresh.plans[0]

    patch.setattr(jobs, "_confirmed", confirmed)


def backwards(patch: Patch) -> None:
    """The calls of a plan are made in the reverse order: what was published last is said to be done first."""

    def carried_out(context: Any, plan: ChangePlan, *args: Any) -> Any:
        return changes.carry_out(context, replace(plan, calls=plan.calls[::-1]), *args)

    patch.setattr(jobs, "carry_out", carried_out)


def unheeded(patch: Patch) -> None:
    """What may name a file is read before the file is deleted, and whatever it names, the deletion goes on."""

    def read(call: Any, sending: Any) -> None:
        sending.lake.dynamodb.get_item(call.table, entry_key(*call.entry))

    patch.setattr(DeleteOrphan, "check_unnamed", read)


def without_second_look(patch: Patch) -> None:
    """A pass looks once, and raises whatever it misses."""
    patch.setattr(passes, "read_table", lambda *given, looks=None, **options: read_once(*given, **options))


def without_reading_on(patch: Patch) -> None:
    """What was scanned before the log was listed is not read again after it."""
    patch.setattr(witnesses, "_read_on", lambda *given: given[3].entries)


def without_both(patch: Patch) -> None:
    without_second_look(patch)
    without_reading_on(patch)


def without_quiet_time(patch: Patch) -> None:
    """Files that belong to no commit may be removed at once."""
    patch.setattr(remove_orphans, "QUIET_SECONDS", 0)
    patch.setattr(log_store, "QUIET_SECONDS", 0)


FAST = scene("spark before its first change", "spark")
FOREIGN = "foreign writer, spark after put entry"
PENDING = "spark after put entry"
LOST_UNSEEN = scene("newest commit of yesterday lost before the first look", "ttl")
GUARDS: Mapping[str, Guard] = {
    "If-None-Match of a publication": Guard(
        unconditionally("s3:Put"),
        scene(FOREIGN, "foreign"),
        shown="Publish commit 4, before request 14: foreign to the end",
    ),
    "condition of a completion": Guard(
        unconditionally("dynamodb:UpdateItem"),
        scenes.READER_WITHOUT_TTL,
        shown="Publish commit 4, before request 10: reader to the end",
    ),
    "condition of clearing a list": Guard(
        unconditionally("dynamodb:UpdateItem"),
        scenes.CLEARED,
        shown="Backfill 1 commit, before request 16: rival 2",
    ),
    "condition of raising a version": Guard(
        unconditionally("dynamodb:UpdateItem"),
        scenes.RAISED,
        shown="Raise tableVersion to 3, before request 11: admin 3",
    ),
    "condition of registering": Guard(
        unconditionally("dynamodb:PutItem"),
        scenes.REGISTERED,
        shown="Register again at version 3, before request 9: admin 3",
    ),
    "condition of abandoning an entry": Guard(
        unconditionally("dynamodb:DeleteItem"),
        scenes.ABANDONED,
        shown="Abandon commit 4, before request 3: admin 3",
    ),
    "consistent reads": Guard(
        inconsistently,
        scene(PENDING, "reader"),
        test_looks.explore_sound,
        shown="look, before request 0: reader to the end",
    ),
    "entries read after the listing, and the second look": Guard(
        without_both,
        FAST,
        test_looks.explore_sound,
        shown="look, before request 2: spark to the end",
    ),
    "digest of what was confirmed": Guard(
        without_second_confirmation,
        scenes.CLEARED,
        shown="Backfill 1 commit, before request 0: rival 2",
    ),
    "published before completed": Guard(
        backwards,
        scene(PENDING, "rival"),
        shown="Publish commit 4, before request 10: rival to the end",
    ),
    "backfilled before cleared": Guard(
        backwards,
        scene("coordinated after register commit", "clean-up"),
        shown="Backfill 1 commit, before request 0: clean-up to the end",
    ),
    "quiet time": Guard(
        without_quiet_time,
        scene("spark after put temp", "spark", 1),
        shown="Remove temp files that no entry names, before request 16: spark 1",
    ),
    "what may name a file, read before its deletion": Guard(
        unheeded,
        scenes.SLOW,
        at="(dynamodb:GetItem)",
        shown="Remove temp files that no entry names, before request 15: slow 1",
    ),
    "a commit counts from its acceptance on": Guard(
        lambda patch: patch.setattr(Provenance, "is_known", property(lambda known: known.seen_at is not None)),
        replace(LOST_UNSEEN, play=standing(("ttl", expire, 0))),
        explore_told,
        shown="look, before request 0: ttl to the end",
    ),
    "a version that one lock accepts again": Guard(
        lambda patch: patch.setattr(remembered, "accepted_again", lambda view, known: ()),
        replace(LOST_UNSEEN, turns=((Turn("ttl"), Turn("spark")),)),
        explore_told,
        shown="look, before request 0: ttl to the end, spark to the end",
    ),
    "entries of other locks, read before a publication": Guard(
        lambda patch: patch.setattr(RequireNoEntry, "send", lambda self, sending: done("")),
        scene("writer of another store after put entry", "spark", 2),
        at="(dynamodb:",
        shown="Publish commit 4, before request 3: spark 2",
    ),
    "proof after a repair": Guard(
        lambda patch: patch.setattr(repairs, "unproven", lambda *_: None),
        scenes.OVERWRITTEN_AT_ONCE,
        at="(dynamodb:Scan)",
        shown="Publish commit 4, before request 20: foreign to the end",
    ),
    "proof after a drop": Guard(
        lambda patch: patch.setattr(carrying_out, "unproven", lambda made: ""),
        scene("coordinated table, spark before its first change", "undoing"),
        lambda theatre, scene: test_coordination.explore(theatre, scene, Operation.DROP),
        shown="drop, before request 22: undoing to the end",
    ),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_the_schedule_that_shows_a_guard_fails_without_it_alone(full_theatre: Theatre, monkeypatch: Patch, guard: str):
    full_theatre.only = f"{GUARDS[guard].scene.name}: {GUARDS[guard].shown}"
    assert not told(GUARDS[guard].failures(full_theatre))
    GUARDS[guard].remove(monkeypatch)
    if not any(GUARDS[guard].failures(full_theatre)):
        named, full_theatre.only = full_theatre.only, ""
        pytest.fail(f"“{named}” shows it no more; what does is “{next(GUARDS[guard].failures(full_theatre), 'none')}”.")


@pytest.mark.slow
@pytest.mark.parametrize("guard", [name for name, guard in GUARDS.items() if guard.at])
def test_with_its_guard_none_fails_where_it_can_help(full_theatre: Theatre, guard: str):
    assert not told(GUARDS[guard].failures(full_theatre))


@pytest.mark.slow
@pytest.mark.parametrize("remove", [without_second_look, without_reading_on])
def test_of_two_guards_behind_each_other_one_is_enough(full_theatre: Theatre, monkeypatch: Patch, remove):
    remove(monkeypatch)
    assert not told(test_looks.explore_sound(full_theatre, FAST))
