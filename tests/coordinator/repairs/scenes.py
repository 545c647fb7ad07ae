"""One scene for each kind of call: `arrange` makes what its plan was made from, and returns it."""

from collections.abc import Callable

from changes.calls import Call
from coordinator.repairs.item_calls import (
    ClearCommits,
    CompleteEntry,
    DeleteEntry,
    DeleteRegistration,
    RaiseVersion,
    Register,
    RequireNoEntry,
)
from coordinator.repairs.object_calls import Publish, RequireAbsent, RequireEmpty, RequireEqual, SaveAside
from coordinator.repairs.orphan_calls import DeleteOrphan
from tests.builders.delta import UUID, incomplete_item, registration_item
from tests.coordinator.repairs.world import COMMIT, LOG, URI, World, commit_key, staged_key, temp_key

RESCUE = "sales/orders/_levee_rescue/20261120T094207Z-abandon-commit-7/"
FRESH = {"hasAcceptedCommits": {"BOOL": False}, "tableTimestamp": None}


def save_object(world: World) -> SaveAside:
    world.put(temp_key(7))
    return SaveAside(world.bucket, f"{RESCUE}object", source=temp_key(7))


def save_item(world: World) -> SaveAside:
    return SaveAside(world.bucket, f"{RESCUE}item.json", item=incomplete_item(7, URI), table=world.log_store)


def publish(world: World) -> Publish:
    etag = world.put(temp_key(7))
    return Publish(world.bucket, temp_key(7), commit_key(7), etag, len(COMMIT))


def require_equal(world: World) -> RequireEqual:
    world.put(temp_key(7))
    world.put(commit_key(7))
    return RequireEqual(world.bucket, temp_key(7), commit_key(7))


def require_absent(world: World) -> RequireAbsent:
    return RequireAbsent(world.bucket, (commit_key(7), commit_key(8)))


def require_empty(world: World) -> RequireEmpty:
    world.put(f"{LOG}_staged_commits/", b"")
    return RequireEmpty(world.bucket, LOG)


def require_no_entry(world: World) -> RequireNoEntry:
    world.enter(incomplete_item(6, URI))
    return RequireNoEntry(world.log_store, URI, f"{7:020d}.json")


def complete_entry(world: World) -> CompleteEntry:
    item = world.enter(incomplete_item(7, URI))
    return CompleteEntry(world.log_store, URI, item["fileName"]["S"], item["tempPath"]["S"], 86_400)


def delete_entry(world: World) -> DeleteEntry:
    item = world.enter(incomplete_item(7, URI))
    return DeleteEntry(world.log_store, URI, item["fileName"]["S"], item["tempPath"]["S"])


def clear_commits(world: World) -> ClearCommits:
    item = world.enter(registration_item(7, (6, 7)))
    return ClearCommits(world.registry, UUID, URI, 7, item["commits"])


def raise_version(world: World) -> RaiseVersion:
    world.enter(registration_item(4))
    return RaiseVersion(world.registry, UUID, URI, 4, 7, 1_790_000_000_007)


def register(world: World) -> Register:
    return Register(world.registry, registration_item(7, acceptingCommits={"BOOL": True}))


def delete_registration(world: World) -> DeleteRegistration:
    world.enter(registration_item(7, **FRESH))
    return DeleteRegistration(world.registry, UUID, URI, 7)


def delete_temp_file(world: World) -> DeleteOrphan:
    etag = world.put(temp_key(7))
    world.enter(incomplete_item(7, URI, tempPath={"S": f".tmp/{7:020d}.json.another"}))
    entry, named = (URI, f"{7:020d}.json"), f".tmp/{7:020d}.json.another"
    return DeleteOrphan(world.bucket, temp_key(7), etag, len(COMMIT), world.log_store, entry=entry, named=named)


def delete_copied_file(world: World) -> DeleteOrphan:
    etag = world.put(temp_key(7))
    world.put(commit_key(7))
    entry = (URI, f"{7:020d}.json")
    survivor = commit_key(7)
    return DeleteOrphan(world.bucket, temp_key(7), etag, len(COMMIT), world.log_store, entry=entry, survivor=survivor)


def delete_staged_file(world: World) -> DeleteOrphan:
    etag = world.put(staged_key(7))
    world.enter(registration_item(8, (8,)))
    return DeleteOrphan(world.bucket, staged_key(7), etag, len(COMMIT), world.registry, registration=UUID)


def restore_object(world: World) -> Publish:
    copy = f"{RESCUE}_delta_log/.tmp/{7:020d}.json.{UUID}"
    return Publish(world.bucket, copy, temp_key(7), world.put(copy), len(COMMIT))


def name(scene: Callable[[World], Call]) -> str:
    return scene.__name__


ORPHAN_SCENES = [delete_temp_file, delete_copied_file, delete_staged_file]
OBJECT_SCENES = [save_object, save_item, publish, restore_object, *ORPHAN_SCENES]
ITEM_SCENES = [complete_entry, delete_entry, clear_commits, raise_version, register, delete_registration]
REQUIREMENTS = [require_equal, require_absent, require_empty, require_no_entry]
WRITING_SCENES = [*OBJECT_SCENES, *ITEM_SCENES]
SCENES = [*WRITING_SCENES, *REQUIREMENTS]

KINDS: frozenset[type[Call]] = frozenset(scene.__annotations__["return"] for scene in SCENES)
