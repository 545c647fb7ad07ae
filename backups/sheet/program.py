"""Restores one version of a Delta table out of its backup, by Python's own library and the AWS CLI.

    python3 restore.py POINT TARGET [OPTIONS]

POINT is the document of a restore point, as s3://vault/lake/_levee/points/lake/orders/@41-9b1d6e0f3a7c2584.json,
TARGET a folder where nothing is, as s3://lake/restored/orders, OPTIONS those of `aws s3 sync`. Data files come first,
the first object of the log last: before that Spark finds no table there. What was interrupted goes on where it
ended when it is run again.
"""

import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

LOG, CLAIM = "_delta_log/", "_levee_restore.json"
MOST_TIMES = 4  # the bytes of the version, up to which its whole folder is copied: one process is much faster
CHANGED = "What was copied is not there: somebody changes the target."
Place = tuple[str, str]  # a bucket, and what keys there begin with


def main(document: str, target: str, *options: str) -> None:
    source, to = address(document), address(target.rstrip("/") + "/")
    point = read_point(source)
    bucket, root = address(point["table"])
    data = f"{root}/" if root else ""
    points = "_levee/points/" + "/".join(filter(None, (bucket, root))) + "/@"
    require(points in source[1], "The document does not lie where it was written.")
    backup = source[0], source[1][: source[1].rindex(points)]
    for place, name in ((backup, "the backup"), ((bucket, data), "the path of the table itself")):
        require(to[0] != place[0] or not to[1].startswith(place[1]), f"The target is {name}, or lies in it.")

    objects = objects_of(point, backup)
    there = as_proven(objects, backup, data, points)
    claim(to, json.dumps({"point": url(source), "digest": point["digest"]}).encode())
    files = [one for one in objects if not one["path"].startswith(LOG)]
    log = [one for one in objects if one["path"].startswith(LOG)]
    # A path that reads as a pattern would not leave out the log.
    size = sum(size for key, (size, _) in there.items() if key.startswith(data) and LOG not in key)
    if root and not set("*?[") & set(backup[1] + data) and size <= MOST_TIMES * sum(one["size"] for one in files):
        without = (f"--exclude={one}" for one in (CLAIM, f"{LOG}*", f"*/{LOG}*"))
        # It may fail for a file of another version, as one in an archive; what is lacking is copied by itself.
        aws("s3", "sync", url(backup, data), url(to), "--only-show-errors", *without, *options, may_fail=True)
    copy(backup, to, lacking(to, files, log), options)
    require(not lacking(to, files, log), CHANGED)
    as_proven(objects, backup, data, points)
    first = min(log, key=lambda one: str(one["path"]))  # a part of the checkpoint, or the first commit
    copy(backup, to, [one for one in lacking(to, log, log) if one != first], options)
    copy(backup, to, lacking(to, log, log), options)
    require(not lacking(to, objects, log), CHANGED)
    state = f"version {point['version']}, {point['files']:,} data files of {point['bytes']:,} bytes"
    more = f", and version {point['version'] + 1}, by which it left its coordinator" if point["detaching"] else ""
    say(f"{point['table']} is at {target}: {state}{more}.")


def read_point(source: Place) -> Any:
    point = json.loads(get(source))
    said = {name: value for name, value in point.items() if name != "digest"}
    plain = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    require(point["digest"] == sha256(plain.encode()), "The document is not as it was written.")
    require("detaching" in point, "An older release kept this point. Take one of a later run.")
    leaves = point["detaching"] or not point["coordinated"]
    require(leaves, "The table is coordinated, and no commit is kept by which a copy leaves its coordinator.")
    return point


