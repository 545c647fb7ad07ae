"""Settings are found in any text in which they stand, and no secret of it is ever quoted."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.coordination.pasting import cluster_conf, pyspark, spark_submit
from coordinator.writers import platforms
from coordinator.writers.doctor import examine
from coordinator.writers.pairs import MOST_BYTES, PACKAGES, PasteRefused, read_pairs
from tests.coordinator.writers.test_rules import CASES, IMPL, LOG, LOG_STORE

Pairs = list[tuple[str, str]]
DELTA = ["io.delta:delta-spark_2.13:4.0.1"]
SECRET = "hunter2-hunter2"
AWS_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


def emr(pairs: Pairs, packages: Sequence[str]) -> str:
    return platforms.emr([(PACKAGES, ",".join(packages)), *pairs])


WRITERS: dict[str, tuple[str, Callable[[Pairs, Sequence[str]], str]]] = {
    "spark-submit": ("", spark_submit),
    "PySpark": ("", pyspark),
    "spark-defaults.conf": ("", cluster_conf),
    "SparkApplication": ("kubernetes", platforms.kubernetes),
    "JSON": ("emr", emr),
}
HOSTILE = ["it's", 'a"b', "a\\b", "$HOME `id`", "é", "😀", "#x", "a=b:c", "${x}", "%s", "a,b", "\\u0041", "{}", "- x"]


@pytest.mark.parametrize("syntax", WRITERS)
def test_what_levee_writes_is_found_in_each_syntax(syntax: str) -> None:
    platform, write = WRITERS[syntax]
    pairs = [(f"spark.k{place}", value) for place, value in enumerate(HOSTILE)]

    found = read_pairs(write(pairs, DELTA))

    assert (found.syntax, found.platform, found.unread) == (syntax, platform, ())
    assert sorted((one.key, one.value) for one in found.entries) == sorted([*pairs, (PACKAGES, DELTA[0])])


SUBMIT = r"""# nightly
export LAKE=s3a://lake
AWS_REGION=eu-west-1 /opt/spark/bin/spark-submit --master yarn \
  --conf "spark.a=one two" --conf spark.b="$LAKE/x" \
  --conf=spark.c=3 -c spark.d='it'\''s' --verbose \
  --packages io.delta:delta-spark_2.13:4.0.1 job.py --conf not=spark s3://x
