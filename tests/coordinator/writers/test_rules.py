"""Every rule of the doctor: a text that trips it, the corrected text, and what it says of both."""

import ast
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.writers.doctor import RULES, Examination, examine
from coordinator.writers.pasted import PasteRefused
from coordinator.writers.secrets import BESIDE, without_secrets
from coordinator.writers.session import ObservedPlace
from lake.delta.facts import Mechanism
from tests.coordinator.writers.good import LOCKED

LOG = "spark.io.delta.storage.S3DynamoDBLogStore"
LOG_STORE = "io.delta.storage.S3DynamoDBLogStore"
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
    """`wrong` trips the rule; `right` is a part of the corrected text, "" where no text can correct it."""

    rule: str
    wrong: str
    right: str
    observed: ObservedPlace | None = None


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
    Case("unknown-key", f"{IMPL}{LOG.replace('DynamoDB', 'DynamoDb')}.Region eu-west-1", f"{LOG}.ddb.region eu-west-1"),
    Case("unknown-key", f"{IMPL}{LOG}.ddb.region eu-west-1\n{LOG}.ddb.Region us-east-1", f"{IMPL}{LOG}.ddb.region eu"),
    Case("unknown-key", "spark.a 1\nspark.io.delta.storage.GCSLogStore.retries 3", "spark.a 1\n"),
    Case("unknown-key", "spark.a 1\nspark.delta.logStores.s3a.impl x.Y", "spark.a 1\n"),
    Case("unknown-key", f"spark.a 1\n{COORD}.tableName commits", "spark.a 1\n"),
    Case("unknown-key", f"{COORD.lower()}.readcapacityunits 7", f"{COORD}.readCapacityUnits 7"),
    Case("unknown-key", f"spark.hadoop.{COORD}.readCapacityUnits 7", f"{COORD}.readCapacityUnits 7"),
    Case("unknown-key", "spark.a 1\nspark.databricks.delta.managedCommits.commitOwner.uri x", "spark.a 1\n"),
    Case("unknown-key", "spark.delta.dynamodblogstore.tablename locks", f"{LOG}.ddb.tableName locks"),
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
        "job.py s3://lake/orders",
        TABLE,
    ),
    Case(
        "scheme-of-table",
        "spark-submit --conf spark.hadoop.fs.s3.impl=org.apache.hadoop.fs.s3a.S3AFileSystem "
        "x.py s3://lake/a s3a://lake/a/",
        "x.py s3a://lake/a/ s3a://lake/a/",
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
        f'.config("spark.a", "1").config("{IMPL.split()[0]}", "{IMPL.split()[1]}").getOrCreate()',
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


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_wrong_text_is_found_and_said(case: Case) -> None:
    found = next(one for one in examine(case.wrong, case.observed).findings if one.rule == case.rule)

    assert found.key
    assert all(sentence.endswith((".", '"')) for sentence in (found.wrong, found.effect))
    assert found.instead
    assert found.is_corrected is bool(case.right)


@pytest.mark.parametrize("case", [case for case in CASES if case.right], ids=lambda case: case.rule)
def test_the_corrected_text_has_no_finding(case: Case) -> None:
    found = examine(case.wrong, case.observed)

    assert case.right in f"{found.corrected}\n"
    again = examine(found.corrected, case.observed)
    assert not again.findings
    assert again.corrected == found.corrected


@pytest.mark.parametrize("case", [case for case in CASES if not case.right], ids=lambda case: case.rule)
def test_what_no_text_corrects_is_left_and_said(case: Case) -> None:
    found = examine(case.wrong, case.observed)

    assert case.rule in names(examine(found.corrected, case.observed))


@pytest.mark.parametrize(("text", "observed"), LOCKED)
def test_what_levee_itself_writes_has_no_finding(text: str, observed: ObservedPlace | None) -> None:
    found = examine(text, observed)

    assert not found.findings
    assert found.corrected == found.text == text


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
    found = examine(line)

    assert (found.findings, found.corrected) == ((), line)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (f"{IMPL.strip()[:-5]}store\n{LOG}.ddb.region us-east-1", {"dead-class"}),
        ("spark.delta.logStore.s3a.impl com.example.S3DynamoDBLogStore", {"dead-class"}),
        (IMPL.replace("S3Dyn", "FailingS3Dyn"), {"test-class"}),
        (f"{COORD.replace('dynamodb', 'ddb')}.readCapacityUnits 7", {"dead-key"}),
        (f"{DELTA_23}{IMPL}{FAST}", {"log-store-jar", "fast-listing-perhaps"}),
        (f"{FAST}spark.delta.logStore.class {LOG_STORE}", {"class-for-all-schemes", "fast-listing-perhaps"}),
        (f"{DELTA_23}{FAST}spark.delta.logStore.class x.Y", {"fast-listing-perhaps"}),
        (f"spark.a 1\n{FAST}", {"fast-listing-perhaps"}),
    ],
)
def test_one_fault_is_told_by_one_rule(text: str, rules: set[str]) -> None:
    assert names(examine(text)) == rules


