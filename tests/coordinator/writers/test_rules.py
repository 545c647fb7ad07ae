"""Every rule of the doctor: a text that trips it, and the lines to write, with which it finds nothing more."""

from dataclasses import dataclass

import pytest

from coordinator.writers.doctor import RULES, Examination, examine
from coordinator.writers.pairs import read_pairs
from coordinator.writers.session import NOTHING_OBSERVED, ObservedPlace
from lake.delta.facts import Mechanism
from tests.coordinator.writers.good import LOCKED

LOG = "spark.io.delta.storage.S3DynamoDBLogStore"
LOG_STORE = "io.delta.storage.S3DynamoDBLogStore"
SINGLE = "io.delta.storage.S3SingleDriverLogStore"
COORD = "spark.databricks.delta.coordinatedCommits.commitCoordinator.dynamodb"
DEFAULT = "spark.databricks.delta.properties.defaults"
IMPL = "spark.delta.logStore.s3a.impl io.delta.storage.S3DynamoDBLogStore\n"
DELTA = (
    "spark.sql.extensions io.delta.sql.DeltaSparkSessionExtension\n"
    "spark.sql.catalog.spark_catalog org.apache.spark.sql.delta.catalog.DeltaCatalog\n"
)
TABLE = ObservedPlace(
    uri="s3://lake/orders", mechanism=Mechanism.LOG_STORE, region="eu-west-1", bucket_region="eu-central-1",
    log_store="locks",
)  # fmt: skip
CONF = '{"dynamoDBTableName":"commits","dynamoDBEndpoint":"https://dynamodb.eu-west-1.amazonaws.com"}'
COORDINATED = ObservedPlace(mechanism=Mechanism.COORDINATED_COMMITS, region="eu-west-1", coordinator="commits")


def jars(*names: str) -> str:
    return f"spark.jars.packages {','.join(names)}\n{DELTA}"


FAST = "spark.hadoop.delta.enableFastS3AListFrom true\n"
DELTA_23 = jars("io.delta:delta-core_2.12:2.3.0", "org.apache.hadoop:hadoop-aws:3.3.2")
DELTA_40, AWS_341 = "io.delta:delta-spark_2.13:4.0.1", "org.apache.hadoop:hadoop-aws:3.4.1"
LOG_40, V1 = "io.delta:delta-storage-s3-dynamodb:4.0.1", "com.amazonaws:aws-java-sdk-bundle:1.12.262"


@dataclass(frozen=True)
class Case:
    """`wrong` trips the rule; `right` is a part of its settings with the lines written, "" where none mends it."""

    rule: str
    wrong: str
    right: str
    observed: ObservedPlace = NOTHING_OBSERVED


