"""Trying an act on a copy of the table's log: what it would change, whom it would shut out, and nothing left behind."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from changes.gate import BEFORE_ANY_CHANGE, connection_of
from coordinator.coordination.carrying_out import CHECK, CutShort, SparkAtWork, plan_now
from coordinator.coordination.checks import CoordinationRequest, Operation, Preflight
from coordinator.coordination.compatibility import EngineSupport, ReadSupport, WriteSupport, matrix
from coordinator.coordination.confirmed import RehearsalResult
from coordinator.coordination.contract import RehearsalDocument, RehearsedProtocol, ShutOut
from coordinator.coordination.features import COORDINATED, features_of
from coordinator.coordination.rehearsal_places import folder_of, scratch_of, spelled, why_no_room
from coordinator.coordination.situation import Situation
from coordinator.coordination.spark_calls import EnableCommits, SparkCall, answer_of, spark_calls
from coordinator.scratch import Leftovers, StoresToAsk, read_leftovers, remove_leftovers
from dashboard.jobs.context import JobCancelled, JobContext, JobFailed
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.actions import read_commit
from lake.delta.facts import Mechanism, TableProtocol
from lake.delta.names import NameKind, parse_name
from lake.delta.uri import TableUri
from lake.spark.errors import SparkRefused
from lake.spark.jobs import rehearse
from lake.spark.messages import SparkJob

NO_READ = (ReadSupport.REFUSED, ReadSupport.STALE)
NO_WRITE = (WriteSupport.REFUSED, WriteSupport.NEVER)
NOTHING_OF_THE_TABLE = "The table itself was only read."
READ_COPY, REMOVE_COPY = "Read the copy's log", "Remove the copy"


def rehearse_act(context: JobContext, lake: Lake, change: CoordinationRequest) -> str:
    """Try it, keep a `RehearsalDocument` and remove what it made. Raises JobFailed, JobCancelled."""
    with context.step(CHECK) as step:
        planned = plan_now(connection_of(context), lake, change, context.result, context.job.pk)
        planned.plan()
        step.detail = f"{len(planned.checked.checks)} checks, none failed."
        rehearsal = _Rehearsal(context, lake, planned.situation, planned.checked)
        with suppress(SparkRefused):
            step.then = (*rehearsal.job.steps, READ_COPY, REMOVE_COPY)
    return rehearsal.run()


@dataclass(frozen=True, slots=True)
class _Rehearsal:
    """One rehearsal under way."""

    context: JobContext
    lake: Lake
    situation: Situation
    checked: Preflight

    @property
    def scratch(self) -> TableUri:
        return scratch_of(self.checked.location, self.context.job.pk)

    @property
    def job(self) -> SparkJob:
        """The act's own statements on the copy. Raises SparkRefused."""
        checked, finishing, scratch = self.checked, self.situation.is_half_dropped, spelled(self.scratch)
        calls = spark_calls(self.situation.change, replace(checked, location=scratch), finishing=finishing)
        prepare = None
        if self.situation.operation is Operation.DROP and not finishing:
            prepare = EnableCommits(location=scratch, store=checked.store, endpoint=checked.endpoint).job
        return rehearse.job(
            checked.location, scratch, [call.job for call in calls if isinstance(call, SparkCall)], prepare
        )

    def run(self) -> str:
        if reason := why_no_room(self.scratch):
            raise JobFailed("Refused", f"{BEFORE_ANY_CHANGE}: {reason}")
        self._remove_earlier()
        told = self._document()
        try:
            self._try(told)
        except JobCancelled as cancelled:
            raise CutShort(f"{cancelled.message} {self._remove(told)} {NOTHING_OF_THE_TABLE}") from cancelled
        except (SparkRefused, AwsError, JobFailed) as error:
            code = "Refused" if isinstance(error, SparkRefused) else error.code
            raise JobFailed(code, f"{error} {self._remove(told)} {NOTHING_OF_THE_TABLE}") from error
        with self.context.step(REMOVE_COPY) as step:
            step.detail = said = self._remove(told)
            if not told["is_removed"]:
                raise JobFailed("NotRemoved", f"The rehearsal was made. {said} {NOTHING_OF_THE_TABLE}")
        return f"{_outcome(self.situation.operation, told)} {said}"

    def _document(self) -> RehearsalDocument:
        before = self.situation.protocol
        return {
            "scratch": spelled(self.scratch),
            "before": _protocol(before) if before else None,
            "after": None,
            "differs": "",
            "shut_out": [],
            "steps": [],
            "seconds": 0.0,
            "commits": [],
            "refused": [],
            "found": "",
            "is_removed": False,
            "not_removed": [],
        }

    def _try(self, told: RehearsalDocument) -> None:
        asked = SparkAtWork(connection_of(self.context), self.lake, self.situation, self.context)
        outcome = asked.run(self.job)
        told["steps"] = [{"name": one.name, "seconds": round(one.seconds, 3)} for one in outcome.steps]
        told["seconds"] = round(outcome.seconds, 3)
        if outcome.state != "done":
            answer = answer_of(outcome)
            raise JobFailed(answer.code, answer.sentence)
        with self.context.step(READ_COPY):
            after = self._protocol_of_copy()
        said = outcome.result
        told["commits"] = [{"version": one["version"], "operation": one["operation"]} for one in said["commits"]]
        told["refused"] = [one["sentence"] for one in said["refused"]]
        told["after"] = _protocol(after)
        told["differs"] = _differs(told["before"], said["before"])
        if wrong := _unproven(self.situation.operation, after, said["after"]):
            raise JobFailed("NotProven", f"Spark was done, and this is not as it should be: {wrong}")
        told["shut_out"] = list(shut_out(self.situation, after))

    def _protocol_of_copy(self) -> TableProtocol:
        """As the copy's own commits have it: the newest protocol that one of them holds."""
        log = self.scratch.log_key
        names = [
            one.key.removeprefix(log) for page in self.lake.s3.list(self.scratch.bucket, log) for one in page.objects
        ]
        for name in sorted((one for one in names if parse_name(one).kind is NameKind.COMMIT), reverse=True):
            found = read_commit(int(name[:20]), self.lake.s3.get(self.scratch.bucket, log + name).data).protocol
            if found:
                return TableProtocol(
                    int(name[:20]),
                    found.reader_version,
                    found.writer_version,
                    tuple(found.reader_features),
                    tuple(found.writer_features),
                )
        raise JobFailed("NotProven", "No commit of the copy holds a protocol.")

    def _left(self) -> Leftovers:
        uri = TableUri.parse(self.checked.location)
        folder, token = folder_of(uri.bucket, uri.key), self.scratch.key.rpartition("/")[2]
        log_store, coordinator = self.situation.log_store_in_use, self.checked.store
        stores = StoresToAsk.of(connection_of(self.context), log_store=log_store, coordinator=coordinator)
        return read_leftovers(self.lake, folder, stores, [token])

    def _remove_earlier(self) -> None:
        """Only one rehearsal of a table runs at a time, so that whatever is there is left of one that was cut short."""
        found = self._left()
        if found.is_empty:
            return
        with self.context.step("Remove what an earlier rehearsal left") as step:
            stays = self._not_removed(found)
            step.detail = f"{found.sentence}."
            if stays:
                told = f"an earlier rehearsal left what stays: {'; '.join(stays)}"
                raise JobFailed("NotRemoved", f"{BEFORE_ANY_CHANGE}: {told}")

    def _not_removed(self, found: Leftovers) -> list[str]:
        """Remove it and read again: the names of what stays."""
        refused, left = remove_leftovers(self.lake, found), self._left()
        return [] if left.is_empty else [*left.names, *refused]

    def _remove(self, told: RehearsalDocument) -> str:
        """Remove all of the copy, read again, keep and say what is so. Begins no step: a cancelled job may not."""
        found = self._left()
        stays = self._not_removed(found)
        told["found"], told["not_removed"], told["is_removed"] = found.sentence, stays, not stays
        self.context.result(RehearsalResult(rehearsal=told))
        with suppress(JobCancelled):
            self.context.log(f"The copy at {told['scratch']} was {found.sentence}.")
        if not stays:
            return f"Of the copy nothing is listed any more: {found.sentence} were removed."
        return f"Of the copy this stays, until the next rehearsal of this table: {'; '.join(stays)}."