def test_a_name_in_other_letters_becomes_the_one_that_is_there() -> None:
    spark = "org.apache.spark.sql.delta.storage.S3SingleDriverLogStore"
    found = examine(f"spark.delta.logStore.s3a.impl {spark.lower()}\n{COORD}.tableName commits")

    assert found.corrected == f"spark.delta.logStore.s3a.impl {spark}\n"
    assert [one.key for one in found.findings] == [f"{COORD}.tableName", "spark.delta.logStore.s3a.impl"]


def test_what_is_read_says_that_capitals_count() -> None:
    (found,) = examine(IMPL.replace("logStore", "logstore")).findings

    assert found.wrong == "No release reads spark.delta.logstore.s3a.impl: capitals and small letters are told apart."
    assert found.effect.endswith("gets S3SingleDriverLogStore, which takes no lock.")
    assert found.instead == IMPL.strip().replace(" ", " = ")


@pytest.mark.parametrize("key", ["spark.delta.logstore.s3a.impl", f"{LOG}.region", "spark.io.delta.storage.ddb.region"])
def test_a_value_known_only_at_run_time_is_kept_under_a_key_that_nothing_reads(key: str) -> None:
    found = examine(f'spark-submit --conf "{key}=$VALUE" job.py')

    assert f"{key}=$VALUE" in found.corrected
    assert next(one for one in found.findings if one.key == key).instead.endswith(", with the value of this one.")


LOCK = f'"spark.delta.logStore.s3a.impl", "{LOG_STORE}"'


@pytest.mark.parametrize(
    "text",
    [
        f"for k, v in more.items():\n    b.config(k, v)\nb.config({LOCK})",
        f"b.config({LOCK}).config(conf=more)",
        f"b.config({LOCK}).config(map=more)",
        f"b.config({LOCK}).config(map={{**more}})",
        f"SparkConf().setAll(more.items()).set({LOCK})",
        f'b.config({LOCK}).config(f"spark.{{x}}", "1")',
        f'b.config({LOCK})\nsc._jsc.hadoopConfiguration().set("fs.s3a.performance.flags", "create")',
        f'os.environ["PYSPARK_SUBMIT_ARGS"] = "--conf a=b pyspark-shell"\nb.config({LOCK})',
        f"spark-submit --conf spark.delta.logStore.s3a.impl={LOG_STORE} --properties-file x.conf job.py",
        f'spark-submit --conf spark.delta.logStore.s3a.impl={LOG_STORE} "${{MORE[@]}}" --conf spark.a=1 job.py',
    ],
)
def test_settings_that_come_from_elsewhere_are_said_to_be_not_judged(text: str) -> None:
    found = examine(text)

    assert any("not judged" in one or "not in this text" in one for one in found.not_judged)


def test_nothing_is_missing_where_a_file_of_properties_may_have_it() -> None:
    text = "spark-submit --packages io.delta:delta-spark_4.2_2.13:4.4.0 --properties-file x.conf job.py"

    assert not {"hadoop-aws-jar", "delta-in-spark"} & names(examine(text))


def test_settings_given_by_keyword_are_judged() -> None:
    text = 'b.config("spark.a", "1").config(key="spark.hadoop.fs.s3a.performance.flags", value="create")'

    assert examine(text).corrected == 'b.config("spark.a", "1")'


@pytest.mark.parametrize(
    "text",
    [
        "spark.hadoop.fs.s3a.performance.flags create\n",
        "spark-submit --conf spark.hadoop.fs.s3a.performance.flags=create job.py",
        'SparkSession.builder.config("spark.hadoop.fs.s3a.performance.flags", "create")',
        '{"spark.hadoop.fs.s3a.performance.flags": "create"}',
    ],
)
def test_a_text_of_one_wrong_setting_is_judged_though_nothing_is_left_of_it(text: str) -> None:
    found = examine(text)

    assert [(one.rule, one.is_corrected) for one in found.findings] == [("performance-flags", True)]