CASES = (
    Case("dead-key", "spark.delta.DynamoDBLogStore.tableName locks", f"{LOG}.ddb.tableName locks"),
    Case("dead-key", "spark.io.delta.storage.ddb.region eu-west-1", f"{LOG}.ddb.region eu-west-1"),
    Case("dead-key", f"{COORD.replace('dynamodb', 'ddb')}.awsCredentialsProviderName x.Y", f"{COORD}.awsCredent"),
    Case(
        "dead-key",
        "spark.databricks.delta.managedCommits.commitOwner.ddb.readCapacityUnits 7",
        f"{COORD}.readCapacityUnits 7",
    ),
    Case(
        "dead-key",
        f"{DEFAULT}.managedCommits.commitOwner-preview dynamodb\n{DEFAULT}.managedCommits.commitOwnerConf-dev {CONF}",
        f"{DEFAULT}.coordinatedCommits.commitCoordinatorConf-preview {CONF}",
    ),
    Case("unknown-key", f"{IMPL}{LOG}.region eu-west-1", f"{LOG}.ddb.region eu-west-1"),
    Case("unknown-key", f"{COORD}.skipPathCheck.enabled false", f"{COORD}.skipPathCheckEnabled false"),
    Case("unknown-key", IMPL.replace("logStore", "logstore"), IMPL),
    Case("unknown-key", f"spark.a 1\nSpark.Delta.LogStore.S3A.impl {LOG_STORE}", f"spark.a 1\n{IMPL}"),
    Case("unknown-key", f"{IMPL}spark.hadoop.{LOG.lower()}.ddb.tablename locks", f"{LOG}.ddb.tableName locks"),
    Case("unknown-key", f"{IMPL}{LOG}.ddb.region eu-west-1\n{LOG}.ddb.Region us-east-1", f"{IMPL}{LOG}.ddb.region eu"),
    Case("unknown-key", "spark.a 1\nspark.io.delta.storage.GCSLogStore.retries 3", "spark.a 1\n"),
    Case("unknown-key", "spark.a 1\nspark.delta.logStores.s3a.impl x.Y", "spark.a 1\n"),
    Case("unknown-key", f"spark.a 1\n{COORD}.tableName commits", "spark.a 1\n"),
    Case("unknown-key", f"spark.hadoop.{COORD}.readCapacityUnits 7", f"{COORD}.readCapacityUnits 7"),
    Case("unknown-key", "spark.a 1\nspark.databricks.delta.managedCommits.commitOwner.uri x", "spark.a 1\n"),
    Case("dead-key", f"spark.a 1\n{DEFAULT}.managedCommits.tableConf-dev {{}}", "spark.a 1\n"),
    Case("key-without-spark", f"{IMPL}{LOG[6:]}.ddb.region eu-west-1", f"{LOG}.ddb.region eu-west-1"),
    Case("key-without-spark", "fs.s3a.endpoint.region eu-west-1", "spark.hadoop.fs.s3a.endpoint.region eu-west-1"),
    Case("log-store-in-hadoop", f"spark.hadoop.{IMPL[6:]}", IMPL),
    Case(
        "half-a-coordinator",
        f"{DEFAULT}.coordinatedCommits.commitCoordinatorConf-preview {CONF}",
        f"{DEFAULT}.coordinatedCommits.commitCoordinator-preview dynamodb",
    ),
    Case(
        "half-a-coordinator", f"spark.a 1\n{DEFAULT}.coordinatedCommits.commitCoordinator-preview dynamodb", "spark.a 1"
    ),
    Case("table-conf-by-hand", f"spark.a 1\n{DEFAULT}.coordinatedCommits.tableConf-preview {{}}", "spark.a 1\n"),
    Case("dead-class", "spark.delta.logStore.s3a.impl io.delta.storage.DynamoDBLogStore", IMPL),
    Case("dead-class", f"{IMPL.replace('DynamoDB', 'dynamodb')}{LOG}.ddb.region us-east-1", IMPL),
    Case(
        "dead-class",
        "spark.delta.logStore.gs.impl org.apache.spark.sql.delta.storage.GCSLogStore",
        "spark.delta.logStore.gs.impl io.delta.storage.GCSLogStore",
    ),
    Case("dead-class", "spark.delta.logStore.gs.impl io.delta.storage.GoogleLogStore", ""),
    Case("test-class", IMPL.replace("S3Dyn", "FailingS3Dyn"), IMPL),
    Case("class-without-lock", IMPL.replace("S3DynamoDB", "S3SingleDriver") + f"{LOG}.ddb.region us-east-1", IMPL),
    Case("class-without-lock", f"spark.delta.logStore.class {SINGLE}\n{LOG}.ddb.tableName locks", IMPL),
    Case("class-without-lock", f"delta.logStore.class {SINGLE}\n{LOG}.ddb.tableName locks", IMPL),
    Case(
        "class-and-scheme",
        f"spark.delta.logStore.class {SINGLE}\nspark.delta.logStore.s3.impl {SINGLE}\n{LOG}.ddb.tableName locks",
        IMPL,
    ),
    Case("class-and-scheme", f"spark.delta.logStore.class io.delta.storage.S3DynamoDBLogStore\n{IMPL}", IMPL),
    Case("class-for-all-schemes", "spark.delta.logStore.class io.delta.storage.S3DynamoDBLogStore", IMPL),
    Case(
        "sdk-of-dynamodb",
        f"{IMPL}{LOG}.credentials.provider software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider",
        f"{LOG}.credentials.provider com.amazonaws.auth.DefaultAWSCredentialsProviderChain",
    ),
    Case(
        "sdk-of-dynamodb",
        jars(DELTA_40, AWS_341, V1)
        + f"{COORD}.awsCredentialsProviderName org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        f"{COORD}.awsCredentialsProviderName com.amazonaws.auth.DefaultAWSCredentialsProviderChain",
    ),
    Case(
        "sdk-of-s3a",
        jars(DELTA_40, AWS_341)
        + "spark.hadoop.fs.s3a.aws.credentials.provider com.amazonaws.auth.profile.ProfileCredentialsProvider",
        "software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider",
    ),
    Case(
        "sdk-of-s3a",
        jars("io.delta:delta-spark_2.12:3.3.2", "org.apache.hadoop:hadoop-aws:3.3.4")
        + "spark.hadoop.fs.s3a.aws.credentials.provider "
        "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider",
        "com.amazonaws.auth.EnvironmentVariableCredentialsProvider",
    ),
    Case("s3-without-file-system", "spark.sql.warehouse.dir s3://lake/w", "spark.hadoop.fs.s3.impl org.apache"),
    Case("emrfs", "spark.hadoop.fs.s3.impl com.amazon.ws.emr.hadoop.fs.EmrFileSystem", "fs.s3a.S3AFileSystem"),
    Case("scheme-without-lock", IMPL.replace("s3a", "s3"), IMPL),
    Case(
        "scheme-without-lock",
        f"{IMPL}spark.hadoop.fs.s3.impl org.apache.hadoop.fs.s3a.S3AFileSystem",
        "spark.delta.logStore.s3.impl io.delta",
    ),
    Case(
        "scheme-of-table",
        f"spark-submit --conf {IMPL.strip().replace(' ', '=')} job.py s3a://lake/orders",
        "",
        TABLE,
    ),
    Case(
        "scheme-of-table",
        "spark-submit --conf spark.hadoop.fs.s3.impl=org.apache.hadoop.fs.s3a.S3AFileSystem "
        "x.py s3://lake/a s3a://lake/a/",
        "",
    ),
    Case("region", f"{IMPL}{LOG}.ddb.region us-west-2", f"{LOG}.ddb.region eu-west-1", TABLE),
    Case("region", f"{IMPL}{LOG}.ddb.tableName locks", f"{LOG}.ddb.region eu-west-1", TABLE),
    Case("region", f"{IMPL}{LOG}.ddb.region eu-west-1a", f"{LOG}.ddb.region eu-west-1\n"),
    Case("region", f"{IMPL}spark.hadoop.fs.s3a.endpoint.region eu-west-1", ""),
    Case("bucket-region", "spark.hadoop.fs.s3a.endpoint.region us-east-1", "region eu-central-1", TABLE),
    Case("store-name", f"{IMPL}{LOG}.ddb.tableName other", f"{LOG}.ddb.tableName locks", TABLE),
    Case("store-name", IMPL, f"{LOG}.ddb.tableName locks", TABLE),
    Case("mechanism", "spark.a 1", "spark.delta.logStore.s3.impl", TABLE),
    Case("mechanism", IMPL, "", ObservedPlace(mechanism=Mechanism.SINGLE_DRIVER)),
    Case(
        "coordinator-conf",
        f"{DEFAULT}.coordinatedCommits.commitCoordinator-preview dynamodb\n"
        f"{DEFAULT}.coordinatedCommits.commitCoordinatorConf-preview {CONF.replace('eu-west-1', 'us-east-1')}",
        f"commitCoordinatorConf-preview {CONF}",
        COORDINATED,
    ),
    Case(
        "coordinator-conf",
        f"{DEFAULT}.coordinatedCommits.commitCoordinator-preview dynamodb\n"
        f"{DEFAULT}.coordinatedCommits.commitCoordinatorConf-preview {{}}",
        "",
    ),
    Case("databricks", f'{{"spark_conf": {{"{LOG}.ddb.region": "us-east-1"}}}}', ""),
    Case("performance-flags", "spark.hadoop.fs.s3a.performance.flags create, mkdir", "flags mkdir"),
    Case("performance-flags", "spark.hadoop.fs.s3a.bucket.lake.performance.flags *", "flags delete,mkdir,open"),
    Case("create-performance", "spark.a 1\nspark.hadoop.fs.s3a.create.performance true", "spark.a 1\n"),
    Case("ttl", f"{IMPL}{LOG}.ddb.ttl -1", f"{LOG}.ddb.ttl 86400"),
    Case("ttl", f"{IMPL}{LOG}.ddb.ttl 0", f"{LOG}.ddb.ttl 86400"),
    Case("ttl", f"{IMPL}{LOG}.ddb.ttl 1d", f"{LOG}.ddb.ttl 86400"),
    Case("ttl", f"{IMPL}{LOG}.ddb.ttl 60", f"{LOG}.ddb.ttl 86400"),
    Case("capacity", f"{IMPL}{LOG}.provisionedThroughput.rcu 0", IMPL),
    Case("capacity", f"spark.a 1\n{COORD}.writeCapacityUnits many", "spark.a 1\n"),
    Case("skip-path-check", f"spark.a 1\n{COORD}.skipPathCheckEnabled true", "spark.a 1\n"),
    Case("strict-mode", "spark.databricks.delta.v2.enableMode STRICT", "enableMode AUTO", COORDINATED),
    Case(
        "two-spellings",
        f"{IMPL}{LOG}.ddb.region eu-west-1\nspark.hadoop.{LOG[6:]}.ddb.region us-east-1",
        f"{LOG}.ddb.region eu-west-1",
    ),
    Case(
        "set-too-late",
        f'spark = SparkSession.builder.config("spark.a", "1").getOrCreate()\n'
        f'spark.conf.set("{IMPL.split()[0]}", "{IMPL.split()[1]}")\n',
        IMPL,
    ),
    Case("set-too-late", f'spark.conf.set("{IMPL.split()[0]}", "{IMPL.split()[1]}")\n', ""),
    Case("fast-listing", f"{DELTA_23}{FAST}", DELTA_23),
    Case(
        "fast-listing", f"{DELTA_23}{FAST}spark.delta.logStore.class io.delta.storage.S3SingleDriverLogStore", DELTA_23
    ),
    Case("fast-listing-perhaps", f"spark.a 1\n{FAST}", "spark.a 1\n"),
    Case(
        "fast-listing-perhaps",
        f"{DELTA_23.replace(' io', ' io.delta:delta-storage-s3-dynamodb:2.3.0,io', 1)}{IMPL}{FAST}",
        IMPL,
    ),
    Case("quotes", "spark.a 1\nspark.sql.extensions 'a.B'", "spark.a 1\nspark.sql.extensions a.B"),
    Case("set-twice", "spark.a 1\nspark.a 2", "spark.a 2\n"),
    Case("coordinates", jars("io.delta:delta-spark_2.13:3,".rstrip(",") + ":x", DELTA_40, AWS_341), DELTA_40),
    Case("delta-jar", jars(AWS_341), "io.delta:delta-spark_2.13:4.0.1"),
    Case("log-store-jar", IMPL + jars(DELTA_40, AWS_341, V1), LOG_40),
    Case("hadoop-aws-jar", jars(DELTA_40), AWS_341),
    Case("sdk-v1-jar", IMPL + jars(DELTA_40, AWS_341, LOG_40), V1),
    Case("hadoop-release", jars(DELTA_40, "org.apache.hadoop:hadoop-aws:3.3.4"), AWS_341),
    Case("log-store-release", IMPL + jars(DELTA_40, AWS_341, V1, LOG_40.replace("4.0.1", "3.2.0")), LOG_40),
    Case("old-log-store", IMPL + jars("io.delta:delta-core_2.12:2.1.0", "org.apache.hadoop:hadoop-aws:3.3.1"), ""),
    Case("delta-in-spark", jars(DELTA_40, AWS_341).replace(DELTA, "spark.sql.extensions x.Y"), "x.Y,io.delta.sql"),
)
IDS = [f"{case.rule}-{at}" for at, case in enumerate(CASES)]