def objects_of(point: Any, backup: Place) -> list[Any]:
    """The objects of the point, and the commit by which a copy leaves its coordinator, by `path` below the table."""
    lines = gzip.decompress(get((backup[0], backup[1] + point["objects"])))
    require(point["hash"] == sha256(lines), "The list of objects is not as it was written.")
    objects = [json.loads(line) for line in lines.splitlines()]
    require(all(one["path"] for one in objects), "The log names files in full: a copy would lead to the original's.")
    if key := point["detaching"]:
        commit = get((backup[0], backup[1] + key))
        require(sha256(commit)[:16] in key, f"{url(backup, key)} is not as it was written.")
        of_log = {"path": f"{LOG}{point['version'] + 1:020d}.json", "size": len(commit), "etag": None}
        objects.append({"key": key, **of_log})
    return objects


def as_proven(objects: list[Any], backup: Place, *prefixes: str) -> dict[str, tuple[int, str]]:
    """What lies in the backup with these prefixes, each object of the point as it was proven."""
    there = {key: found for prefix in prefixes for key, found in listed(backup, prefix).items()}
    for one in objects:
        size, etag = there.get(one["key"], (None, ""))
        is_same = size == one["size"] and one["etag"] in (etag, None)
        require(is_same, f"{url(backup, one['key'])} is not there, or not what was proven.")
    return there


def claim(to: Place, content: bytes) -> None:
    """Make the target this restore's, unless it is; anything else there stops it."""
    found = listed(to)
    require(not found or CLAIM in found, f"{url(to)} is not empty. Choose a folder where nothing is.")
    if found:
        require(get((to[0], to[1] + CLAIM)) == content, f"{url(to)} holds another restore.")
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        place = f"--bucket={to[0]}", f"--key={to[1]}{CLAIM}"
        aws("s3api", "put-object", *place, "--body", file.name, "--if-none-match", "*")


def lacking(to: Place, objects: list[Any], log: list[Any]) -> list[Any]:
    """The objects that the target has not, or of another size. What else its log has stops it."""
    found, expected = listed(to), {one["path"] for one in log}
    for path in found:
        is_ours = path in expected or not path.startswith(LOG)
        require(is_ours, f"{url(to, path)} is of another writer: give up this target.")
    return [one for one in objects if found.get(one["path"], (None, ""))[0] != one["size"]]


def copy(backup: Place, to: Place, objects: list[Any], options: tuple[str, ...]) -> None:
    """Copy each by a process of its own."""

    def one(this: Any) -> None:
        aws("s3", "cp", url(backup, this["key"]), url(to, this["path"]), "--only-show-errors", *options)

    if objects:
        say(f"To copy one by one: {len(objects):,}.")
    pool = ThreadPoolExecutor(16)
    try:
        list(pool.map(one, objects))
    finally:
        pool.shutdown(cancel_futures=True)


def listed(place: Place, below: str = "") -> dict[str, tuple[int, str]]:
    """The size and the ETag of each object by its key below the place, but for those that stand for a folder."""
    words = "s3api", "list-objects-v2", f"--bucket={place[0]}", f"--prefix={place[1]}{below}", "--output=json"
    found = json.loads(aws(*words) or "{}").get("Contents") or []
    named = ((one["Key"][len(place[1]) :], one["Size"], one["ETag"].strip('"')) for one in found)
    return {key: (size, etag) for key, size, etag in named if size or (key and not key.endswith("/"))}


def get(place: Place) -> bytes:
    return aws("s3", "cp", url(place), "-")


def aws(*words: str, may_fail: bool = False) -> bytes:
    return subprocess.run(["aws", *words], stdout=subprocess.PIPE, check=not may_fail).stdout


def address(uri: str) -> Place:
    bucket, _, key = uri.partition("://")[2].partition("/")
    return bucket, key


def url(place: Place, below: str = "") -> str:
    return f"s3://{place[0]}/{place[1]}{below}"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")


def require(is_so: object, otherwise: str) -> None:
    if not is_so:
        sys.exit(f"Not restored. {otherwise}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"Stopped, as said above, at: aws {' '.join(error.cmd[1:])}\nRun the same line again to go on.")
