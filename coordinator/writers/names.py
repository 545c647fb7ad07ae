"""Names of settings that people bring from documents: which release reads each, and what to write for those of none.

Sources are upstream's `S3DynamoDBLogStore` and `DeltaSQLConf` and the pull requests named; 4.4.0 is the newest read.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from coordinator.coordination.session_conf import COORDINATOR, LOG_STORE
from lake.delta.facts import Mechanism

HADOOP = "spark.hadoop."
NOBODY = "no release"
DEFAULTS = "spark.databricks.delta.properties.defaults."
LOG_STORE_CLASS = "io.delta.storage.S3DynamoDBLogStore"
PROPOSED_CLASSES = ("io.delta.storage.DynamoDBLogStore", "io.delta.storage.DynamoDBLogStoreScala")
TEST_CLASS = "io.delta.storage.FailingS3DynamoDBLogStore"

_PROPOSAL = "the proposal of delta-io/delta #339, which no release has"
_DELTA = "spark.databricks.delta."


@dataclass(frozen=True, slots=True)
class BroughtName:
    """A key, or a class: `read_by` says which releases read it, `instead` what to write for it.

    `instead` is "" where there is nothing to write, or where the name is read.
    """

    name: str
    read_by: Annotated[str, "2.2.0 to 4.4.0 | no release"]
    does: str
    instead: str
    source: str

    @property
    def is_read(self) -> bool:
        """Whether a release reads it that anybody should still write with."""
        return self.read_by.endswith("4.4.0")


def _log_store(suffix: str, read_by: str, does: str) -> BroughtName:
    return BroughtName(f"{LOG_STORE}.{suffix}", read_by, does, "", f"{LOG_STORE_CLASS}, {read_by}")


def _coordinator(suffix: str, does: str) -> BroughtName:
    return BroughtName(f"{COORDINATOR}.{suffix}", "3.3.0 to 4.4.0", does, "", "DeltaSQLConf, 3.3.0 to 4.4.0")


def _proposed(suffix: str, instead: str) -> BroughtName:
    new = f"{LOG_STORE}.{instead}" if instead else ""
    return BroughtName(f"spark.delta.DynamoDBLogStore.{suffix}", NOBODY, _UNREAD, new, _PROPOSAL)


def _of_1_2_0(suffix: str) -> BroughtName:
    does = "The prefix lacks the class: read by that one release, by mistake."
    source = "S3DynamoDBLogStore 1.2.0; mended in 1.2.1 (#1094)"
    return BroughtName(f"spark.io.delta.storage.{suffix}", "1.2.0 alone", does, f"{LOG_STORE}.{suffix}", source)


def _documented(suffix: str) -> BroughtName:
    does = "As the pages of the previews have it; the code never read it."
    source = "docs of the previews; DeltaSQLConf of 3.3.0 to 4.4.0 has dynamodb in its place"
    name = f"{_DELTA}coordinatedCommits.commitCoordinator.ddb.{suffix}"
    return BroughtName(name, NOBODY, does, f"{COORDINATOR}.{suffix}", source)


def _preview(name: str, instead: str) -> BroughtName:
    does = "Ignored since coordinated commits have their name."
    source = "DeltaSQLConf, 4.0.0-preview"
    return BroughtName(f"{_DELTA}managedCommits.{name}", "4.0.0-preview alone", does, instead, source)


def _default(name: str, read_by: str, instead: str) -> BroughtName:
    new = f"{DEFAULTS}coordinatedCommits.{instead}" if instead else ""
    does = "Ignored: new tables are not coordinated."
    return BroughtName(f"{DEFAULTS}{name}", read_by, does, new, f"DeltaConfigs, {read_by}")


_UNREAD = "Ignored without a word: the class takes the table delta_log in us-east-1."
_UNITS = "units that Delta creates the store with; an existing store keeps its own. 5"
_OF_LOG_STORE = (
    _proposed("tableName", "ddb.tableName"),
    _proposed("region", "ddb.region"),
    _proposed("credentials.provider", "credentials.provider"),
    _proposed("endpoint", ""),
    _of_1_2_0("ddb.tableName"),
    _of_1_2_0("ddb.region"),
    _of_1_2_0("credentials.provider"),
    _of_1_2_0("provisionedThroughput.rcu"),
    _of_1_2_0("provisionedThroughput.wcu"),
    _log_store(
        "ddb.ttl",
        "2.2.0 to 4.4.0",
        "Seconds that a finished entry stays, 86400 unless set. Negative is refused; 0 lets a slow writer lose "
        "commits. "
        "The store's TTL on expireTime has to be on as well.",
    ),
    _log_store("provisionedThroughput.rcu", "1.2.1 to 4.4.0", f"Read {_UNITS} unless set."),
    _log_store("provisionedThroughput.wcu", "1.2.1 to 4.4.0", f"Write {_UNITS} unless set."),
    _log_store("read.retries", "2.4.0 to 4.4.0", "How often a log file is read anew that was replaced meanwhile. 3."),
    _log_store(
        "credentials.provider",
        "1.2.1 to 4.4.0",
        "A class of AWS SDK v1; from 2.0.0 on also one whose constructor takes a Hadoop Configuration.",
    ),
)
_OF_COORDINATOR = (
    _coordinator("awsCredentialsProviderName", "A class of AWS SDK v1, or one that takes a Hadoop Configuration."),
    _coordinator("readCapacityUnits", f"Read {_UNITS} unless set."),
    _coordinator("writeCapacityUnits", f"Write {_UNITS} unless set."),
    _coordinator("skipPathCheckEnabled", "Never true: a copy of the table then writes into the original's versions."),
    _documented("awsCredentialsProviderName"),
    _documented("readCapacityUnits"),
    _documented("writeCapacityUnits"),
    _preview("commitOwner.ddb.awsCredentialsProviderName", f"{COORDINATOR}.awsCredentialsProviderName"),
    _preview("commitOwner.ddb.skipPathCheck.enabled", f"{COORDINATOR}.skipPathCheckEnabled"),
    _preview("commitOwner.ddb.readCapacityUnits", f"{COORDINATOR}.readCapacityUnits"),
    _preview("commitOwner.ddb.writeCapacityUnits", f"{COORDINATOR}.writeCapacityUnits"),
    _preview("getCommits.threadPoolSize", f"{_DELTA}coordinatedCommits.getCommits.threadPoolSize"),
    _default("managedCommits.commitOwner-dev", "3.2.0 and 3.2.1", "commitCoordinator-preview"),
    _default("managedCommits.commitOwnerConf-dev", "3.2.0 and 3.2.1", "commitCoordinatorConf-preview"),
    _default("managedCommits.commitOwner-preview", "4.0.0-preview alone", "commitCoordinator-preview"),
    _default("managedCommits.commitOwnerConf-preview", "4.0.0-preview alone", "commitCoordinatorConf-preview"),
    _default("managedCommits.tableConf-dev", "3.2.0 and 3.2.1", ""),
    _default("managedCommits.tableConf-preview", "4.0.0-preview alone", ""),
    _default("coordinatedCommits.commitCoordinator", NOBODY, "commitCoordinator-preview"),
    _default("coordinatedCommits.commitCoordinatorConf", NOBODY, "commitCoordinatorConf-preview"),
)
_CLASSES = tuple(
    BroughtName(name, NOBODY, "The session cannot load it.", LOG_STORE_CLASS, _PROPOSAL) for name in PROPOSED_CLASSES
)
BROUGHT = {Mechanism.LOG_STORE: (*_CLASSES, *_OF_LOG_STORE), Mechanism.COORDINATED_COMMITS: _OF_COORDINATOR}
DEAD_KEYS = tuple(one for one in (*_OF_LOG_STORE, *_OF_COORDINATOR) if not one.is_read)


def _suffixes(names: Iterable[BroughtName], prefix: str) -> frozenset[str]:
    return frozenset(one.name.removeprefix(f"{prefix}.") for one in names if one.is_read)


LOG_STORE_SUFFIXES = _suffixes(_OF_LOG_STORE, LOG_STORE) | {"ddb.tableName", "ddb.region"}
COORDINATOR_SUFFIXES = _suffixes(_OF_COORDINATOR, COORDINATOR)
MISSPELT = {
    "tableName": "ddb.tableName",
    "table": "ddb.tableName",
    "region": "ddb.region",
    "ttl": "ddb.ttl",
    "ddb.credentials.provider": "credentials.provider",
    "ddb.provisionedThroughput.rcu": "provisionedThroughput.rcu",
    "ddb.provisionedThroughput.wcu": "provisionedThroughput.wcu",
    "skipPathCheck.enabled": "skipPathCheckEnabled",
    "credentialsProvider": "awsCredentialsProviderName",
}
"""Suffixes that are near to those that are read."""

_COORDINATED = f"{_DELTA}coordinatedCommits."
_READ = (
    "spark.delta.logStore.class",
    *(f"{LOG_STORE}.{suffix}" for suffix in LOG_STORE_SUFFIXES),
    *(f"{COORDINATOR}.{suffix}" for suffix in COORDINATOR_SUFFIXES),
    f"{_COORDINATED}getCommits.threadPoolSize",
    f"{_COORDINATED}ignoreMissingCoordinatorImplementation",
    f"{_COORDINATED}commitFilesIterator.backfillGapFix.enabled",
    f"{DEFAULTS}coordinatedCommits.commitCoordinator-preview",
    f"{DEFAULTS}coordinatedCommits.commitCoordinatorConf-preview",
    f"{DEFAULTS}coordinatedCommits.tableConf-preview",
)
_NEAR = {
    f"{prefix}.{suffix}": f"{prefix}.{near}"
    for prefix, known in ((LOG_STORE, LOG_STORE_SUFFIXES), (COORDINATOR, COORDINATOR_SUFFIXES))
    for suffix, near in MISSPELT.items()
    if near in known
} | {one.name: one.instead for one in DEAD_KEYS}
_OURS = re.compile(
    r"delta\.logstore|delta\.dynamodblogstore\.|io\.delta\.storage\.|"
    r"databricks\.delta\.(?:properties\.defaults\.)?(?:coordinated|managed)commits\."
)
STORAGE_PACKAGES = ("org.apache.spark.sql.delta.storage.", "io.delta.storage.")
_IN_BOTH = ("", "Azure", "HDFS", "HadoopFileSystem", "Local", "S3SingleDriver")
_IN_STORAGE = ("BaseExternal", "GCS", "IBMCOS", "OracleCloud", "S3DynamoDB")
CLASSES = (
    f"{STORAGE_PACKAGES[0]}DelegatingLogStore",
    *(f"{package}{name}LogStore" for package in STORAGE_PACKAGES for name in _IN_BOTH),
    *(f"{STORAGE_PACKAGES[1]}{name}LogStore" for name in _IN_STORAGE),
)
"""Every class of a log store that releases have had since 0.1.0."""


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """One way to get credentials on AWS: its class for DynamoDB (SDK v1), and for S3A of Hadoop 3.4 and newer (v2)."""

    title: str
    dynamodb: str
    s3a: str


_V1, _V2 = "com.amazonaws.auth", "software.amazon.awssdk.auth.credentials"
PROVIDERS = (
    ProviderChoice("What the machine has, by itself", f"{_V1}.DefaultAWSCredentialsProviderChain", ""),
    ProviderChoice(
        "Environment variables",
        f"{_V1}.EnvironmentVariableCredentialsProvider",
        f"{_V2}.EnvironmentVariableCredentialsProvider",
    ),
    ProviderChoice(
        "Role of the EC2 instance",
        f"{_V1}.InstanceProfileCredentialsProvider",
        "org.apache.hadoop.fs.s3a.auth.IAMInstanceCredentialsProvider",
    ),
    ProviderChoice(
        "Role of the container or the instance",
        f"{_V1}.EC2ContainerCredentialsProviderWrapper",
        "org.apache.hadoop.fs.s3a.auth.IAMInstanceCredentialsProvider",
    ),
    ProviderChoice(
        "Role of a Kubernetes service account",
        f"{_V1}.WebIdentityTokenCredentialsProvider",
        f"{_V2}.WebIdentityTokenFileCredentialsProvider",
    ),
    ProviderChoice(
        "A profile of ~/.aws",
        f"{_V1}.profile.ProfileCredentialsProvider",
        f"{_V2}.ProfileCredentialsProvider",
    ),
)
TO_V1 = {one.s3a: one.dynamodb for one in reversed(PROVIDERS) if one.s3a} | {
    f"{_V2}.DefaultCredentialsProvider": PROVIDERS[0].dynamodb,
    f"{_V2}.InstanceProfileCredentialsProvider": f"{_V1}.InstanceProfileCredentialsProvider",
    f"{_V2}.ContainerCredentialsProvider": f"{_V1}.EC2ContainerCredentialsProviderWrapper",
}
TO_V2 = {one.dynamodb: one.s3a for one in PROVIDERS if one.s3a} | {
    PROVIDERS[0].dynamodb: f"{_V2}.DefaultCredentialsProvider",
    f"{_V1}.AnonymousAWSCredentials": "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider",
}


def spellings(suffix: str) -> tuple[str, ...]:
    """Every key under which the log store finds one of its settings."""
    return forms_of(f"{LOG_STORE}.{suffix}")


def forms_of(key: str) -> tuple[str, ...]:
    """A key with and without spark., and, but for a coordinator's, each of the two as one of Hadoop's."""
    own = (key, key.removeprefix("spark."))
    return own if key.startswith(_DELTA) else (*own, *(f"{HADOOP}{one}" for one in reversed(own)))


def is_of_commits(key: str) -> bool:
    """Whether a key, in letters of either case, is below a prefix of Delta's log stores or coordinators."""
    return _OURS.match(_letters(key)) is not None


def read_key(key: str) -> str:
    """The key that is read for one that differs from it in case or form alone, or is near to it; "" where none is."""
    scheme = re.fullmatch(r"delta\.logstore\.([a-z0-9.+-]+)\.impl", _letters(key))
    return f"spark.delta.logStore.{scheme[1]}.impl" if scheme else _BY_LETTERS.get(_letters(key), "")


def existing_class(name: str) -> str:
    """The class of a release that a name of a log store is meant to be; "" where none is near."""
    letters = name.lower()
    by_name = {one.rpartition(".")[2].lower(): one for one in CLASSES}
    near = {one.lower(): one for one in CLASSES}.get(letters) or by_name.get(letters.rpartition(".")[2], "")
    return LOG_STORE_CLASS if "dynamodb" in letters else near


def _letters(key: str) -> str:
    return key.lower().removeprefix(HADOOP).removeprefix("spark.")


_BY_LETTERS = {_letters(key): right for key, right in (*_NEAR.items(), *((key, key) for key in _READ))}