def names(examination: Examination) -> set[str]:
    return {finding.rule for finding in examination.findings}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_a_text_that_trips_it(rule) -> None:
    assert any(case.rule == rule.name for case in CASES)
    assert rule.source


def written(text: str, found: Examination) -> str:
    """The settings of a text as lines, with those of the findings written."""
    settings = {entry.key: entry.value for entry in read_pairs(text).entries}
    for line in (line for one in found.findings for line in one.lines):
        key, is_set, value = line.partition("=")
        if is_set:
            settings[key] = value
        else:
            settings.pop(line.removeprefix("remove "), None)
    return "".join(f"{key} {value}\n" for key, value in settings.items())


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_wrong_text_is_found_and_said(case: Case) -> None:
    found = next(one for one in examine(case.wrong, case.observed).findings if one.rule == case.rule)

    assert found.key
    assert all(sentence.endswith((".", '"')) for sentence in (found.wrong, found.effect))
    assert found.instead
    assert bool(found.lines) or not case.right


@pytest.mark.parametrize("case", [case for case in CASES if case.right], ids=lambda case: case.rule)
def test_with_the_lines_written_nothing_is_found(case: Case) -> None:
    found = examine(case.wrong, case.observed)
    text = written(case.wrong, found)
    lines = [line for one in found.findings for line in one.lines]

    assert case.right in text
    assert not {f"remove {line.partition('=')[0]}" for line in lines} & {*lines}
    assert not examine(f"{text}spark.other 1\n", case.observed).findings


