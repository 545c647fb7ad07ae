"""What the manifest stage knows of earlier runs."""

import pytest

from backups.runs.stages.manifest import pool_still_there
from lake.aws.access import open_lake
from lake.aws.errors import AwsError
from tests.sandbox.control.ground import Ground


def test_outcomes_of_an_earlier_run_are_used_while_they_are_there() -> None:
    ground = Ground()
    pool = {"bucket": ground.vault, "prefix": "_levee/runs/1/reconciled/"}
    with open_lake(ground.access) as lake:
        assert pool_still_there(lake.s3, {}) == {}
        assert pool_still_there(lake.s3, pool) == {}
        ground.client.put(ground.vault, "_levee/runs/1/reconciled/part-0.parquet", b"rows")
        assert pool_still_there(lake.s3, pool) == pool
        assert pool_still_there(lake.s3, pool | {"bucket": "no-such-bucket-here"}) == {}


def test_outcomes_that_cannot_be_looked_for_are_a_trouble() -> None:
    class Refusing:
        def list(self, *_: object, **__: object) -> object:
            raise AwsError("AccessDenied", "no", "", "s3:ListBucket", "", "s3://vault")

    with pytest.raises(AwsError, match="no"):
        pool_still_there(Refusing(), {"bucket": "vault", "prefix": "_levee/"})
