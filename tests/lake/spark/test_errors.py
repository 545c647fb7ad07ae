"""What Spark raises, told in one sentence."""

from lake.spark.errors import describe

REFUSED = """[DELTA_CANNOT_OVERRIDE_CONFS] During ALTER, configurations
cannot be set. SQLSTATE: 42616

JVM stacktrace:
org.apache.spark.sql.delta.DeltaIllegalArgumentException
	at org.apache.spark.sql.delta.DeltaErrors"""


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