def shut_out(situation: Situation, after: TableProtocol) -> Iterator[ShutOut]:
    """Engines that could read or write the table, or may have been able to, and could not afterwards."""
    facts, before = situation.facts, situation.protocol
    if facts is None or before is None:
        return
    then = _mechanism_after(situation)
    had = matrix(facts.mechanism, before.reader_features, before.writer_features)
    for row in matrix(then, after.reader_features, after.writer_features):
        same = [one for one in had if one.name == row.name]
        lost = _lost(row, same)
        if lost:
            yield {"engine": row.name, "versions": row.versions, "loses": lost, "reason": row.reason}


def _lost(row: EngineSupport, before: list[EngineSupport]) -> str:
    reads = row.read in NO_READ and any(one.read not in NO_READ for one in before)
    writes = row.write in NO_WRITE and any(one.write not in NO_WRITE for one in before)
    return " and ".join(word for word, is_lost in (("reading", reads), ("writing", writes)) if is_lost)


def _mechanism_after(situation: Situation) -> Mechanism:
    if situation.operation is Operation.ENABLE:
        return Mechanism.COORDINATED_COMMITS
    return Mechanism.LOG_STORE if situation.has_log_store else Mechanism.SINGLE_DRIVER


def _protocol(protocol: TableProtocol) -> RehearsedProtocol:
    return {
        "reader": protocol.reader_version,
        "writer": protocol.writer_version,
        "features": sorted(features_of(protocol)),
    }


