"""Every platform that people write Delta tables from: the same settings in its syntax, and what it does and cannot do.

Each sentence has its mark, as in `coordinator/coordination/compatibility.py`: "verified" was run, "source" read in the
engine's source, "documented" by who makes it, "inferred" concluded from these.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from coordinator.coordination.compatibility import ALONE, NO_COORDINATOR, NO_LOCK
from coordinator.coordination.pasting import Pairs, cluster_conf, glue_conf, pyspark, spark_submit, yaml_text
from coordinator.coordination.session_conf import LOG_STORE, WriterConfig
from lake.delta.facts import Mechanism


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, and how it is known."""

    text: str
    mark: Annotated[str, "verified | source | documented | inferred"]


@dataclass(frozen=True, slots=True)
class PlatformText:
    """A text to paste."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform with its texts, none where it takes no such settings, and what is claimed of it."""

    name: Annotated[str, "spark | kubernetes | emr | glue | databricks | flink | trino | delta-rs"]
    title: str
    texts: tuple[PlatformText, ...]
    claims: tuple[Claim, ...]


def platforms_for(
    mechanism: Mechanism, config: WriterConfig, pairs: Pairs, packages: Sequence[str]
) -> tuple[Platform, ...]:
    """All of them, for tables of one mechanism, which has session settings."""
    on_aws = _of_both_schemes(pairs)
    return (
        Platform("spark", "Spark", _spark(pairs, packages), _SPARK),
        Platform(
            "kubernetes",
            "Spark operator of Kubernetes",
            (PlatformText("YAML", kubernetes(pairs, packages)),),
            _KUBERNETES,
        ),
        Platform("emr", "Amazon EMR", (PlatformText("Configurations", emr(on_aws)),), _EMR),
        Platform("glue", "AWS Glue", _glue(on_aws), _GLUE),
        Platform("databricks", "Databricks", (), _DATABRICKS[mechanism]),
        Platform("flink", "Flink", _flink(mechanism, pairs), _FLINK[mechanism]),
        Platform("trino", "Trino and Athena", (), _TRINO[mechanism]),
        Platform("delta-rs", "deltalake (delta-rs)", _delta_rs(mechanism, config), _DELTA_RS[mechanism]),
    )


def _of_both_schemes(pairs: Pairs) -> list[tuple[str, str]]:
    """EMR and Glue serve s3:// by themselves, so that a session there can take either spelling: both need the lock."""
    own = [(key, value) for key, value in pairs if not key.startswith("spark.hadoop.fs.s3.")]
    impls = [value for key, value in own if key.startswith("spark.delta.logStore.")]
    both = [(f"spark.delta.logStore.{scheme}.impl", impls[0]) for scheme in ("s3", "s3a") if impls]
    return list(dict([*own, *both]).items())


def _spark(pairs: Pairs, packages: Sequence[str]) -> tuple[PlatformText, ...]:
    return (
        PlatformText("spark-submit", spark_submit(pairs, packages)),
        PlatformText("PySpark", pyspark(pairs, packages)),
        PlatformText("spark-defaults.conf", cluster_conf(pairs, packages)),
    )


def kubernetes(pairs: Pairs, packages: Sequence[str]) -> str:
    """The parts of a SparkApplication that hold settings and jars."""
    jars = [f"      - {yaml_text(name)}" for name in packages]
    settings = [f"    {yaml_text(key)}: {yaml_text(value)}" for key, value in pairs]
    return "\n".join(["spec:", "  deps:", "    packages:", *jars, "  sparkConf:", *settings, ""])


def emr(pairs: Pairs) -> str:
    """A list of configurations, for --configurations of a cluster or the overrides of a job; EMR brings the jars."""
    return json.dumps([{"Classification": "spark-defaults", "Properties": dict(pairs)}], indent=2, ensure_ascii=False)


def _glue(pairs: Pairs) -> tuple[PlatformText, ...]:
    """Parameters of a job, which brings Delta and not the log store; none where a value has a blank in it."""
    conf = glue_conf(pairs)
    text = json.dumps({"--datalake-formats": "delta", "--conf": conf}, indent=2, ensure_ascii=False)
    return (PlatformText("Job parameters", text),) if conf else ()


def _flink(mechanism: Mechanism, pairs: Pairs) -> tuple[PlatformText, ...]:
    """The log store's keys for the Hadoop configuration that Flink's sink is given."""
    if mechanism is not Mechanism.LOG_STORE:
        return ()
    wanted = [(key, value) for key, value in pairs if key.startswith(("spark.delta.logStore.", LOG_STORE))]
    lines = [f"configuration.set({json.dumps(key)}, {json.dumps(value)});" for key, value in wanted]
    return (PlatformText("Java, delta-flink up to 3.3", "\n".join(lines)),)


def _delta_rs(mechanism: Mechanism, config: WriterConfig) -> tuple[PlatformText, ...]:
    options = {"AWS_REGION": config.bucket_region or config.region}
    if config.s3_endpoint:
        options |= {"AWS_ENDPOINT_URL": config.s3_endpoint}
        if config.s3_endpoint.startswith("http://"):
            options |= {"AWS_ALLOW_HTTP": "true"}
    if mechanism is not Mechanism.LOG_STORE:
        text = PlatformText("storage_options", _python_dict(options))
        return () if mechanism is Mechanism.COORDINATED_COMMITS else (text,)
    options |= {
        "AWS_S3_LOCKING_PROVIDER": "dynamodb",
        "DELTA_DYNAMO_TABLE_NAME": config.log_store or "delta_log",
        "AWS_REGION_DYNAMODB": config.region,
    }
    return (PlatformText("storage_options, deltalake 1.6.0", _python_dict(options)),)