@pytest.mark.parametrize(
    "text",
    [
        "# \ufeff"[2:] + "spark.hadoop.fs.s3a.performance.flags create\nspark.a 1\n",
        "<property><name>fs.s3a.performance.flags</name><value>create</value></property>",
        'spark_conf = {\n  "spark.hadoop.fs.s3a.performance.flags" = "create"\n}',
        '%%configure -f\n{"conf": {"spark.hadoop.fs.s3a.performance.flags": "create"}}',
        '// a\n{"spark_conf": {"spark.hadoop.fs.s3a.performance.flags": "create"}}',
        "SET spark.hadoop.fs.s3a.performance.flags=create;",
        'new_cluster:\n  spark_conf:\n    spark.hadoop.fs.s3a.performance.flags: "create"\n',
        '{"spark.a": %s}' % ("9" * 5000),
        '{"spark.a": "1", "b": "\\ud800"}',
    ],
)
def test_a_text_in_a_syntax_that_is_not_read_is_refused_and_not_found_fine(text: str) -> None:
    with pytest.raises(PasteRefused):
        examine(text)


@pytest.mark.parametrize("value", ['"create"', "'create'", "create\\"])
def test_a_value_in_quotes_and_a_last_line_that_goes_on_are_judged(value: str) -> None:
    found = examine(f"spark.a 1\nspark.hadoop.fs.s3a.performance.flags {value}")

    assert "performance-flags" in names(found)
    assert found.corrected == "spark.a 1\n"


def test_a_value_that_a_snippet_changes_on_its_way_is_not_said_twice() -> None:
    text = (
        'b.config("spark.a", "1")\nspark.conf.set("spark.sql.shuffle.partitions", "200")\nx()\n'
        'spark.conf.set("spark.sql.shuffle.partitions", "50")\n'
    )

    assert examine(text).corrected == text


def test_values_of_two_branches_are_both_kept() -> None:
    text = 'if local:\n    b = b.config("spark.master", "local[2]")\nelse:\n    b = b.config("spark.master", "yarn")\n'

    assert examine(text).corrected == text


def test_a_class_of_another_package_is_not_taken_for_the_log_store() -> None:
    found = examine("spark.delta.logStore.s3a.impl org.apache.spark.sql.delta.storage.S3DynamoDBLogStore")

    assert "dead-class" in names(found)
    assert found.corrected == f"spark.delta.logStore.s3a.impl {LOG_STORE}"


def test_silent_takes_no_value() -> None:
    assert "performance-flags" in names(
        examine("spark-sql -S --conf spark.a=1 --conf spark.hadoop.fs.s3a.performance.flags=create")
    )


@pytest.mark.parametrize(
    "line", ['sc._jsc.hadoopConfiguration().set("fs.s3a.a", "b")', 'redis.pipeline().set("k", "v")']
)
def test_a_new_setting_goes_to_the_builder_and_to_no_other_that_has_a_method_set(line: str) -> None:
    corrected = examine(f'b.config({LOCK}).getOrCreate()\n{line}\nx("s3://lake/t")\n').corrected

    assert f"\n{line}\n" in corrected
    assert 'config("spark.delta.logStore.s3.impl"' in corrected


SECRET = "hunter2-hunter2"
SECRETS = {
    "properties": f"spark.a 1\nspark.hadoop.fs.s3a.secret.key {SECRET}\n# spark.hadoop.fs.s3a.session.token {SECRET}",
    "shell": f"AWS_SECRET_ACCESS_KEY={SECRET} spark-submit --conf spark.hadoop.fs.s3a.session.token={SECRET} "
    f"--conf spark.driver.extraJavaOptions=-Daws.secretKey={SECRET} x.py --password {SECRET} --db-password={SECRET} "
    f"jdbc:postgresql://me:{SECRET}@host/x",
    "python": f'import os\nos.environ["AWS_SECRET_ACCESS_KEY"] = "{SECRET}"\n'
    f'b = SparkSession.builder.config("spark.hadoop.fs.s3a.secret.key", "{SECRET}").config("spark.a", "1")\n'
    f"PASSWORD = '{SECRET}'\nx(token='{SECRET}')  # secret='{SECRET}'\n",
    "json": f'{{"spark_conf": {{"spark.hadoop.fs.s3a.access.key": "{SECRET}"}}, "env": {{"API_TOKEN": "{SECRET}"}}}}',
    "yaml": f"kind: SparkApplication\nspec:\n  driver:\n    env:\n      - name: DB_PASSWORD\n        value: {SECRET}\n"
    f'  sparkConf:\n    "spark.hadoop.fs.s3a.secret.key": "{SECRET}"\n',
}


