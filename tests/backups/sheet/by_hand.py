"""Restores as the sheet says: by its own commands, or by its program beside a stand-in for the AWS CLI."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from fnmatch import fnmatch
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from botocore.exceptions import ClientError

from backups.sheet import program
from lake.backup.objects import POINTS
from sandbox.client import REGION
from tests.backups.points.conftest import Backup
from tests.backups.restores.restoring import options


def sheets(backup: Backup) -> list[str]:
    """The texts in the backup, the newest last."""
    keys = [key for key, _ in backup.lake.list(backup.vault, f"pool/{POINTS}RESTORE-")]
    return [backup.lake.get(backup.vault, key).decode() for key in sorted(keys)]


def do_as_the_sheet_says(backup: Backup, folder: Path, to: str) -> list[str]:
    """What each command of the newest sheet prints, in a shell that has Python, the AWS CLI and nothing of Levee."""
    (tools := folder / "bin").mkdir()
    there = {name: shutil.which(name) for name in ("sh", "sed", "grep")}
    there |= {"aws": str(Path(sys.executable).parent / "aws"), "python3": os.path.realpath(sys.executable)}
    for name, place in there.items():
        (tools / name).symlink_to(str(place))
    env = options(backup) | {"AWS_DEFAULT_REGION": REGION, "PATH": str(tools)}
    lines = sheets(backup)[-1].replace("s3://BUCKET/restored/TABLE", to).splitlines()
    commands = [line.strip() for line in lines if line.startswith(("   aws ", "   python3 "))]
    return [subprocess.check_output(["sh", "-ec", one], cwd=folder, env=env, text=True) for one in commands]


class Cli:
    """What the program asks of the AWS CLI, by boto3. It fails before the request of number `most` that writes.

    `archived` are keys that S3 copies to nobody, `lost` those whose copies are not there afterwards; `meanwhile` is
    called before each write, with its key.
    """

    def __init__(self, backup: Backup, most: int = -1, **more: Any) -> None:
        self.s3, self.most, self.written, self.lock = backup.boto(), most, list[str](), Lock()
        self.archived: Collection[str] = more.get("archived", ())
        self.lost: Collection[str] = more.get("lost", ())
        self.meanwhile: Callable[[str], object] = more.get("meanwhile", lambda _: None)

    def __call__(self, *words: str, may_fail: bool = False) -> bytes:
        try:
            return self._answer(*words)
        except subprocess.CalledProcessError:
            if not may_fail or len(self.written) == self.most:
                raise
            return b""

    def _answer(self, *words: str) -> bytes:
        match words:
            case "s3", "cp", source, "-":
                return self._get(*program.address(source))
            case "s3", "cp", source, to, "--only-show-errors", *_:
                self._copy(program.address(source), program.address(to))
            case "s3", "sync", source, to, "--only-show-errors", *without:
                (bucket, prefix), (target, folder) = program.address(source), program.address(to)
                patterns = [f"{bucket}/{prefix}{one.removeprefix('--exclude=')}" for one in without]
                found = self._listed(bucket, prefix)
                # As its filters.py matches: what the path itself has of a pattern counts as one.
                keys = [key for key in found if not any(fnmatch(f"{bucket}/{key}", one) for one in patterns)]
                for key in keys:
                    if key not in self.archived:
                        self._copy((bucket, key), (target, folder + key[len(prefix) :]))
                if set(keys) & set(self.archived):
                    raise subprocess.CalledProcessError(2, ["aws"])
            case "s3api", "list-objects-v2", bucket, prefix, "--output=json":
                found = self._listed(bucket.removeprefix("--bucket="), prefix.removeprefix("--prefix=")).values()
                return json.dumps({"Contents": [{**one, "LastModified": ""} for one in found]}).encode()
            case "s3api", "put-object", bucket, key, "--body", file, "--if-none-match", "*":
                self._write(key.removeprefix("--key="))
                place = {"Bucket": bucket.removeprefix("--bucket="), "Key": key.removeprefix("--key=")}
                try:
                    self.s3.put_object(**place, Body=Path(file).read_bytes(), IfNoneMatch="*")
                except ClientError as error:
                    raise subprocess.CalledProcessError(254, ["aws"]) from error
            case _:
                raise AssertionError(words)
        return b""

    def _get(self, bucket: str, key: str) -> bytes:
        body: bytes = self.s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        return body

    def _listed(self, bucket: str, prefix: str) -> dict[str, Any]:
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return {one["Key"]: one for page in pages for one in page.get("Contents", [])}

    def _copy(self, source: program.Place, to: program.Place) -> None:
        if source[1] in self.archived:
            raise subprocess.CalledProcessError(2, ["aws"])
        self._write(to[1])
        if to[1] not in self.lost:
            self.s3.copy_object(CopySource={"Bucket": source[0], "Key": source[1]}, Bucket=to[0], Key=to[1])

    def _write(self, key: str) -> None:
        with self.lock:
            if len(self.written) == self.most:
                raise subprocess.CalledProcessError(1, ["aws"])
            self.written.append(key)
        self.meanwhile(key)


def run(monkeypatch: pytest.MonkeyPatch, cli: Cli, document: str, to: str) -> str:
    """Let the program restore by this CLI; what it ends with, "" where it restored."""
    monkeypatch.setattr(program, "aws", cli)
    try:
        program.main(document, to)
    except SystemExit as refused:
        return str(refused.code)
    except subprocess.CalledProcessError:
        return "Stopped"
    return ""
