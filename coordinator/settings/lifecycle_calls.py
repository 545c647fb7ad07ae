"""Writing a bucket's lifecycle configuration: read, compare, merge, write, read back, compare."""

from dataclasses import dataclass, field

from changes.calls import Answer, LakeCall, Permission, Result, Sending, Stop, already, bucket_arn, done
from coordinator.settings.lifecycle_merge import difference, with_rule, without_rule
from lake.aws.errors import AwsError
from lake.aws.lifecycle import Lifecycle, parse_rule, read_lifecycle, write_lifecycle

READ_BACK_LOOKS = 5
"""How often a write is looked for: S3 may give the configuration of before for some seconds."""


@dataclass(frozen=True, slots=True)
class WriteLifecycle(LakeCall):
    """Replace a bucket's lifecycle configuration by one with another rule `rule_id`, all others as they are.

    `read` is a hash of the configuration that the plan was made from: another one stops the change. `rule` is the XML
    of the rule, "" where it is removed. With `removes_all` no rule is left, and the configuration itself goes. `owner`
    is the account that must own the bucket, "" where that does not matter; no digest rests on it.
    """

    bucket: str
    rule_id: str
    rule: str
    read: str
    says: str
    removes_all: bool = False
    owner: str = field(default="", repr=False)

    @property
    def operation(self) -> str:
        return "s3:DeleteBucketLifecycle" if self.removes_all else "s3:PutBucketLifecycleConfiguration"

    @property
    def condition(self) -> str:
        return "the configuration is the one that the plan was made from; it is read again just before"

    @property
    def request(self) -> str:
        return self.rule

    @property
    def permissions(self) -> tuple[Permission, ...]:
        verbs = ("s3:GetLifecycleConfiguration", "s3:PutLifecycleConfiguration")
        return tuple(Permission(verb, bucket_arn(self.bucket)) for verb in verbs)

    def send(self, sending: Sending) -> Answer:
        """Raises Stop, and AwsError where the rules cannot be read before anything was sent."""
        before = read_lifecycle(sending.lake, self.bucket)
        if self._is_done(before):
            return already(f"The rules of {self.bucket} were so already.")
        if before.digest != self.read:
            raise Stop(
                f"The lifecycle rules of {self.bucket} have changed since the plan was made, so nothing was written: "
                "plan again.",
                "Moved",
            )
        wanted = with_rule(before, self.rule) if self.rule else without_rule(before, self.rule_id)
        sending.remember(_snapshot(before), _snapshot(wanted))
        try:
            sending.took(write_lifecycle(sending.lake, self.bucket, wanted, owner=self.owner))
        except AwsError as error:
            return self._after_error(sending, wanted, error)
        return self._read_back(sending, wanted)

    def _is_done(self, found: Lifecycle) -> bool:
        rule = next((one for one in found.rules if one.id == self.rule_id), None)
        if not self.rule:
            return rule is None
        return rule is not None and rule.tree == parse_rule(self.rule).tree

    def _after_error(self, sending: Sending, wanted: Lifecycle, error: AwsError) -> Answer:
        """An answer may be lost after the write was made: what S3 says of the rules counts."""
        sending.note(error.request_id)
        try:
            if not difference(wanted, read_lifecycle(sending.lake, self.bucket)):
                sending.took("")
                return done(f"Written and read back, though S3's answer was {error.code}.")
        except AwsError:
            sentence = f"Whether the rules of {self.bucket} were written is not known: {error}"
            return Answer(Result.FAILED, sentence, error.code)
        sentence = f"The rules of {self.bucket} were not written, and are as before: {error}"
        return Answer(Result.FAILED, sentence, error.code)

    def _read_back(self, sending: Sending, wanted: Lifecycle) -> Answer:
        other = ""
        for look in range(READ_BACK_LOOKS):
            if look:
                sending.pause()
            try:
                other = difference(wanted, read_lifecycle(sending.lake, self.bucket))
            except AwsError as error:
                other = f"they could not be read: {str(error).rstrip('.')}"
            if not other:
                others = sum(rule.id != self.rule_id for rule in wanted.rules)
                return done(f"Written and read back; {others:,} other rules are as they were.")
        sentence = (
            f"The rules of {self.bucket} were written, and read back they differ: {other}. Somebody changed them at "
            "the same moment; the rules as they were before are kept with this job."
        )
        return Answer(Result.FAILED, sentence, "ReadBack")


def _snapshot(lifecycle: Lifecycle) -> dict[str, object]:
    return {"rules": [rule.xml for rule in lifecycle.rules], "minimum_size": lifecycle.minimum_size}
