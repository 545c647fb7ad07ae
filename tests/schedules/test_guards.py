"""Take one guard away, and a schedule fails: each guard is there for a reason that the schedules can show."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from changes import carrying_out as changes
from changes.calls import Call, done
from changes.execution import execute
from coordinator.coordination import carrying_out
from coordinator.coordination.checks import Operation
from coordinator.observation import passes, witnesses
from coordinator.observation.reading import read_once
from coordinator.protocols import log_store_items, remembered
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

    `at` are the requests before which others have to act for it, where it cannot help at others.
    """

    remove: Callable[[Patch], None]
    scene: Scene
    explore: Explore = test_repairs.explore
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
        plan = fresh.plan_of(subject)
        return plan or fresh.plans[0]

    patch.setattr(jobs, "_confirmed", confirmed)


def backwards(patch: Patch) -> None:
    """The calls of a plan are made in the reverse order: what was published last is said to be done first."""

    def carried_out(calls: Sequence[Call], *args: Any) -> Any:
        return execute(calls[::-1], *args)

    patch.setattr(changes, "execute", carried_out)


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
    patch.setattr(log_store_items, "QUIET_SECONDS", 0)


FAST = scene("spark before its first change", "spark")
FOREIGN = "foreign writer, spark after put entry"
PENDING = "spark after put entry"
LOST_UNSEEN = scene("newest commit of yesterday lost before the first look", "ttl")
GUARDS: Mapping[str, Guard] = {
    "If-None-Match of a publication": Guard(unconditionally("s3:Put"), scene(FOREIGN, "foreign")),
    "condition of a completion": Guard(unconditionally("dynamodb:UpdateItem"), scenes.READER_WITHOUT_TTL),
    "condition of clearing a list": Guard(unconditionally("dynamodb:UpdateItem"), scenes.CLEARED),
    "condition of raising a version": Guard(unconditionally("dynamodb:UpdateItem"), scenes.RAISED),
    "condition of registering": Guard(unconditionally("dynamodb:PutItem"), scenes.REGISTERED),
    "condition of abandoning an entry": Guard(unconditionally("dynamodb:DeleteItem"), scenes.ABANDONED),
    "consistent reads": Guard(inconsistently, scene(PENDING, "reader"), test_looks.explore_sound),
    "entries read after the listing, and the second look": Guard(without_both, FAST, test_looks.explore_sound),
    "digest of what was confirmed": Guard(without_second_confirmation, scenes.CLEARED),
    "published before completed": Guard(backwards, scene(PENDING, "rival")),
    "backfilled before cleared": Guard(backwards, scene("coordinated after register commit", "clean-up")),
    "quiet time": Guard(without_quiet_time, scene("spark after put temp", "spark", 1)),
    "what may name a file, read before its deletion": Guard(unheeded, scenes.SLOW, at="(dynamodb:GetItem)"),
    "a commit counts from its acceptance on": Guard(
        lambda patch: patch.setattr(Provenance, "is_known", property(lambda known: known.seen_at is not None)),
        replace(LOST_UNSEEN, play=standing(("ttl", expire, 0))),
        explore_told,
    ),
    "a version that one lock accepts again": Guard(
        lambda patch: patch.setattr(remembered, "accepted_again", lambda view, known: ()),
        replace(LOST_UNSEEN, turns=((Turn("ttl"), Turn("spark")),)),
        explore_told,
    ),
    "entries of other locks, read before a publication": Guard(
        lambda patch: patch.setattr(RequireNoEntry, "send", lambda self, sending: done("")),
        scene("writer of another store after put entry", "spark", 2),
        at="(dynamodb:",
    ),
    "proof after a repair": Guard(
        lambda patch: patch.setattr(repairs, "unproven", lambda *_: None),
        scenes.OVERWRITTEN_AT_ONCE,
        at="(dynamodb:Scan)",
    ),
    "proof after a drop": Guard(
        lambda patch: patch.setattr(carrying_out, "unproven", lambda made: ""),
        scene("coordinated table, spark before its first change", "undoing"),
        lambda theatre, scene: test_coordination.explore(theatre, scene, Operation.DROP),
    ),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_without_its_guard_a_schedule_fails(full_theatre: Theatre, monkeypatch: Patch, guard: str):
    GUARDS[guard].remove(monkeypatch)
    assert next(GUARDS[guard].failures(full_theatre), None)


@pytest.mark.parametrize("guard", [name for name, guard in GUARDS.items() if guard.at])
def test_with_its_guard_none_fails_where_it_can_help(full_theatre: Theatre, guard: str):
    assert not told(GUARDS[guard].failures(full_theatre))


@pytest.mark.parametrize("remove", [without_second_look, without_reading_on])
def test_of_two_guards_behind_each_other_one_is_enough(full_theatre: Theatre, monkeypatch: Patch, remove):
    remove(monkeypatch)
    assert not told(test_looks.explore_sound(full_theatre, FAST))