def _differs(table: RehearsedProtocol | None, copy: RehearsedProtocol) -> str:
    """How the copy, before the act, was other than the table; "" where it was alike."""
    if table is None or table == copy:
        return ""
    lacks, has = sorted({*table["features"]} - {*copy["features"]}), sorted({*copy["features"]} - {*table["features"]})
    said = [f"lacked {', '.join(lacks)}"] if lacks else []
    said += [f"had {', '.join(has)} besides"] if has else []
    said += [] if lacks or has else [f"had reader {copy['reader']}, writer {copy['writer']}"]
    return f"Before the act the copy {' and '.join(said)}, unlike the table."


def _unproven(operation: Operation, read: TableProtocol, said: RehearsedProtocol) -> str:
    """What does not hold of the copy after the act; "" where all does."""
    if _protocol(read) != said:
        return "Spark and the copy's own log name different protocols."
    is_named = COORDINATED in said["features"]
    if is_named == (operation is Operation.ENABLE):
        return ""
    return f"The copy's protocol {'still names' if is_named else 'lacks'} {COORDINATED}."


def _outcome(operation: Operation, told: RehearsalDocument) -> str:
    act = "Enabling" if operation is Operation.ENABLE else "The drop"
    after = told["after"]
    protocol = f"reader {after['reader']}, writer {after['writer']}" if after else "unknown"
    shut = len({(one["engine"], one["versions"]) for one in told["shut_out"]})
    whom = f"{shut} kind{'s' if shut != 1 else ''} of engine would lose access" if shut else "no engine loses access"
    refused = f" Delta refused: {' '.join(told['refused'])}" if told["refused"] else ""
    differs = f" {told['differs']}" if told["differs"] else ""
    return f"{act} went through on a copy in {told['seconds']:.0f} s: protocol {protocol}, {whom}.{refused}{differs}"
