"""Every platform that people write Delta tables from: the same settings in its syntax, and what it does and cannot do.

What is claimed of them, each sentence with its mark, stands in `platforms.toml`.
"""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
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
    texts = {
        "spark": _spark(pairs, packages),
        "kubernetes": (PlatformText("YAML", kubernetes(pairs, packages)),),
        "emr": (PlatformText("Configurations", emr(on_aws)),),
        "glue": _glue(on_aws),
        "flink": _flink(mechanism, pairs),
        "delta-rs": _delta_rs(mechanism, config),
    }
    return tuple(
        Platform(name, title, texts.get(name, ()), _claims(name, mechanism)) for name, title in _TITLES.items()
    )


_TITLES = {
    "spark": "Spark",
    "kubernetes": "Spark operator of Kubernetes",
    "emr": "Amazon EMR",
    "glue": "AWS Glue",
    "databricks": "Databricks",
    "flink": "Flink",
    "trino": "Trino and Athena",
    "delta-rs": "deltalake (delta-rs)",
}
_CLAIMS = tomllib.loads(Path(__file__).with_name("platforms.toml").read_text(encoding="utf-8"))["claims"]
_OTHER_ENGINES = {
    Mechanism.LOG_STORE: NO_LOCK,
    Mechanism.COORDINATED_COMMITS: NO_COORDINATOR,
    Mechanism.SINGLE_DRIVER: ALONE,
}


def _claims(name: str, mechanism: Mechanism) -> tuple[Claim, ...]:
    """The platform's for tables of this mechanism; of Trino first what is said of every such engine."""
    told = (Claim(_OTHER_ENGINES[mechanism], "inferred"),) if name == "trino" else ()
    own = (one for one in _CLAIMS if one["platform"] == name and one.get("mechanism", mechanism) == mechanism)
    return (*told, *(Claim(one["text"], one["mark"]) for one in own))


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
