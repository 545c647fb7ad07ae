"""Scenes of tables whose commits go through the DynamoDB commit coordinator."""

from collections.abc import Iterator

from tests.schedules import deltas
from tests.schedules.coordinator import (
    CoordinatedWriter,
    Upgrade,
    new_timestamp,
    put_as_file,
    registration,
    remove_staged_files,
)
from tests.schedules.lake import MemoryLake
from tests.schedules.log_store_scenes import OVERWRITTEN
from tests.schedules.place import BUCKET, COORDINATOR, STAGED, published
from tests.schedules.scenes import (
    Play,
    Scene,
    Turn,
    Turns,
    after,
    alone,
    beside,
    breach,
    died,
    hours_ago,
    lose,
    places,
    standing,
)
from tests.schedules.world import Program, World

ID = "7426a6d4-0b3c-4f6e-9b9a-2f3d4c5b6a71"
OTHER_ID = "0f6e9b9a-2f3d-4c5b-9a71-7426a6d40b3c"
COMMIT_CHANGES = ("stage", "register commit", "backfill", "clear")
DROP_CHANGES = (*COMMIT_CHANGES, "put commit")
UPGRADE_CHANGES = ("register", "put upgrade commit")
NEWEST = 3
"""The newest version of the past: 0 plain, 1 the upgrade, 2 and 3 coordinated."""


def plain_past(world: World) -> None:
    """One version that nothing guards."""
    world.run(put_as_file(world, deltas.conversion("CREATE TABLE", {}, (), None)))


def past(world: World) -> None:
    """A table that was upgraded, and two commits since."""
    plain_past(world)
    world.run(upgrade(world), commit(world), commit(world))


def old_past(world: World) -> None:
    """The same, yesterday."""
    hours_ago(world, 27)
    past(world)


def upgrade(world: World) -> Program:
    return Upgrade(world, ID).run()


def commit(world: World) -> Program:
    return CoordinatedWriter(world, ID).commit()


def twice(world: World) -> Program:
    """A fast writer: two commits, one upon the other."""
    yield from commit(world)
    yield from commit(world)


def drop(world: World) -> Program:
    return CoordinatedWriter(world, ID).downgrade()


def clean_up(world: World) -> Program:
    return remove_staged_files(world, range(NEWEST + 1))


def plain_commit(world: World) -> Program:
    """A writer past any coordinator, as long as the table has none."""
    yield "look at the table"
    if not world.lake.items(COORDINATOR):
        yield from put_as_file(world, deltas.append(world.unique()))


def committed(world: World) -> None:
    world.run(twice(world))


RIVAL: Turns = (Turn("rival"),)
CLEAN_UP: Turns = (Turn("clean-up"),)


def commit_scenes() -> Iterator[Scene]:
    """One writer at each place of its commit, beside a rival and a clean-up of staged files."""
    for changes, where in places(COMMIT_CHANGES):
        for looked in (False, True):
            actors = (("spark", commit, changes), ("rival", twice, 0), ("clean-up", clean_up, 0))
            turns = beside(alone("spark", len(COMMIT_CHANGES) - changes), RIVAL, (Turn("rival", 4),), CLEAN_UP)
            name = f"coordinated {where}{', having looked' if looked else ''}"
            yield Scene(name, past, standing(*actors, looked=looked), turns)


def change_scenes() -> Iterator[Scene]:
    """A table on its way to the coordinator, and away from it."""
    for changes, where in places(UPGRADE_CHANGES):
        play = standing(("upgrade", upgrade, changes), ("rival", plain_commit, 0))
        yield Scene(f"upgrade {where}", plain_past, play, beside(alone("upgrade", 2 - changes), RIVAL))
    for changes, where in places(DROP_CHANGES):
        play = standing(("drop", drop, changes), ("rival", commit, 0))
        yield Scene(f"drop {where}", past, play, beside(alone("drop", len(DROP_CHANGES) - changes), RIVAL))


def dead_scenes() -> Iterator[Scene]:
    """Somebody died a day ago, at each place of a commit, an upgrade or a drop, and others went on; or nobody did."""
    going_on = standing(("spark", commit, 0), ("clean-up", clean_up, 0))
    turns = beside(alone("spark", len(COMMIT_CHANGES)), CLEAN_UP)
    for changes, where in places(COMMIT_CHANGES[:-1])[1:]:
        left = after(old_past, died(commit, changes))
        yield Scene(f"a writer died {where} yesterday", left, going_on, turns)
        yield Scene(f"a writer died {where} yesterday, others went on", after(left, committed), going_on, turns)
    lost_race = after(old_plain_past, died(lambda world: Upgrade(world, OTHER_ID).run(), 1), other_upgrade)
    yield Scene("an upgrade died yesterday, another one won", lost_race, going_on, turns)
    half = after(old_past, died(drop, 4, 25))
    yield Scene("a drop died after its first commit yesterday", half, standing(("drop", finish_drop, 0)), finishing())