@pytest.mark.parametrize(("text", "observed"), LOCKED)
def test_what_levee_itself_writes_has_no_finding(text: str, observed: ObservedPlace) -> None:
    assert not examine(text, observed).findings


def test_findings_come_worst_first() -> None:
    text = "spark.delta.logStore.class io.delta.storage.DynamoDBLogStore\nspark.hadoop.fs.s3a.performance.flags create"
    severities = [one.severity for one in examine(text).findings]

    assert severities == sorted(severities, key=["critical", "warning", "info"].index)
    assert set(severities) == {"critical", "warning", "info"}


def test_what_is_known_only_at_run_time_is_not_judged_and_said() -> None:
    text = f'spark-submit --conf "{IMPL.strip().replace(" ", "=")}" --conf "{LOG}.ddb.region=$REGION" x.py'

    found = examine(text, TABLE)

    assert "region" not in names(found)
    assert any("ddb.region" in sentence for sentence in found.not_judged)
    assert any("No jar is named" in sentence for sentence in found.not_judged)


@pytest.mark.parametrize("platform", ["databricks", "emr"])
def test_jars_of_a_platform_are_not_judged(platform: str) -> None:
    text = '{"spark_conf": {"spark.jars.packages": "a:b:1"}}'
    if platform == "emr":
        text = '[{"Classification": "spark-defaults", "Properties": {"spark.jars.packages": "a:b:1"}}]'

    found = examine(text)

    assert not found.findings
    assert any("brings jars of its own" in sentence for sentence in found.not_judged)