@pytest.mark.parametrize("syntax", SECRETS)
def test_no_secret_comes_out_again(syntax: str) -> None:
    found = examine(SECRETS[syntax])

    assert SECRET not in repr(found)
    assert "********" in found.text
    assert found.masked


BUILT = 'b = SparkSession.builder.config("spark.a", "1").config("spark.b", "2")\n'
AWS_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize(
    "line",
    [
        f'secret_key = r"{SECRET}"',
        f'secret_key = """{SECRET}"""',
        f'secret_key: str = "{SECRET}"',
        f'user, secret_key = "me", "{SECRET}"',
        f'secret_key = "a" + "{SECRET}"',
        f'secret_key = (\n    "{SECRET}"\n)',
        f'secret_key = os.getenv("OTHER", "{SECRET}")',
        f'secret_key = os.getenv("AWS_SECRET_ACCESS_KEY") or "{SECRET}"',
        f'k = "{SECRET}"\nb.config("spark.hadoop.fs.s3a.secret.key", k)',
        f'k = "{SECRET}"\nj = f"{{k}}"\nb.config("spark.hadoop.fs.s3a.secret.key", j)',
        f'b.config("spark.hadoop.fs.s3a.secret.key", f"{SECRET}")',
        f'b.config(key="spark.hadoop.fs.s3a.secret.key", value="{SECRET}")',
        f'x = {{"user": "a", "password": f"{SECRET}"}}',
        f'x = [{{"name": "AWS_SECRET_ACCESS_KEY", "value": "{SECRET}"}}]',
        f'x = ["--user", "a", "--password", "{SECRET}"]',
        f'def connect(user="a", password="{SECRET}"): ...',
    ],
)
def test_no_form_of_python_lets_a_secret_out(line: str) -> None:
    found = examine(f"{BUILT}{line}\n")

    assert SECRET not in repr(found)
    assert len(ast.parse(found.text).body) == len(ast.parse(f"{BUILT}{line}\n").body)


def test_a_secret_asked_of_the_environment_stays_as_it_is() -> None:
    text = (
        f'{BUILT}conf = {{"region": "eu-west-1", "n": 5}}\nsecret_key = conf["secret"]\n'
        'token = os.environ["API_TOKEN"]\npassword = dbutils.secrets.get("scope", key=name)\n'
        'x_secret = os.getenv("A") if stage == "prod" else None\n'
    )

    assert 'getenv("A") if stage == "prod"' in examine(text).text
    assert '{"region": "eu-west-1", "n": 5}' in examine(text).text
    assert 'os.environ["API_TOKEN"]' in examine(text).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("spark.a 1\n", f"# spark.hadoop.fs.s3a.secret.key = {SECRET}\n"),
        ("spark.a 1\n", f"#spark.hadoop.fs.s3a.secret.key : {SECRET}\n"),
        ("spark.a 1\n", f"# the password is {SECRET}\n"),
        ("spark.a 1\n", f"spark.url redis://:{SECRET}@host/0\n"),
        ("spark.a 1\n", f"spark.url https://{SECRET}@github.com/a/b\n"),
        ("spark.a 1\n", f"spark.url mongodb://me:p@{SECRET}@host\n"),
        ("spark.a 1\n", f"spark.url jdbc:oracle:thin:scott/{SECRET}@//host:1521/x\n"),
        ("spark.a 1\n", f"spark.url jdbc:mysql://host/x?user=me&pwd={SECRET}\n"),
        ("spark.a 1\n", f"spark.url https://host/x?X-Amz-Signature={SECRET}&a=1\n"),
        ("spark.a 1\n", f"spark.url https://host/x?sv=1&sig={SECRET}\n"),
        ("spark.a 1\n", f"spark.headers Authorization: Bearer {SECRET}\n"),
        ("spark.a 1\n", f"spark.snowflake.pwd {SECRET}\nspark.db.pass {SECRET}\nspark.api.key {SECRET}\n"),
        ("spark.a 1\n", f"spark.extra {AWS_KEY}\n"),
        ("spark-submit --conf spark.a=1 ", f'job.py --db-password "{SECRET}"\n'),
        ("spark-submit --conf spark.a=1 ", f"job.py --pwd '{SECRET}'\n"),
        (f"aws configure set aws_secret_access_key {SECRET}\n", "spark-submit --conf spark.a=1 job.py\n"),
        (f"export AWS_SECRET_ACCESS_KEY=$'{SECRET}'\n", "spark-submit --conf spark.a=1 job.py\n"),
        ('{"spark.a": "1", "cmd": "', f'export X_PASSWORD=\\\\"{SECRET}\\\\""}}'.replace("\\\\", "\\")),
        ('{"spark.a": "1", "env": [', f'{{"name": "AWS_SECRET_ACCESS_KEY", "value": "{SECRET}"}}]}}'),
        ('{"spark.a": "1", "args": ["--user", "me", ', f'"--password", "{SECRET}"]}}'),
        ("kind: x\nsparkConf:\n  spark.a: 1\n", f"env:\n- {{name: DB_PASSWORD, value: {SECRET}}}\n"),
        ("kind: x\nsparkConf:\n  spark.a: 1\n", f"arguments:\n- --password\n- {SECRET}\n"),
    ],
)
def test_no_spelling_beside_the_settings_lets_a_secret_out(before: str, after: str) -> None:
    shown = repr(examine(before + after))

    assert SECRET not in shown
    assert AWS_KEY not in shown


