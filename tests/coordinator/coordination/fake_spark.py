"""A Spark that writes by hand what Delta would, step by step, and can be stopped at each."""

from collections.abc import Callable
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from coordinator.coordination.features import COORDINATED
from dashboard.jobs.context import JobCancelled
from lake.spark.jobs import (
    create_table,
    drop_coordinated_commits,
    enable_coordinated_commits,
    rehearse,
    remove_leftover_feature,
)
from lake.spark.messages import SparkError, SparkJob, SparkOutcome, SparkProgress, SparkStep
from tests.builders.delta import (
    EPOCH_MS,
    commit_bytes,
    commit_info,
    coordinator_properties,
    metadata,
    protocol,
    registration_item,
)
from tests.builders.moto_lake import MotoLake

START = "Start Spark"
SAID = "WARN Utils: a line of Spark's own log"
CONVERT = "Make the conversion commit"
FEATURES = (COORDINATED, "inCommitTimestamp", "vacuumProtocolCheck")

Effect = Callable[[dict[str, Any]], None]


def table_id(uri: str) -> str:
    """The id under which a table is registered, the same each time."""
    return str(uuid5(NAMESPACE_URL, uri))


class FakeSpark:
    """In place of the warm worker. `at` maps a step's name to what happens before its effect."""

    def __init__(self, lake: MotoLake) -> None:
        self.lake = lake
        self.asked: list[SparkJob] = []
        self.log_stores: list[str] = []
        self.at: dict[str, Callable[[], None]] = {}
        self.before: dict[str, Any] = {}

    def borrow(self, connection: Any, lake: Any, log_store: str = "", bucket_region: str = "") -> "FakeSpark":
        self.log_stores.append(log_store)
        return self

    def run(
        self,
        job: SparkJob,
        on_progress: Callable[[SparkProgress], None] = lambda _: None,
        *,
        check: Callable[[], None] = lambda: None,
    ) -> SparkOutcome:
        self.asked.append(job)
        params = dict(job.params)
        on_progress(SparkProgress(START, log=(SAID,)))
        try:
            for name, effect in [(START, lambda _: None), *self._steps(job.kind, params)]:
                on_progress(SparkProgress(name))
                self.at.get(name, lambda: None)()
                check()
                effect(params)
        except SparkEnds as end:
            return SparkOutcome(end.state, end.began, {}, end.error, (), 1.0)
        result = {"commits": params.get("commits", []), **params.get("told", {})}
        return SparkOutcome("done", True, result, None, (SparkStep(START, 0.5),), 1.0)

    def _steps(self, kind: str, params: dict[str, Any]) -> list[tuple[str, Effect]]:
        first = (drop_coordinated_commits.FIRST, self._leave)
        return {
            enable_coordinated_commits.KIND: [("Register", self._register), (CONVERT, self._convert)],
            create_table.KIND: [("Register", self._register), ("Create the table", self._convert)],
            drop_coordinated_commits.KIND: [
                *([] if params.get("finishing") else [first]),
                (drop_coordinated_commits.SECOND, self._remove_feature),
            ],
            remove_leftover_feature.KIND: [("Remove", self._remove_leftover)],
            rehearse.KIND: self._rehearsing(params) if kind == rehearse.KIND else [],
        }.get(kind, [("Append no rows", self._append)])

    def _rehearsing(self, params: dict[str, Any]) -> list[tuple[str, Effect]]:
        """Each job of it on the copy, which is begun by a commit as a clone makes it."""
        copy = {"table": params["scratch"], "store": self.coordinator, "endpoint": ""}
        told: dict[str, Any] = {"commits": [], "refused": [], "before": {}, "after": {}}

        def on_copy(one: Effect) -> Effect:
            return lambda _: one(copy)

        def clone(_: dict[str, Any]) -> None:
            features = FEATURES if params["prepare"] else ()
            self._commit(copy, metadata(), _protocol(features) if features else protocol())

        def tell(_: dict[str, Any]) -> None:
            kept = () if params["acts"][0]["kind"] == drop_coordinated_commits.KIND else (COORDINATED,)
            told["commits"] = [{"operation": "WRITE", **one} for one in copy["commits"]]
            told["after"] = {"reader": 3, "writer": 7, "features": sorted({*FEATURES[1:], *kept})}
            told["before"] = self.before or {"reader": 1, "writer": 2, "features": []}
            params["told"] = told

        jobs = [*params["prepare"], *params["acts"]]
        steps = [step for one in jobs for step in self._steps(one["kind"], dict(one["params"]))]
        return [(rehearse.CLONE, clone), *((name, on_copy(effect)) for name, effect in steps), ("Tell", tell)]

    def _register(self, params: dict[str, Any]) -> None:
        item = registration_item(
            self._newest(params) + 1,
            tableId={"S": table_id(params["table"])},
            path={"S": params["table"]},
            hasAcceptedCommits={"BOOL": False},
            tableTimestamp=None,
        )
        self.lake.dynamodb.put_item(TableName=params["store"], Item=item)

    def _convert(self, params: dict[str, Any]) -> None:
        properties = coordinator_properties(params["store"], params["endpoint"], table_id(params["table"]))
        properties |= {"delta.enableInCommitTimestamps": "true"}
        self._commit(params, metadata(properties=properties), _protocol(FEATURES))

    def _leave(self, params: dict[str, Any]) -> None:
        version = self._commit(params, metadata(properties={"delta.enableInCommitTimestamps": "true"}))
        for item in self._items(params["table"]):
            if item["acceptingCommits"]["BOOL"]:
                item |= {"acceptingCommits": {"BOOL": False}, "tableVersion": {"N": str(version)}}
                item |= {"hasAcceptedCommits": {"BOOL": True}}
                self.lake.dynamodb.put_item(TableName=self.coordinator, Item=item)

    def _remove_feature(self, params: dict[str, Any]) -> None:
        self._commit(params, _protocol(FEATURES[1:]))

    def _remove_leftover(self, params: dict[str, Any]) -> None:
        self._commit(params, _protocol([one for one in FEATURES[1:] if one != params["feature"]]))

    def _append(self, params: dict[str, Any]) -> None:
        version = self._commit(params)
        for item in self._items(params["table"]):
            if item["acceptingCommits"]["BOOL"]:
                item |= {"hasAcceptedCommits": {"BOOL": True}, "tableVersion": {"N": str(version)}}
                self.lake.dynamodb.put_item(TableName=self.coordinator, Item=item)

    @property
    def coordinator(self) -> str:
        return f"commits-{self.lake.bucket}"

    def _items(self, path: str) -> list[dict[str, Any]]:
        found = self.lake.dynamodb.scan(TableName=self.coordinator)["Items"]
        return [item for item in found if item["path"]["S"] == path]

    def _commit(self, params: dict[str, Any], *actions: Any) -> int:
        version = self._newest(params) + 1
        info = commit_info(in_commit_timestamp=EPOCH_MS + version)
        self.lake.commit(self._root(params), version, commit_bytes(info, *actions))
        params.setdefault("commits", []).append({"version": version})
        return version

    def _newest(self, params: dict[str, Any]) -> int:
        log = f"{self._root(params)}/_delta_log/0"
        listed = self.lake.s3.list_objects_v2(Bucket=self.lake.bucket, Prefix=log).get("Contents", [])
        return len(listed) - 1

    def _root(self, params: dict[str, Any]) -> str:
        return str(params["table"]).split("/", 3)[3]


class SparkEnds(Exception):
    """Spark's job ends here: `state` as of an outcome; `error` what it says, None where the process is gone."""

    def __init__(self, state: Any, sentence: str = "", *, condition: str = "", began: bool = True) -> None:
        super().__init__(sentence)
        self.state = state
        self.began = began
        self.error = SparkError("SparkException", condition, sentence) if sentence else None


def ends(state: Any, sentence: str = "", *, condition: str = "", began: bool = True) -> Callable[[], None]:
    def end() -> None:
        raise SparkEnds(state, sentence, condition=condition, began=began)

    return end


def cancelled() -> None:
    raise JobCancelled


def _protocol(features: Any) -> Any:
    reader = [one for one in features if one == "vacuumProtocolCheck"]
    return protocol(3, 7, readerFeatures=reader, writerFeatures=list(features))
