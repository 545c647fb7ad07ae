"""Scenes in which one guard alone stands between a repair and harm: what others do there is rare, and allowed."""

from collections.abc import Callable

from tests.schedules.coordinated_scenes import COMMIT_CHANGES, ID, commit, lose_item, restored
from tests.schedules.coordinated_scenes import past as coordinated_past
from tests.schedules.coordinator import registration
from tests.schedules.ledger import Breach
from tests.schedules.log_store import LogStoreWriter, expire
from tests.schedules.log_store_scenes import FOREIGN, NEWEST, lose_temp_file, old_past, past, spark
from tests.schedules.place import BUCKET, COORDINATOR, LOG_STORE, published
from tests.schedules.scenes import Scene, Turn, after, alone, hours_ago, standing
from tests.schedules.world import Program, World


def reader_without_ttl(world: World) -> Program:
    """A reader whose `ddb.ttl` is 0, and then TTL at once: the entry that it finished is gone."""
    yield from LogStoreWriter(world, life=0).refresh()
    yield from expire(world)


READER_WITHOUT_TTL = Scene(
    "spark after put entry, a reader without TTL",
    past,
    standing(("dead", spark, 2), ("reader", reader_without_ttl, 0)),
    ((Turn("reader"),),),
)


def other_admin(change: Callable[[World], object], then: Callable[[World], Program]) -> Callable[[World], Program]:
    """Somebody repairs the table by hand meanwhile, and a writer goes on at once."""

    def program(world: World) -> Program:
        yield "repair by hand"
        change(world)
        yield from then(world)

    return program


def raise_by_hand(world: World) -> None:
    [item] = world.lake.items(COORDINATOR)
    world.lake.put_item(COORDINATOR, {**item, "tableVersion": {"N": "3"}})


def register_by_hand(world: World) -> None:
    item = {**registration(ID, 3), "hasAcceptedCommits": {"BOOL": True}, "tableTimestamp": {"N": "1"}}
    world.lake.put_item(COORDINATOR, item)


def abandon_by_hand(world: World) -> None:
    for item in world.lake.items(LOG_STORE):
        if item["complete"] == {"S": "false"}:
            world.lake.delete_item(LOG_STORE, {name: item[name] for name in ("tablePath", "fileName")})


RAISED = Scene(
    "registration from a backup, raised by hand",
    coordinated_past,
    after(restored(2), standing(("admin", other_admin(raise_by_hand, commit), 0))),
    ((Turn("admin", 3),), (Turn("admin"),)),
)
REGISTERED = Scene(
    "registration lost, registered by hand",
    coordinated_past,
    after(lose_item, standing(("admin", other_admin(register_by_hand, commit), 0))),
    ((Turn("admin", 3),), (Turn("admin"),)),
)
ABANDONED = Scene(
    "temp file of a pending commit lost, abandoned by hand",
    past,
    after(standing(("dead", spark, 2)), lose_temp_file, standing(("admin", other_admin(abandon_by_hand, spark), 0))),
    ((Turn("admin", 3),), (Turn("admin"),)),
)
SLOW = Scene(
    "a writer that took more than a day",
    lambda world: (old_past(world), hours_ago(world, 26), standing(("slow", spark, 1))(world)),
    lambda world: None,
    ((Turn("slow", 1),),),
)
"""Its entry may be made between the last look at it and the deletion: no condition of S3 can exclude that."""


def overwrite(world: World) -> Program:
    """A writer without a condition replaces the pending version as soon as it is published."""
    yield "look for the published file"
    if world.lake.has(BUCKET, published(NEWEST + 1)):
        yield "foreign put"
        world.lake.put(BUCKET, published(NEWEST + 1), FOREIGN)
        world.ledger.breaches.append(Breach("a published file was overwritten", lambda _: True))


OVERWRITTEN_AT_ONCE = Scene(
    "spark after put entry, overwritten at once",
    past,
    standing(("dead", spark, 2), ("foreign", overwrite, 0)),
    ((Turn("foreign"),),),
)
"""Where the entry is completed it may come between the last look at the file and that: DynamoDB knows nothing of S3."""
CLEARED = Scene(
    "coordinated after register commit, a rival commits",
    coordinated_past,
    standing(("dead", commit, 2), ("rival", commit, 0)),
    ((Turn("rival", 2),), *alone("rival", len(COMMIT_CHANGES))),
)

SCENES = (READER_WITHOUT_TTL, RAISED, REGISTERED, ABANDONED, CLEARED)
