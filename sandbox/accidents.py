"""What befalls tables of the sandbox once their first backup is kept; docs/tutorial.md has each one's way back."""

import json
import time
from collections.abc import Callable, Sequence
from threading import Event
from urllib.parse import unquote

from lake.backup.objects import POINTS, BucketPrefix
from sandbox.client import Client
from sandbox.delta_files import Action, commit_bytes, commit_info
from sandbox.growth import Growth, Mishap
from sandbox.log_store_writer import file_name

POLL_SECONDS, DELAY_SECONDS = 3.0, 15.0
"""How often the backup is looked at, and how much later the accidents happen: the run that kept the points may end."""


def befall(
    backup: BucketPrefix,
    accidents: Sequence[tuple[Growth, Mishap]],
    ending: Event,
    happened: Callable[[Growth], None],
) -> None:
    """Wait until the backup has a restore point of each table, and let its accident happen."""
    waiting = list(accidents)
    while waiting and not ending.wait(POLL_SECONDS):
        kept = [one for one in waiting if has_point(one[0], backup)]
        if kept and ending.wait(DELAY_SECONDS):
            return
        for growth, accident in kept:
            accident(growth)
            happened(growth)
        waiting = [one for one in waiting if one not in kept]


def has_point(growth: Growth, backup: BucketPrefix) -> bool:
    """Whether the document of a restore point is there, which a run writes last."""
    table = growth.table
    names = table.client.list(backup.bucket, f"{backup.prefix}{POINTS}{table.bucket}/{table.key}/@")
    return any(key.endswith(".json") for key, _ in names)


def dropped(growth: Growth) -> None:
    """Somebody dropped the table, and deleted its folder."""
    _delete_below(growth.table.client, growth.table.bucket, f"{growth.table.key}/")


def too_much_deleted(growth: Growth) -> None:
    """A clean-up with a wrong date took all days but the newest; the next load followed, and then VACUUM."""
    table, now = growth.table, time.time()
    files = [one for version in range(growth.next_version) for one in _added(growth, version)]
    newest = max(one["partitionValues"]["day"] for one in files)
    taken = [one for one in files if one["partitionValues"]["day"] < newest]
    removes: list[Action] = [{"remove": _removal(one, now)} for one in taken]
    predicate = {"predicate": json.dumps([f"(day < DATE '{newest}')"])}
    info = commit_info("DELETE", now, predicate, read_version=growth.next_version - 1)
    growth.put(file_name(growth.next_version), commit_bytes([info, *removes]), now)
    growth.next_version += 1
    growth.bypass(age=0)
    for one in taken:
        table.client.delete(table.bucket, f"{table.key}/{unquote(one['path'])}")


def temp_file_taken(growth: Growth) -> None:
    """A rule took the temp file of a commit that waited to be published, the only file that held it."""
    growth.delete(growth.newest().temp_path)


def _added(growth: Growth, version: int) -> list[Action]:
    actions = map(json.loads, growth.table.read(file_name(version)).splitlines())
    return [action["add"] for action in actions if "add" in action]


def _removal(added: Action, at: float) -> Action:
    of_file = {name: added[name] for name in ("path", "partitionValues", "size")}
    return {**of_file, "deletionTimestamp": int(at * 1000), "dataChange": True, "extendedFileMetadata": True}


def _delete_below(client: Client, bucket: str, prefix: str) -> None:
    for key, _ in list(client.list(bucket, prefix)):
        client.delete(bucket, key)