@pytest.mark.parametrize(
    "text",
    [
        f"{LOG}.credentials.provider com.amazonaws.auth.WebIdentityTokenCredentialsProvider\nspark.b 1",
        '{"spark.k.provider": "com.amazonaws.auth.WebIdentityTokenCredentialsProvider", "spark.b": "1"}',
        "spark.hadoop.hadoop.security.credential.provider.path jceks://x/secrets.jceks",
        "spark.ssl.keyPasswordFile /run/secrets/key.path",
        "spark.a abfss://container@account.dfs.core.windows.net/x",
        "spark.a http://host:80/x?mail=me@example.org",
        "spark.a 0123456789abcdef0123456789abcdef01234567",
    ],
)
def test_what_is_about_secrets_and_none_itself_stays(text: str) -> None:
    found = examine(text)

    assert (found.text, found.masked) == (text, ())


def outcome(text: str) -> str:
    """What is said of a text: itself as read, or why it is refused."""
    try:
        return examine(text).text
    except PasteRefused as refusal:
        return str(refusal)


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "secret" * 30_000, "secret" + " " * 200_000, "spark.a " + "\\" * 200_000, "s3://" * 40_000]
)
def test_the_time_taken_grows_with_the_text_alone(text: str) -> None:
    """Each of these takes hours where a pattern begins anew at every character."""
    assert outcome(text)


PIECES = [
    *(case.wrong for case in CASES),
    *SECRETS.values(),
    "spark-submit", " \\\n", "--conf ", "--packages ", "'", '"', "\\", "{", "}", "[", "kind: x\n", "  sparkConf:\n",
    "builder.config(", ").config(", "\n", "=", ",", "s3://lake/a ", "#", "é😀",
]  # fmt: skip


def is_all_taken_out(found: Examination) -> bool:
    """Whether nothing is left to read, as every setting was one to take out."""
    try:
        examine(found.corrected)
    except PasteRefused as refused:
        return bool(found.findings) and "No setting of Spark was found" in str(refused)
    return False


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
def test_any_text_is_examined_or_refused(text: str) -> None:
    """Whatever is pasted: findings and a text that reads as settings again, or one sentence."""
    try:
        found = examine(text)
    except PasteRefused as refused:
        said = str(refused)
    else:
        said = repr(found)
        assert is_all_taken_out(found) or examine(found.corrected).syntax == found.syntax
    assert SECRET not in said


def test_secrets_beside_the_settings_are_told_too() -> None:
    text = f"{IMPL}# password = hunter2hunter2\nspark.hadoop.fs.s3a.secret.key topsecret\n"

    assert without_secrets(text)[1] == ("spark.hadoop.fs.s3a.secret.key", BESIDE)
    assert without_secrets(f"{IMPL}spark.hadoop.fs.s3a.secret.key topsecret\n")[1] == (
        "spark.hadoop.fs.s3a.secret.key",
    )
