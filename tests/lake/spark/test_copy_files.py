"""Copying by Spark to where each object is to lie, through a real worker."""

from unittest.mock import MagicMock, Mock

import pytest

from lake.aws.access import Access
from lake.spark.jobs import copy_files
from tests.lake.spark.backupground import HOSTILE, Ground


def copies(ground: Ground, keys: list[str]) -> list[list[object]]:
    heads = [ground.lake.s3.head(ground.source, key) for key in keys]
    return [
        [ground.source, key, ground.vault, f"to/{number} {key}", head.size, head.etag, "", "", False]
        for number, (key, head) in enumerate(zip(keys, heads, strict=True))
        if head
    ]


@pytest.mark.spark
def test_each_object_is_copied_to_its_own_name_and_its_etag_told_in_order(ground: Ground) -> None:
    ground.put(HOSTILE)
    wanted = copies(ground, list(HOSTILE))
    told = ground.run(copy_files.KIND, {"copies": wanted, "bucket_owners": {}})
    assert told == {"etags": [copy[5] for copy in wanted], "failed": None}
    for number, key in enumerate(HOSTILE):
        assert ground.client.get(ground.vault, f"to/{number} {key}") == ground.client.get(ground.source, key)


@pytest.mark.spark
def test_a_copy_that_cannot_be_made_is_named_with_its_error(ground: Ground) -> None:
    ground.put(["t/1", "t/2", "t/3"])
    wanted = copies(ground, ["t/1", "t/2", "t/3"])
    ground.client.delete(ground.source, "t/2")
    told = ground.run(copy_files.KIND, {"copies": wanted, "bucket_owners": {}})
    number, (code, *_, target) = told["failed"]
    assert (told["etags"], number, code, target) == ([], 1, "NoSuchKey", f"s3://{ground.vault}/to/1 t/2")


def test_executors_are_told_who_has_to_own_the_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Access] = []
    monkeypatch.setattr(copy_files, "access_of", lambda _: Access("us-west-2"))
    monkeypatch.setattr(copy_files, "slots", lambda _: 2)
    monkeypatch.setattr(copy_files, "_copying", heard.append)
    monkeypatch.setattr(copy_files, "run_tasks", MagicMock())
    copy_files.run(None, {"copies": [], "bucket_owners": {"vault": "111122223333"}}, Mock())
    assert [one.bucket_owners for one in heard] == [{"vault": "111122223333"}]