def test_the_wheels_helper_brings_delta_itself() -> None:
    text = f'configure_spark_with_delta_pip(SparkSession.builder.config("spark.a", "1"), extra_packages=["{AWS_341}"])'

    assert "delta-jar" not in names(examine(text))


@pytest.mark.parametrize("release", ["delta-core_2.12:2.1.1", "delta-spark_2.13:4.5.0"])
def test_fast_listing_is_no_finding_where_the_release_does_not_list_so(release: str) -> None:
    for text in (FAST, f"{IMPL}{FAST}"):
        found = names(examine(f"{jars(f'io.delta:{release}')}{text}"))
        assert not {"fast-listing", "fast-listing-perhaps"} & found


def test_fast_listing_counts_in_every_form_that_reaches_hadoop() -> None:
    line = f'b.config("delta.enableFastS3AListFrom", "True").config("spark.jars.packages", "{DELTA_40}")'

    assert "fast-listing" in names(examine(line))
    assert not examine(f"spark.a 1\n{FAST.removeprefix('spark.hadoop.')}").findings
    assert not examine(FAST.replace("true", "false")).findings


@pytest.mark.parametrize(
    "line",
    [
        "spark.databricks.delta.vacuum.parallelDelete.enabled true",
        "spark.databricks.delta.coordinatedCommits.getCommits.threadPoolSize 5",
        "spark.databricks.delta.properties.defaults.logRetentionDuration interval 30 days",
        "spark.delta.sharing.network.timeout 320s",
        "spark.hadoop.io.delta.kernel.logStore.s3a.impl x.Y",
        "spark.hadoop.io.file.buffer.size 65536",
        "spark.SQL.Extensions x.Y",
        "spark.delta.logStore.abfss.impl org.apache.spark.sql.delta.storage.AzureLogStore",
        "spark.delta.logStore.gs.impl com.example.OwnLogStore",
    ],
)
def test_keys_and_classes_that_are_read_or_not_of_commits_are_left_alone(line: str) -> None:
    assert not examine(line).findings


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (f"{IMPL.strip()[:-5]}store\n{LOG}.ddb.region us-east-1", {"dead-class"}),
        ("spark.delta.logStore.s3a.impl com.example.S3DynamoDBLogStore", {"dead-class"}),
        (f"{COORD.replace('dynamodb', 'ddb')}.readCapacityUnits 7", {"dead-key"}),
        (f"{DELTA_23}{IMPL}{FAST}", {"log-store-jar", "fast-listing-perhaps"}),
        (f"{FAST}spark.delta.logStore.class {LOG_STORE}", {"class-for-all-schemes", "fast-listing-perhaps"}),
        (f"{DELTA_23}{FAST}spark.delta.logStore.class x.Y", {"fast-listing-perhaps"}),
    ],
)
def test_one_fault_is_told_by_one_rule(text: str, rules: set[str]) -> None:
    assert names(examine(text)) == rules


@pytest.mark.parametrize("key", ["spark.delta.logstore.s3a.impl", f"{LOG}.region", "spark.io.delta.storage.ddb.region"])
def test_a_value_known_only_at_run_time_is_kept_under_a_key_that_nothing_reads(key: str) -> None:
    found = examine(f'spark-submit --conf "{key}=$VALUE" job.py')

    one = next(one for one in found.findings if one.key == key)
    assert (one.instead.endswith(", with the value of this one."), one.lines) == (True, ())


def test_nothing_is_missing_where_a_file_of_properties_may_have_it() -> None:
    text = "spark-submit --packages io.delta:delta-spark_4.2_2.13:4.4.0 --properties-file x.conf job.py"

    assert not {"hadoop-aws-jar", "delta-in-spark"} & names(examine(text))
