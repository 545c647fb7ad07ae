"""What of a plan to restore a version follows from what was read of it alone."""

import json
from dataclasses import replace
from typing import Any

import pytest

from backups.restores.planning import Keys, plan_restoring
from dashboard.connections.accepted import LeftBehind
from lake.backup.objects import BucketPrefix
from lake.delta.coordinator_properties import COORDINATOR
from lake.delta.restorable import TableAtVersion
from lake.delta.uri import TableUri
from lake.points.reading import FileCopy, KeptPoint, NotRestorable, RestorableVersion

TO = TableUri.parse("s3a://lake/restored/t")
FILE = FileCopy("part-0.parquet", "pool/t/part-0.parquet", 10, "0" * 32, "STANDARD")


def version(**configuration: str) -> RestorableVersion:
    document: Any = {"table": "s3a://lake/t", "version": 5}
    point = KeptPoint("s3a://vault/@5.json", BucketPrefix("vault", "pool/"), document, {})
    state = TableAtVersion(5, "id", 1, 10, 1_700_000_000_000, has_own_time=True)
    return RestorableVersion(point, state, (), (FILE,), {"configuration": configuration}, {"minWriterVersion": 7})


def claim(found: RestorableVersion, to: TableUri = TO) -> bytes:
    first: Any = plan_restoring(found, to, Keys("", ""), LeftBehind()).calls[0]
    return bytes(first.claim)


def test_a_claim_is_of_a_version_of_its_files_and_of_its_path():
    found = version()
    other_file = replace(found, files=(FILE._replace(etag="1" * 32),))
    other_version = replace(found, state=replace(found.state, version=4))
    claims = {claim(one) for one in (found, other_file, other_version)} | {claim(found, replace(TO, key="other/t"))}
    assert len(claims) == 4
    told = json.loads(claim(found))
    assert (told["table"], told["version"], told["to"], told["files"]) == ("s3a://lake/t", 5, TO.s3a, 1)


def test_a_claim_is_the_same_by_whichever_point_the_version_is_read():
    newer = replace(version(), point=replace(version().point, uri="s3a://vault/@8.json"))
    assert claim(newer) == claim(version())


def test_a_coordinated_version_whose_time_is_not_known_is_not_restored():
    found = version(**{COORDINATOR: "dynamodb"})
    assert plan_restoring(found, TO, Keys("", ""), LeftBehind()).calls
    for state in (replace(found.state, has_own_time=False), replace(found.state, committed_at=None)):
        with pytest.raises(NotRestorable, match="cannot be dated"):
            plan_restoring(replace(found, state=state), TO, Keys("", ""), LeftBehind())
