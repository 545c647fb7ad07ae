"""A lake on moto, and the connection by which Levee looks at it."""

from tests.coordinator.observation.conftest import connection, observe, written  # noqa: F401
from tests.lake.aws.conftest import bucket, dynamodb, endpoint, lake, s3  # noqa: F401