"""


def settings_of(text: str) -> list[tuple[str, str, bool]]:
    return [(one.key, one.value, one.is_known) for one in read_pairs(text).entries]


def test_a_command_is_read_up_to_its_application() -> None:
    assert settings_of(SUBMIT) == [
        ("spark.a", "one two", True),
        ("spark.b", "", False),
        ("spark.c", "3", True),
        ("spark.d", "it's", True),
        (PACKAGES, DELTA[0], True),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('b.config("spark.a", True).config("spark.b", 5)', [("spark.a", "true", True), ("spark.b", "5", True)]),
        ('b.config("spark.a", value)', [("spark.a", "", False)]),
        ('b.config("spark.a", f"x{y}")', [("spark.a", "", False)]),
        ('b.config(key="spark.a", value="1")', [("spark.a", "1", True)]),
        ('SparkConf().setAll([("spark.a", "1"), ("spark.b", "2")])', [("spark.a", "1", True), ("spark.b", "2", True)]),
        ('b.config(map={"spark.a": "1"})', [("spark.a", "1", True)]),
        ('{"--conf": "spark.a=1 --conf spark.b=2"}', [("spark.a", "1", True), ("spark.b", "2", True)]),
        ('{"Args": ["spark-submit", "--conf", "spark.a=1"]}', [("spark.a", "1", True)]),
        ('{"libraries": [{"maven": {"coordinates": "a:b:1"}}]}', [(PACKAGES, "a:b:1", True)]),
        ('[{"Classification": "core-site", "Properties": {"fs.s3a.a": "1"}}]', [("spark.hadoop.fs.s3a.a", "1", True)]),
        ("kind: x\nhadoopConf:\n  fs.s3a.a: 1 # one\n", [("spark.hadoop.fs.s3a.a", "1", True)]),
        ("kind: x\nsparkConf:\n  spark.a: *anchor\n", [("spark.a", "", False)]),
        ("new_cluster:\n  spark_conf:\n    spark.a: 'it''s'\n", [("spark.a", "it's", True)]),
        ('spark_conf = {\n  "spark.a" = "1"\n}', [("spark.a", "1", True)]),
        ("spark.a one \\\n  two", [("spark.a", "one two", True)]),
        ('%%configure -f\n{"conf": {"spark.a": "1"}}', [("spark.a", "1", True)]),
        ("spark-sql -S --conf spark.a=1 --conf spark.b=2", [("spark.a", "1", True), ("spark.b", "2", True)]),
    ],
)
def test_settings_are_found_in_forms_that_people_paste(text: str, found: list[tuple[str, str, bool]]) -> None:
    assert settings_of(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<property><name>fs.s3a.performance.flags</name><value>create</value></property>",
        "Dear colleague, the table is broken.",
        "\ufeffspark.a 1",
        "spark.a \x001",
        "spark.a " + "x" * MOST_BYTES,
    ],
)
def test_a_text_in_which_nothing_is_found_is_refused_and_not_found_fine(text: str) -> None:
    with pytest.raises(PasteRefused):
        examine(text)


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
    assert any("not judged" in one or "not in this text" in one for one in examine(text).not_judged)


# Secrets

QUOTED = "spark.delta.logStore.class {}\nspark.delta.logStore.class x.Y"
"""A finding quotes the first value of a key that is set twice, and the class that no lock is taken by."""
SECRETS = (
    f"spark.hadoop.fs.s3a.secret.key {SECRET}\nspark.hadoop.fs.s3a.secret.key {SECRET}x",
    f"spark-submit --conf spark.hadoop.fs.s3a.session.token={SECRET} --conf spark.hadoop.fs.s3a.session.token=b x.py",
    f'b.config("spark.hadoop.fs.s3a.access.key", "{SECRET}").config("spark.hadoop.fs.s3a.access.key", "b")',
    f'{{"spark_conf": {{"spark.hadoop.fs.s3a.secret.key": "{SECRET}", "fs.s3a.secret.key": "{SECRET}"}}}}',
    f"kind: x\nsparkConf:\n  fs.s3a.secret.key: {SECRET}\n",
    f"fs.s3a.secret.key {SECRET}",
    f"spark.io.delta.storage.ddb.password {SECRET}",
    *(
        QUOTED.format(f"io.delta.storage.S3DynamoDBLogStore{one}")
        for one in (
            f"?password={SECRET}",
            f" -Daws.secretKey={SECRET}",
            f" fs.s3a.secret.key {SECRET}",
            f" jdbc:postgresql://me:{SECRET}@host/x",
            f" https://{SECRET}@github.com/a",
            f" jdbc:oracle:thin:scott/{SECRET}@//host:1521/x",
            f"?X-Amz-Signature={SECRET}",
            f" Authorization: Bearer {SECRET}",
            f" {AWS_KEY}",
        )
    ),
    f"spark-submit --conf spark.delta.logStore.s3a.impl={LOG_STORE} job.py s3a://AKIAIOSFODNN7EXAMPLE:{SECRET}@lake/a "
    f"s3://AKIAIOSFODNN7EXAMPLE:{SECRET}@lake/a",
)


@pytest.mark.parametrize("text", SECRETS)
def test_no_finding_quotes_a_secret(text: str) -> None:
    said = repr(examine(text))

    assert SECRET not in said
    assert AWS_KEY not in said


def test_findings_do_quote_what_is_no_secret() -> None:
    assert "hunter2" in repr(examine(QUOTED.format("io.delta.storage.hunter2")))


TTL, PROVIDER = f"{LOG}.ddb.ttl", "spark.hadoop.fs.s3a.aws.credentials.provider"
OLD_HADOOP = "io.delta:delta-spark_2.12:3.2.0,org.apache.hadoop:hadoop-aws:3.3.1"
NEW_HADOOP = OLD_HADOOP.replace("3.3.1", "3.3.4")
V2, OF = "software.amazon.awssdk.auth.credentials", "CredentialsProvider"
SUBMITTED = f"{TTL}=5 --conf spark.delta.logStore.s3a.impl={LOG_STORE} orders.py"
DELTA_320, LOG_210 = "delta-spark_2.12-3.2.0.jar", "delta-storage-s3-dynamodb-2.1.0.jar"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("ttl", f'echo "Running spark-submit for orders"\nspark-submit --conf {SUBMITTED}'),
        ("ttl", f'set -euo pipefail\n"$SPARK_HOME/bin/spark-submit" --conf {SUBMITTED}'),
        ("ttl", f'aws s3 cp --quiet s3://lake/orders.py .\n"/opt/spark/bin/spark-submit" --conf {SUBMITTED}'),
        ("ttl", f"{IMPL}{TTL} == 5"),
        ("set-too-late", f'b.config({LOCK})\nspark.conf.set("spark.hadoop.fs.s3a.access.key", "{SECRET}")'),
        ("set-too-late", f'b.config({LOCK})\nspark.conf.set("spark.hadoop.fs.s3a.secret.key", "{AWS_KEY}")'),
        ("scheme-without-lock", f'b.config({LOCK})\ndf.write.save("s3://lake/env=prod/orders")'),
        ("hadoop-release", f"{IMPL}{PACKAGES} {OLD_HADOOP},software.amazon.awssdk:secretsmanager:2.25.0"),
        ("log-store-release", f"{IMPL}spark.jars https://ci:{SECRET}@n/{DELTA_320},https://ci:{SECRET}@n/{LOG_210}"),
        ("log-store-release", f"{IMPL}spark.jars s3://j/team=data/{DELTA_320},s3://j/team=data/{LOG_210}"),
        ("quotes", f'{PROVIDER} "com.amazonaws.auth.DefaultAWSCredentialsProviderChain"'),
        ("sdk-of-s3a", f"{IMPL}{PACKAGES} {NEW_HADOOP}\n{PROVIDER} {V2}.EnvironmentVariable{OF} , {V2}.Container{OF}"),
        ("set-twice", "spark.driver.extraJavaOptions -Da=b\nspark.driver.extraJavaOptions -Dc=d"),
    ],
)
def test_what_looks_like_a_command_or_a_secret_hides_no_finding(rule: str, text: str) -> None:
    found = examine(text)

    assert rule in {finding.rule for finding in found.findings}
    assert not any(secret in repr(found) for secret in (SECRET, AWS_KEY))


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "text",
    [
        *("a" * 200_000, "secret" * 30_000, "secret" + " " * 200_000, "spark.a " + "\\" * 200_000, "s3://" * 40_000),
        *("'" * 200_000, '"spark.a"' * 20_000, "--conf " * 30_000, "spark.a " * 30_000, "\n" * 200_000),
    ],
    ids=lambda text: text[:12],
)
def test_the_time_taken_grows_with_the_text_alone(text: str) -> None:
    """Each of these takes hours where a pattern begins anew at every character."""
    with suppress(PasteRefused):
        assert examine(text)


PIECES = [
    *(case.wrong for case in CASES),
    *SECRETS,
    *("spark-submit", " \\\n", "--conf ", "--packages ", "'", '"', "\\", "{", "}", "[", "kind: x\n", "  sparkConf:\n"),
    *("builder.config(", ").config(", "\n", "=", ",", "s3://lake/a ", "#", "é😀"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
def test_any_text_is_examined_or_refused(text: str) -> None:
    with suppress(PasteRefused):
        assert SECRET not in repr(examine(text))
