"""Scenes of tables whose commits go through S3DynamoDBLogStore."""

from collections.abc import Iterator

from tests.schedules.delta_rs import DeltaRsWriter
from tests.schedules.ledger import data_of
from tests.schedules.log_store import LogStoreWriter, expire, put_past_the_store
from tests.schedules.place import BUCKET, LOG, LOG_STORE, LOG_STORES, OTHER_LOG_STORE, PATH, published
from tests.schedules.scenes import (
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

NEWEST = 3
"""The newest version of the past."""
SPARK_CHANGES = ("put temp", "put entry", "copy", "complete")
DELTA_RS_CHANGES = ("put temp", "put entry", "copy", "remove temp", "complete")


def spark(world: World) -> Program:
    return LogStoreWriter(world).commit()


def reader(world: World) -> Program:
    return LogStoreWriter(world).refresh()


def delta_rs(world: World) -> Program:
    return DeltaRsWriter(world).commit()


def twice(world: World) -> Program:
    """A fast writer: two commits, one upon the other."""
    yield from spark(world)
    yield from spark(world)


def past(world: World) -> None:
    """Versions 0 to 3, each complete."""
    world.run(*(spark(world) for _ in range(NEWEST + 1)))


def old_past(world: World) -> None:
    """The same, so long ago that TTL may take every entry."""
    hours_ago(world, 27)
    past(world)


def quiet_past(world: World) -> None:
    """The same by two engines, and TTL has taken every entry; the temp files of Spark are there."""
    hours_ago(world, 27)
    world.run(spark(world), spark(world), delta_rs(world), spark(world))
    hours_ago(world, 1)
    world.run(expire(world))


RIVAL: Turns = (Turn("rival"),)
READER: Turns = (Turn("reader"),)
TTL: Turns = (Turn("ttl"),)


def spark_scenes() -> Iterator[Scene]:
    """One writer at each place of its commit, beside a rival and a reader."""
    for changes, where in places(SPARK_CHANGES):
        for looked in (False, True):
            play = standing(("spark", spark, changes), ("rival", twice, 0), ("reader", reader, 0), looked=looked)
            turns = beside(alone("spark", len(SPARK_CHANGES) - changes), RIVAL, (Turn("rival", 4),), READER)
            yield Scene(f"spark {where}{', having looked' if looked else ''}", past, play, turns)


def delta_rs_scenes() -> Iterator[Scene]:
    """One process of delta-rs at each place of its commit, beside Spark."""
    for changes, where in places(DELTA_RS_CHANGES):
        play = standing(("delta-rs", delta_rs, changes), ("rival", spark, 0))
        turns = beside(alone("delta-rs", len(DELTA_RS_CHANGES) - changes), RIVAL)
        yield Scene(f"delta-rs {where}", past, play, turns)


def old_scenes() -> Iterator[Scene]:
    """Entries that TTL is about to take, or has taken, while a writer goes on."""
    actors = (("ttl", expire, 0), ("spark", spark, 0))
    expiring = beside(alone("ttl", NEWEST + 1), (Turn("spark"),), (Turn("spark", 2),))
    yield Scene("entries about to expire", old_past, standing(*actors), expiring)
    for changes in (0, 2):
        turns = alone("spark", len(SPARK_CHANGES) - changes)
        yield Scene(f"entries expired, spark after {changes}", quiet_past, standing(("spark", spark, changes)), turns)
    restored = after(restore_from_versions, standing(("spark", spark, 0)))
    yield Scene("entries expired, files restored from versions", quiet_past, restored, alone("spark", 4))


def restore_from_versions(world: World) -> None:
    """The two newest files were deleted and brought back; S3 gives them the time of now."""
    for version in (NEWEST - 1, NEWEST):
        world.lake.put(BUCKET, published(version), world.lake.get(BUCKET, published(version)).data)


def dead_scenes() -> Iterator[Scene]:
    """Somebody died a day ago, at each place of a commit, and others went on; or nobody did."""
    going_on = standing(("spark", spark, 0), ("reader", reader, 0), ("ttl", expire, 0))
    turns = beside(alone("spark", len(SPARK_CHANGES)), READER, TTL)
    for changes, where in places(SPARK_CHANGES[:-1])[1:]:
        left = after(old_past, died(spark, changes))
        yield Scene(f"a writer died {where} yesterday", left, going_on, turns)
        yield Scene(f"a writer died {where} yesterday, others went on", after(left, committed), going_on, turns)
    for changes, where in places(DELTA_RS_CHANGES[:-1])[1:]:
        left = after(old_past, died(delta_rs, changes))
        yield Scene(f"delta-rs died {where} yesterday, others went on", after(left, committed), going_on, turns)


def committed(world: World) -> None:
    world.run(twice(world))


def creating_scenes() -> Iterator[Scene]:
    """A table's first commits."""
    for changes, where in places(SPARK_CHANGES):
        play = standing(("spark", twice, changes))
        yield Scene(f"first commit, spark {where}", lambda world: None, play, alone("spark", 8))


SOUND = (*spark_scenes(), *delta_rs_scenes(), *old_scenes(), *dead_scenes(), *creating_scenes())
"""Nothing but what the protocol does: no alarm may be raised in any of them."""


def lose_temp_file(world: World) -> None:
    """The temp file of the newest entry goes before its commit is published."""
    entry = world.lake.items(LOG_STORE)[-1]
    lose(LOG + entry["tempPath"]["S"])(world)


def loss_scenes() -> Iterator[Scene]:
    """Something was taken away from outside, beside a writer and a reader who go on."""
    others = standing(("spark", spark, 0), ("reader", reader, 0), ("ttl", expire, 0))
    turns = beside(alone("spark", len(SPARK_CHANGES)), READER)
    yield Scene("newest file lost", past, after(lose(published(NEWEST)), others), turns)
    yield Scene("file below the newest lost", past, after(lose(published(NEWEST - 1)), others), turns)
    pending = standing(("dead", spark, 2))
    yield Scene("temp file of a pending commit lost", past, after(pending, lose_temp_file, others), turns)


def breach_scenes() -> Iterator[Scene]:
    """Somebody writes past the log store."""
    others = (("spark", spark, 0), ("reader", reader, 0))
    foreign = standing(("foreign", put_past_the_store, 0), *others)
    turns = beside(alone("foreign", 1), (Turn("spark"),), (Turn("spark", 2),), READER)
    yield Scene("foreign writer", past, foreign, turns)
    for changes, where in places(SPARK_CHANGES[:-1])[1:]:
        play = standing(("spark", spark, changes), ("foreign", put_past_the_store, 0), others[1], looked=True)
        turns = beside(alone("foreign", 1), (Turn("spark"),), (Turn("spark", 1),))
        yield Scene(f"foreign writer, spark {where}", past, play, turns)


def other_store(world: World) -> Program:
    """A writer whose settings name another log store: no lock keeps it from the others."""
    return LogStoreWriter(world, store=OTHER_LOG_STORE).commit()


def other_scheme(world: World) -> Program:
    """A writer that spells the table s3://: another lock domain."""
    return LogStoreWriter(world, PATH.replace("s3a:", "s3:")).commit()


def divided_scenes() -> Iterator[Scene]:
    """Two writers that no lock keeps apart."""
    for name, program in (("another store", other_store), ("another scheme", other_scheme)):
        for changes, where in places(SPARK_CHANGES[:-1])[1:]:
            play = standing((name, program, changes), ("spark", spark, 0), looked=True)
            turns = beside(alone(name, len(SPARK_CHANGES) - changes), (Turn("spark"),), (Turn("spark", 2),))
            yield Scene(f"writer of {name} {where}", past, play, turns, LOG_STORES)
            left = after(old_past, died(program, changes))
            others = standing(("spark", spark, 0), ("reader", reader, 0))
            yield Scene(f"writer of {name} died {where} yesterday", left, others, turns_of_spark(), LOG_STORES)


def turns_of_spark() -> tuple[Turns, ...]:
    return beside(alone("spark", len(SPARK_CHANGES)), READER)


FOREIGN = b'{"commitInfo":{"operation":"WRITE"}}\n{"txn":{"appId":"other","version":1}}\n'
OVERWRITTEN = breach(
    "a published file was overwritten, and S3 keeps no other version",
    lambda world: world.lake.put(BUCKET, published(NEWEST), FOREIGN),
    lambda lake: data_of(lake, published(NEWEST)) == FOREIGN,
)


def overwriting_scenes() -> Iterator[Scene]:
    """A writer without a lock replaced the newest published file, with and without its entry still there."""
    others = standing(("spark", spark, 0), ("ttl", expire, 0))
    turns = beside(alone("spark", len(SPARK_CHANGES)), TTL)
    yield Scene("published file overwritten", old_past, after(OVERWRITTEN, others), turns)
    gone = after(old_past, lambda world: world.run(expire(world)))
    yield Scene("published file overwritten, its entry expired", gone, after(OVERWRITTEN, others), turns)


def vanishing_scenes() -> Iterator[Scene]:
    """The newest file is lost, and TTL takes the only entry that says that there was one."""
    others = standing(("spark", spark, 0), ("ttl", expire, 0))
    turns = beside(alone("ttl", NEWEST + 1), (Turn("spark", 2),))
    yield Scene("newest file of yesterday lost", old_past, after(lose(published(NEWEST)), others), turns)
    unseen = after(old_past, lose(published(NEWEST)))
    yield Scene("newest file of yesterday lost before the first look", unseen, others, turns)
    without_temp = after(unseen, lambda world: lose(temp_of(world, NEWEST))(world))
    yield Scene("newest commit of yesterday lost before the first look", without_temp, others, turns)


def temp_of(world: World, version: int) -> str:
    """The key of the temp file that the entry of a version names."""
    entry = next(one for one in world.lake.items(LOG_STORE) if one["fileName"]["S"] == f"{version:020d}.json")
    return LOG + entry["tempPath"]["S"]


LOSSES = tuple(loss_scenes())
"""Something is gone that a repair brings back, or that nothing does."""
DIVIDED = tuple(divided_scenes())
BREACHES = (*breach_scenes(), *DIVIDED)
"""Something happens that no protocol allows: it is said, and no act of Levee's makes it worse."""
SEEN_BEFORE = (*overwriting_scenes(), *vanishing_scenes())
"""Of what is wrong here the lake keeps no trace for long: only who has looked before can tell."""
