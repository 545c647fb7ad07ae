"""DynamoDB as TTL sees it: one attribute, one change an hour, each change under way until a test lets it be over."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import SimpleNamespace

from lake.aws.errors import AwsError

HOUR = timedelta(hours=1)


@dataclass
class TtlWorld:
    """Speaks as lake.dynamodb: `describe` and `change`; time is `now`, which the test moves."""

    now: datetime
    status: str = "ENABLED"
    attribute: str = "commitTime"
    table_status: str = "ACTIVE"
    changed_at: datetime | None = None
    takes: timedelta = timedelta(minutes=20)
    sent: list[tuple[str, bool]] = field(default_factory=list)
    refuse: AwsError | None = None
    lose_answer: bool = False

    @property
    def dynamodb(self) -> "TtlWorld":
        return self

    def __enter__(self) -> "TtlWorld":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def describe(self, name: str) -> SimpleNamespace:
        if self.changed_at and self.now - self.changed_at >= self.takes:
            self.status = {"DISABLING": "DISABLED", "ENABLING": "ENABLED"}.get(self.status, self.status)
        if not self.table_status:
            raise AwsError("ResourceNotFoundException", "no such table")
        attribute = None if self.status == "DISABLED" else self.attribute
        return SimpleNamespace(status=self.table_status, ttl_status=self.status, ttl_attribute=attribute)

    def change(self, operation: str, body: dict) -> str:
        self.describe("")
        if self.refuse:
            raise self.refuse
        change = body["TimeToLiveSpecification"]
        if self.changed_at and self.now - self.changed_at < HOUR:
            raise AwsError(
                "ValidationException", "Time to live has been modified multiple times within a fixed interval"
            )
        if change["Enabled"] == (self.status in ("ENABLED", "ENABLING")):
            raise AwsError("ValidationException", "TimeToLive is already so")
        self.sent.append((change["AttributeName"], change["Enabled"]))
        self.attribute, self.changed_at = change["AttributeName"], self.now
        self.status = "ENABLING" if change["Enabled"] else "DISABLING"
        if self.lose_answer:
            raise AwsError("ConnectionFailed", "no answer came")
        return "REQUEST"