def old_plain_past(world: World) -> None:
    hours_ago(world, 27)
    plain_past(world)


def other_upgrade(world: World) -> None:
    """Another upgrade won soon after, and commits were made since."""
    hours_ago(world, 25)
    world.run(upgrade(world))
    hours_ago(world, 1)
    committed(world)


def finish_drop(world: World) -> Program:
    return CoordinatedWriter(world, ID).remove_feature()


def finishing() -> tuple[Turns, ...]:
    return alone("drop", 1)


SOUND = (*commit_scenes(), *change_scenes(), *dead_scenes())
"""Nothing but what the protocol does: no alarm may be raised in any of them."""


def lose_staged(world: World) -> None:
    """The staged file of the newest commit goes before it is published."""
    lose(list(world.lake.keys(BUCKET, STAGED))[-1])(world)


def clear_too_early(world: World) -> None:
    change_item(world, commits={"L": []})
    world.ledger.losses.append("the list was cleared before its commit was published")


def lose_item(world: World) -> None:
    world.lake.delete_item(COORDINATOR, {"tableId": {"S": ID}})
    world.ledger.losses.append("the registration was deleted")


def restored(version: int) -> Play:
    """The registration is put back as a backup of that version has it; 1 was before the first commit through it."""

    def restore(world: World) -> None:
        if version == 1:
            world.lake.put_item(COORDINATOR, registration(ID, 1))
        else:
            change_item(world, tableVersion={"N": str(version)})

    return breach("the registration is from a backup", restore, is_behind)


def is_behind(lake: MemoryLake) -> bool:
    item = lake.get_item(COORDINATOR, {"tableId": {"S": ID}})
    return item is not None and int(item["tableVersion"]["N"]) < NEWEST


def change_item(world: World, **attributes: object) -> None:
    [item] = world.lake.items(COORDINATOR)
    world.lake.put_item(COORDINATOR, {**item, **attributes})


def loss_scenes() -> Iterator[Scene]:
    """Something was taken away from outside, beside a writer that goes on."""
    others, turns = standing(("spark", commit, 0)), alone("spark", len(COMMIT_CHANGES))
    accepted = standing(("dead", commit, 2))
    yield Scene("newest file lost after its list was cleared", past, after(lose(published(NEWEST)), others), turns)
    yield Scene("list cleared too early", past, after(accepted, clear_too_early, others), turns)
    yield Scene("staged file of an accepted commit lost", past, after(accepted, lose_staged, others), turns)
    yield Scene("registration lost", past, after(lose_item, others), turns)
    yield Scene("registration lost while a commit waited", past, after(accepted, lose_item, others), turns)
    for version, what in ((2, "registration from a backup"), (1, "registration from before its first commit")):
        yield Scene(what, past, after(restored(version), others), turns)


def tie(world: World) -> None:
    """Two rivals for one version have one in-commit timestamp, and only the loser's file is left (K6)."""
    timestamp = new_timestamp(world) + 10**6
    loser = world.start("loser", CoordinatedWriter(world, ID, timestamp=timestamp).commit())
    loser.advance(1)
    world.start("winner", CoordinatedWriter(world, ID, timestamp=timestamp).commit()).finish()
    del world.actors["loser"]
    winner = next(commit for commit in world.ledger.accepted if commit.version == NEWEST + 1)
    for key in [*world.lake.keys(BUCKET, STAGED), published(NEWEST + 1)]:
        if world.lake.get(BUCKET, key).data == winner.data:
            lose(key)(world)


def breach_scenes() -> Iterator[Scene]:
    """Somebody broke the protocol, or the lake can no longer tell who won."""
    others, turns = standing(("spark", commit, 0)), alone("spark", len(COMMIT_CHANGES))
    yield Scene("coordinated file overwritten", old_past, after(OVERWRITTEN, others), turns)
    yield Scene("coordinated file overwritten, then a commit", after(old_past, OVERWRITTEN, committed), others, turns)
    yield Scene("the loser of a tie is all that is left", past, after(tie, others), turns)


LOSSES = tuple(loss_scenes())
"""Something is gone that a repair brings back, or that nothing does."""
BREACHES = tuple(breach_scenes())
"""Something happens that no protocol allows: it is said, and no act of Levee's makes it worse."""
