"""From the plan to the bucket and back: what S3 holds afterwards differs by one rule and by no other byte."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from changes.calls import Result, Sending
from changes.execution import make
from coordinator.settings.lifecycle_plans import BucketFacts, plan_lifecycle, prefix_of, temp_prefix, temp_rule_id
from coordinator.settings.requests import NotPlanned, RemoveTempRule, SetMultipartRule, SetTempRule
from lake.aws.answers import AwsResponse
from lake.aws.errors import AwsError
from lake.aws.lifecycle import MINIMUM_SIZE_HEADER, Lifecycle, read_lifecycle, split_rules
from tests.coordinator.settings.rules import configurations

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SIZE = "varies_by_storage_class"
TABLE = "a &<é😀"
CHANGES = st.sampled_from([SetTempRule("b", TABLE, 3), SetTempRule("b", TABLE, 9), SetMultipartRule("b", 7)])


@dataclass
class ByteBucket:
    """An S3 that keeps a lifecycle configuration as the bytes it was given; `lose` lets an answer get lost."""

    body: bytes = b""
    size: str = ""
    lose: bool = False
    puts: list[bytes] = field(default_factory=list)

    @property
    def s3(self) -> "ByteBucket":
        return self

    def ask(self, operation, bucket, key, *, target, method="GET", query=None, headers=None, body=b"") -> AwsResponse:
        assert query == {"lifecycle": ""}
        if method == "GET" and not self.body:
            raise AwsError("NoSuchLifecycleConfiguration", "none")
        if method == "GET":
            return AwsResponse(200, {MINIMUM_SIZE_HEADER: self.size}, self.body)
        self.puts.append(body)
        self.body, self.size = body, (headers or {}).get(MINIMUM_SIZE_HEADER, "reset")
        if self.lose:
            raise AwsError("ConnectionFailed", "no answer")
        return AwsResponse(200, {}, b"")


def applied(world: ByteBucket, change) -> Result | None:
    """Plan from what the bucket holds and make the call; None where the plan is refused."""
    facts = BucketFacts("b", "eu-west-1", read_lifecycle(world, "b"), tables={TABLE: None})
    try:
        [call] = plan_lifecycle(change, facts, NOW).calls
    except NotPlanned:
        return None
    return make(call, Sending(world)).result


def rules_of(world: ByteBucket) -> list[str]:
    return [rule.xml for rule in split_rules(world.body)] if world.body else []


@given(configurations(), CHANGES, st.booleans())
def test_all_other_rules_are_byte_for_byte_as_before(made, change, lose):
    world = ByteBucket(made[0], SIZE, lose)
    before = rules_of(world)

    result = applied(world, change)

    if result is None:
        assert world.puts == []
        return
    assert result is Result.DONE
    after = rules_of(world)
    assert (after[:-1], len(after)) == (before, len(before) + 1)
    assert prefix_of(split_rules(world.body)[-1]) == (temp_prefix(TABLE) if isinstance(change, SetTempRule) else "")
    assert world.size == SIZE


@given(configurations())
def test_added_changed_and_removed_again_leaves_the_bytes_of_before(made):
    world = ByteBucket(made[0], SIZE)
    before = rules_of(world)

    ends = [applied(world, change) for change in (SetTempRule("b", TABLE, 3), SetTempRule("b", TABLE, 9))]
    ends.append(applied(world, RemoveTempRule("b", temp_rule_id(TABLE))))

    assert ends == [Result.DONE] * 3
    assert rules_of(world) == before


@given(configurations(), configurations())
def test_a_configuration_of_somebody_else_is_never_overwritten(shown, standing):
    facts = BucketFacts("b", "eu-west-1", Lifecycle(split_rules(shown[0])), tables={TABLE: None})
    plan = plan_lifecycle(SetTempRule("b", TABLE, 3), facts, NOW)
    world = ByteBucket(standing[0])

    outcome = make(plan.calls[0], Sending(world))

    same = [rule.xml for rule in split_rules(shown[0])] == rules_of(ByteBucket(standing[0]))
    assert (outcome.result is Result.DONE) == same
    assert bool(world.puts) == same