def _python_dict(options: dict[str, str]) -> str:
    lines = [f"    {json.dumps(key)}: {json.dumps(value)}," for key, value in options.items()]
    return "\n".join(["storage_options = {", *lines, "}"])


_SPARK = (
    Claim(
        "Every session that writes the table needs all of these settings, and those that only read it too.", "source"
    ),
    Claim("What is set on a running session is too late: the class is read where the session starts.", "source"),
)
_KUBERNETES = (
    Claim(
        "sparkConf takes the settings as they are; hadoopConf takes those of Hadoop without spark.hadoop.", "documented"
    ),
    Claim(
        "deps.packages are fetched when the driver starts, and need a folder that its user may write "
        "(spark.jars.ivy); jars in the image start faster.",
        "documented",
    ),
)
_EMR = (
    Claim(
        "From EMR 7.10 on, s3:// and s3a:// are both S3A. Before, s3:// is EMRFS, which reads no fs.s3a. setting: "
        "write s3a:// in every session, or set fs.s3.impl in core-site to org.apache.hadoop.fs.s3a.S3AFileSystem.",
        "documented",
    ),
    Claim(
        "Delta 3.3.2 comes with EMR 7.12, in /usr/share/aws/delta/lib: add that folder's delta-storage-s3-dynamodb.jar "
        "with --jars, and no packages beside it.",
        "documented",
    ),
    Claim("Its Delta is EMR's own build of a release (…-amzn-…): that it commits alike was not run.", "inferred"),
)
_GLUE = (
    Claim(
        "--datalake-formats delta brings Delta 3.3.2 with Glue 5.1, 3.3.0 with 5.0, 2.1.0 with 4.0, 1.0.0 with 3.0.",
        "documented",
    ),
    Claim(
        "Glue 4.0 and older must not write through the log store: up to 2.1.0 it can lose a commit (#1410).", "source"
    ),
    Claim(
        "Glue's own page sets spark.delta.logStore.class to S3SingleDriverLogStore, which takes no lock and cannot "
        "stand beside a key per scheme: leave it out.",
        "documented",
    ),
    Claim("delta-storage-s3-dynamodb is not among its jars: give it with --extra-jars s3://…/….jar.", "inferred"),
    Claim(
        "All settings are one parameter, --conf, with ` --conf ` between them: no value may hold a blank.", "documented"
    ),
)
_NOT_ELSEWHERE = Claim(
    "Databricks commits through a service of its own workspace and takes no lock of DynamoDB; it says itself that a "
    "table must not be written from elsewhere at the same time.",
    "documented",
)
_DATABRICKS = {
    Mechanism.LOG_STORE: (
        _NOT_ELSEWHERE,
        Claim("No setting makes it write a table of the log store safely: let it read.", "inferred"),
    ),
    Mechanism.COORDINATED_COMMITS: (
        _NOT_ELSEWHERE,
        Claim("It reads published commits alone, and refuses to write: it lacks the DynamoDB coordinator.", "inferred"),
    ),
    Mechanism.SINGLE_DRIVER: (
        _NOT_ELSEWHERE,
        Claim("It may be the only writer of a table; then nothing has to be set.", "inferred"),
    ),
}
_FLINK = {
    Mechanism.LOG_STORE: (
        Claim(
            "The sink of delta-flink up to 3.3 (Delta Standalone) takes the log store's settings in its Hadoop "
            "configuration, with delta-storage-s3-dynamodb and AWS SDK v1 beside it. Not run here.",
            "documented",
        ),
        Claim("The sink that came with 4.4 commits through Delta Kernel: nothing of it takes this lock.", "inferred"),
    ),
    Mechanism.COORDINATED_COMMITS: (
        Claim("Neither Delta Standalone nor Delta Kernel knows the coordinator: as a reader at most.", "inferred"),
    ),
    Mechanism.SINGLE_DRIVER: (Claim("Only where it is the one writer of the table.", "inferred"),),
}
_TRINO = {
    Mechanism.LOG_STORE: (
        Claim(NO_LOCK, "inferred"),
        Claim("There is no setting for the log store: use it to read, of published commits.", "inferred"),
    ),
    Mechanism.COORDINATED_COMMITS: (
        Claim(NO_COORDINATOR, "inferred"),
        Claim("Only to read, and at most as fresh as the last published commit.", "inferred"),
    ),
    Mechanism.SINGLE_DRIVER: (Claim(ALONE, "inferred"),),
}
_DELTA_RS = {
    Mechanism.LOG_STORE: (
        Claim("1.6.0 is the last release with the DynamoDB log store: pin it.", "verified"),
        Claim(
            "1.6.1 and newer ignore the locking provider and commit without an entry: never as a writer.", "verified"
        ),
        Claim("The DynamoDB table has to be there before: it is not created, and even reading fails.", "verified"),
        Claim("Spell the path as Spark does; a path that ends in a slash is stored without it.", "verified"),
    ),
    Mechanism.COORDINATED_COMMITS: (
        Claim("Not at all as a writer; as a reader it answers from published commits alone.", "verified"),
        Claim("Never vacuum, checkpoint or clean up with it: it does not look at the protocol there.", "verified"),
    ),
    Mechanism.SINGLE_DRIVER: (
        Claim("Commits by conditional put: its own writers exclude each other, and no Spark writer does.", "verified"),
    ),
}
