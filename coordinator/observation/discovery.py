"""Finding Delta tables under a watched prefix: folders that hold a `_delta_log/`."""

from collections.abc import Container
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass

from lake.aws.s3 import S3
from lake.delta.uri import TableUri

MOST_FOLDERS = 20_000
"""Folders listed under one watched prefix in one pass; a prefix of more is not a lake's, and S3 bills each listing."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """Tables found under one prefix; `cut_off` says that MOST_FOLDERS was reached before the end."""

    roots: tuple[TableUri, ...]
    folders_listed: int
    cut_off: bool


def find_tables(s3: S3, prefix: TableUri, known_keys: Container[str], executor: Executor) -> Discovery:
    """List folder by folder below `prefix`, many at once; a folder that is a known table is not listed again.

    Hidden folders (`_x`, `.x`) and partition folders (`x=y`) are passed over: no table's root is named so, and a
    table that is not Delta may have many thousands of them. Raises AwsError when the prefix itself cannot be listed.
    """
    roots: list[TableUri] = []
    start = f"{prefix.key}/" if prefix.key else ""
    running: dict[Future[tuple[str, ...]], str] = {executor.submit(_folders, s3, prefix.bucket, start): start}
    listed = 1
    cut_off = False
    while running:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            folder = running.pop(future)
            folders = future.result()
            if f"{folder}_delta_log/" in folders:
                roots.append(TableUri("s3a", prefix.bucket, folder.rstrip("/")))
                continue
            for child in filter(_may_hold_tables, folders):
                if child.rstrip("/") in known_keys:
                    continue
                if listed >= MOST_FOLDERS:
                    cut_off = True
                    break
                listed += 1
                running[executor.submit(_folders, s3, prefix.bucket, child)] = child
    return Discovery(tuple(roots), listed, cut_off)


def _folders(s3: S3, bucket: str, prefix: str) -> tuple[str, ...]:
    return tuple(folder for page in s3.list(bucket, prefix, delimiter="/") for folder in page.prefixes)


def _may_hold_tables(folder: str) -> bool:
    name = folder.rstrip("/").rsplit("/", 1)[-1]
    return bool(name) and name[0] not in "._" and "=" not in name
