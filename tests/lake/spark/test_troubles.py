"""Spark's, S3A's and the executors' own words, as they are caught, and the sentence that a person reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.spark.errors import describe

CALLED = "An error occurred while calling o71.parquet.\n: "
STACK = "\n\tat org.apache.spark.x.Y(Z.scala:1)\n\t... 22 more"
WORKER = (
    "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
    '  File "/x/listing.py", line 68, in _answered\n    yield from _batches_of(\n'
)
STORE = (
    "org.apache.hadoop.fs.s3a.UnknownStoreException: `s3a://vault/r/planned': getFileStatus on s3a://vault/r/planned: "
    "software.amazon.awssdk.services.s3.model.NoSuchBucketException: The specified bucket does not exist (SDK Attempt "
    "Count: 1):NoSuchBucket: The specified bucket does not exist"
)
DENIED = (
    "java.nio.file.AccessDeniedException: s3a://vault/inventory/manifest.json: getFileStatus on "
    "s3a://vault/inventory/manifest.json: software.amazon.awssdk.services.s3.model.S3Exception: null (Service: S3, "
    "Status Code: 403, Request ID: X)"
)
MEMORY = "\nCaused by: java.lang.OutOfMemoryError: Java heap space"
CUT_OFF = "\nCaused by: java.io.EOFException: Unexpected end of input stream"
REFUSED = """[DELTA_CANNOT_OVERRIDE_CONFS] During ALTER, configurations
cannot be set. SQLSTATE: 42616

JVM stacktrace:
org.apache.spark.sql.delta.DeltaIllegalArgumentException
	at org.apache.spark.sql.delta.DeltaErrors"""
READ = "org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file "


def aws(code: str, more: str = "") -> str:
    said = f"lake.aws.errors.AwsError: s3:ListObjectsV2 on s3://vault/a failed: It said no ({code}, request Q){more}."
    return f"{WORKER}{said}\n\nJVM stacktrace:\norg.apache.spark.x{STACK}"


@pytest.mark.parametrize(
    ("raw", "condition", "words"),
    [
        (CALLED + STORE + STACK, "NO_SUCH_BUCKET", "The bucket vault does not exist: create it"),
        (CALLED + DENIED + STACK, "ACCESS_DENIED", "S3 denies access to s3://vault/inventory/manifest.json: grant"),
        (
            aws("AccessDenied", "; the permission s3:ListBucket is missing"),
            "AccessDenied",
            "failed: It said no (AccessDenied, request Q); the permission s3:ListBucket is missing.",
        ),
        (aws("SlowDown"), "SlowDown", "s3:ListObjectsV2 on s3://vault/a failed: It said no"),
        (
            "[PATH_NOT_FOUND] Path does not exist: s3a://vault/a b/manifest.json. SQLSTATE: 42K03",
            "FILE_MISSING",
            "s3://vault/a b/manifest.json is not there: restore it",
        ),
        (
            f"{CALLED}java.io.FileNotFoundException: No such file or directory: s3a://vault/a/b.csv{STACK}",
            "FILE_MISSING",
            "s3://vault/a/b.csv is not there",
        ),
        (
            f"{CALLED}{READ}s3a://vault/data/0.csv.gz.  SQLSTATE: KD001{STACK}{CUT_OFF}",
            "FILE_UNREADABLE",
            "s3://vault/data/0.csv.gz cannot be read",
        ),
        (
            f"{CALLED}{READ}s3a://vault/x.{STACK}\nCaused by: java.io.IOException: No space left on device{STACK}",
            "DISK_FULL",
            "no space left: free some below LEVEE_HOME",
        ),
        (
            f"{WORKER}OSError: [Errno 28] No space left on device: '/tmp/x'",
            "DISK_FULL",
            "no space left",
        ),
        (
            f"{CALLED}org.apache.spark.SparkException: Job aborted{STACK}{MEMORY}",
            "OUT_OF_MEMORY",
            "Spark ran out of memory: let it run on",
        ),
        (
            f"{CALLED}{DENIED.replace('null (', 'Expired (ExpiredToken) (')}{STACK}",
            "CREDENTIALS_REFUSED",
            "renew the credentials of the connection",
        ),
    ],
)
def test_a_trouble_is_told_with_what_where_and_what_to_do(raw: str, condition: str, words: str) -> None:
    told = describe(RuntimeError(raw))
    assert told.condition == condition
    assert words in told.sentence
    assert "\n" not in told.sentence
    assert "\tat " not in told.sentence


def test_what_python_raised_in_an_executor_is_told_without_its_trace() -> None:
    told = describe(RuntimeError(f"{WORKER}ValueError: too many\n\nJVM stacktrace:\nx"))
    assert (told.type, told.sentence) == ("ValueError", "too many")


@given(
    st.text(max_size=200), st.sampled_from([WORKER, CALLED, READ, "[PATH_NOT_FOUND] ", "AccessDeniedException: s3a://"])
)
def test_no_text_breaks_the_report(text: str, before: str) -> None:
    assert describe(RuntimeError(before + text)).sentence


def test_a_condition_and_a_plan_become_one_sentence() -> None:
    told = describe(RuntimeError(REFUSED))
    assert told.condition == "DELTA_CANNOT_OVERRIDE_CONFS"
    assert told.sentence == "During ALTER, configurations cannot be set."


def test_the_first_cause_is_told_with_what_it_led_to() -> None:
    trace = "java.io.IOException: no table\n\tat x.Y\nCaused by: java.net.ConnectException: refused\n\tat x.Z"
    assert describe(RuntimeError(trace)).sentence.endswith("(refused).")


def test_what_the_aws_sdk_adds_is_left_out() -> None:
    said = "com.amazonaws.x.ThrottledException: Too much. (Service: AmazonDynamoDBv2; Request ID: null; Proxy: null)"
    told = describe(RuntimeError(said))
    assert (told.type, told.sentence) == ("ThrottledException", "Too much.")


def test_a_missing_item_is_named_instead_of_the_null_that_delta_trips_over() -> None:
    trips = 'java.lang.NullPointerException: Cannot invoke "java.util.Map.get(Object)" because "<local6>" is null'
    told = describe(RuntimeError(f"org.x.CommitCoordinatorGetCommitsFailedException: {trips}\n\tat x.Y"))
    assert told.sentence == "The commit coordinator's DynamoDB table holds no item of this table."
