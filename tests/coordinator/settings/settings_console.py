"""Plans and applies changes against a lake on moto, as pages and commands do."""

from typing import Any

from coordinator.models import Bucket, CommitStore
from coordinator.settings import actions
from coordinator.settings.requests import ChangeRequest
from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from tests.builders.people import actor
from tests.coordinator.repairs.console import Console


class SettingsConsole(Console):
    """`planned` and `applied` run the jobs at once and return them finished."""

    def planned(self, change: ChangeRequest) -> Job:  # type: ignore[override]
        return self.run(actions.plan_change(actor(Role.OPERATOR), self.connection, change))

    def plan_of(self, change: ChangeRequest) -> dict[str, Any]:
        """The document of the plan; fails with the reason where it is refused."""
        result = self.planned(change).result
        assert result["plan"], result["refusal"]
        return dict(result["plan"])

    def refusal_of(self, change: ChangeRequest) -> dict[str, Any]:
        result = self.planned(change).result
        assert result["refusal"], result["plan"]
        return dict(result["refusal"])

    def applied(self, change: ChangeRequest, confirm: str = "") -> Job:
        planned = self.planned(change)
        assert planned.result["plan"], planned.result["refusal"]
        return self.apply(planned, confirm)

    def apply(self, planned: Job, confirm: str = "") -> Job:
        """Confirm as an operator; what can lose something as an admin who types the name."""
        plan = planned.result["plan"]
        by, typed = (Role.ADMIN, plan["subject"]) if plan["can_lose"] else (Role.OPERATOR, confirm)
        return self.run(actions.apply_change(actor(by), planned, plan["digest"], confirm=typed))

    def store(self, name: str = "") -> CommitStore:
        return CommitStore.objects.get(connection=self.connection, name=name or self.lake.log_store)

    def bucket_row(self) -> Bucket:
        return Bucket.objects.get(connection=self.connection, name=self.lake.bucket)

    def described(self, name: str = "") -> dict[str, Any]:
        return dict(self.lake.dynamodb.describe_table(TableName=name or self.lake.log_store)["Table"])

    def ttl(self, name: str = "") -> dict[str, Any]:
        said = self.lake.dynamodb.describe_time_to_live(TableName=name or self.lake.log_store)
        return dict(said["TimeToLiveDescription"])

    def with_ttl(self, attribute: str) -> str:
        """The log store, with TTL on an attribute."""
        on = {"Enabled": True, "AttributeName": attribute}
        self.lake.dynamodb.update_time_to_live(TableName=self.lake.log_store, TimeToLiveSpecification=on)
        return self.lake.log_store

    def give_rules(self, *rules: dict[str, Any]) -> None:
        given = {"Rules": list(rules)}
        self.lake.s3.put_bucket_lifecycle_configuration(Bucket=self.lake.bucket, LifecycleConfiguration=given)

    def rules(self) -> list[dict[str, Any]]:
        try:
            return list(self.lake.s3.get_bucket_lifecycle_configuration(Bucket=self.lake.bucket)["Rules"])
        except self.lake.s3.exceptions.ClientError:
            return []
