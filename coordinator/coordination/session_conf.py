"""Settings that a writer's Spark session needs, by mechanism, from what was observed of store, region and path."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from coordinator.coordination.releases import ENVIRONMENT_V1, Release
from coordinator.protocols.coordinator_conf import ENDPOINT_KEY, STORE_KEY, aws_endpoint
from lake.delta.facts import Mechanism
from lake.spark.deployment import LOG_STORE_CLASS

LOG_STORE = "spark.io.delta.storage.S3DynamoDBLogStore"
COORDINATOR = "spark.databricks.delta.coordinatedCommits.commitCoordinator.dynamodb"
MECHANISMS = (Mechanism.SINGLE_DRIVER, Mechanism.LOG_STORE, Mechanism.COORDINATED_COMMITS)


@dataclass(frozen=True, slots=True)
class WriterConfig:
    """Where a writer commits. Empty endpoints mean AWS's own; `bucket_region` "" is the region of the stores.

    `scheme` is that of the table's path. `environment_credentials` for sessions whose keys are in AWS_ACCESS_KEY_ID and
    AWS_SECRET_ACCESS_KEY; without, each SDK's own chain counts.
    """

    region: str
    s3_endpoint: str = ""
    dynamodb_endpoint: str = ""
    log_store: str = ""
    coordinator: str = ""
    scheme: str = "s3a"
    environment_credentials: bool = False
    bucket_region: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key. `older` is its other or earlier spelling, with the releases that read it, "" where there is none."""

    key: str
    value: str
    why: str
    older: str = ""


def settings_for(mechanism: Mechanism, config: WriterConfig, release: Release) -> tuple[Setting, ...]:
    """Every setting of a session that writes tables of this mechanism; empty for a mechanism without sessions."""
    if mechanism not in MECHANISMS:
        return ()
    return (
        *_delta(),
        *_s3a(config, release),
        *(_log_store(config) if mechanism is Mechanism.LOG_STORE else ()),
        *(_coordinated(config) if mechanism is Mechanism.COORDINATED_COMMITS else ()),
    )


def _delta() -> Iterator[Setting]:
    yield Setting("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension", "Delta's SQL")
    catalog = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
    yield Setting("spark.sql.catalog.spark_catalog", catalog, "Delta's catalogue of tables")


def _s3a(config: WriterConfig, release: Release) -> Iterator[Setting]:
    region = config.bucket_region or config.region
    yield Setting("spark.hadoop.fs.s3a.endpoint.region", region, "The region of the bucket")
    if config.scheme == "s3":
        s3a = "org.apache.hadoop.fs.s3a.S3AFileSystem"
        yield Setting("spark.hadoop.fs.s3.impl", s3a, "Hadoop itself knows s3a:// and not s3://")
    if config.s3_endpoint:
        plain = config.s3_endpoint.startswith("http://")
        yield Setting("spark.hadoop.fs.s3a.endpoint", config.s3_endpoint, "S3 that is not AWS itself")
        yield Setting("spark.hadoop.fs.s3a.path.style.access", "true", "The bucket is in the path")
        yield Setting("spark.hadoop.fs.s3a.connection.ssl.enabled", "false" if plain else "true", "As the endpoint")
    if config.environment_credentials:
        why = f"S3A of hadoop-aws {release.hadoop_aws}"
        older = f"Hadoop 3.3: {ENVIRONMENT_V1}" if release.s3a_provider != ENVIRONMENT_V1 else ""
        yield Setting("spark.hadoop.fs.s3a.aws.credentials.provider", release.s3a_provider, why, older)


def _log_store(config: WriterConfig) -> Iterator[Setting]:
    older = "spark.delta.logStore.class (all schemes at once; not beside this one)"
    for scheme in dict.fromkeys((config.scheme, "s3a")):
        key = f"spark.delta.logStore.{scheme}.impl"
        yield Setting(key, LOG_STORE_CLASS, f"Commits to {scheme}:// through DynamoDB", older)
    without = "the same key without spark. (one of the two, or both alike)"
    yield Setting(f"{LOG_STORE}.ddb.tableName", config.log_store or "delta_log", "The entries' DynamoDB table", without)
    yield Setting(f"{LOG_STORE}.ddb.region", config.region, "Its region; there is no key for an endpoint", without)
    if config.environment_credentials:
        yield Setting(f"{LOG_STORE}.credentials.provider", ENVIRONMENT_V1, "DynamoDB through AWS SDK v1", without)


def _coordinated(config: WriterConfig) -> Iterator[Setting]:
    """The table itself names store and endpoint; only credentials are the session's."""
    if config.environment_credentials:
        older = "4.0.0-preview: spark.databricks.delta.managedCommits.commitOwner.ddb.awsCredentialsProviderName"
        key = f"{COORDINATOR}.awsCredentialsProviderName"
        yield Setting(key, ENVIRONMENT_V1, "DynamoDB through AWS SDK v1", older)


def default_properties(config: WriterConfig) -> tuple[Setting, ...]:
    """What makes each new table of a session coordinated from its first commit; existing tables stay as they are."""
    prefix = "spark.databricks.delta.properties.defaults.coordinatedCommits"
    older = "3.2: …managedCommits.{}-dev, 4.0.0-preview: …managedCommits.{}-preview; neither is read by 3.3.0 to 4.4.0"
    return (
        Setting(
            f"{prefix}.commitCoordinator-preview",
            "dynamodb",
            "New tables are coordinated",
            older.format("commitOwner", "commitOwner"),
        ),
        Setting(
            f"{prefix}.commitCoordinatorConf-preview",
            coordinator_json(config),
            "Where the coordinator is",
            older.format("commitOwnerConf", "commitOwnerConf"),
        ),
    )


def coordinator_json(config: WriterConfig) -> str:
    """The property `commitCoordinatorConf-preview` of a table in this config."""
    endpoint = config.dynamodb_endpoint or aws_endpoint(config.region)
    return json.dumps({STORE_KEY: config.coordinator, ENDPOINT_KEY: endpoint}, separators=(",", ":"))


def warnings_for(mechanism: Mechanism, config: WriterConfig, release: Release) -> Iterator[str]:
    """What no setting says, and each writer has to know."""
    if release.adds_sdk_v1 and mechanism is not Mechanism.SINGLE_DRIVER:
        yield (
            f"hadoop-aws {release.hadoop_aws} brings AWS SDK v2 alone: without SDK v1 the first commit ends in "
            "NoClassDefFoundError."
        )
    yield "Never set fs.s3a.performance.flags=create: a second writer then overwrites a commit without a word."
    match mechanism:
        case Mechanism.SINGLE_DRIVER:
            yield "Two drivers at once are not kept apart: run one writer at a time."
        case Mechanism.LOG_STORE:
            yield f"Spell the path alike everywhere: {config.scheme}:// and another scheme do not exclude each other."
            if config.dynamodb_endpoint:
                yield f"The class calls AWS only; {config.dynamodb_endpoint} is out of its reach."
        case Mechanism.COORDINATED_COMMITS:
            yield f"Delta {release.delta} stages in {release.folder}: let no session of another folder write too."
            yield "The endpoint in the table's properties decides the region that requests are signed for."
            if release.delta >= "4.1":
                yield "Leave spark.databricks.delta.v2.enableMode at AUTO: STRICT does not know the feature."
