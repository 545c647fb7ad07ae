"""The jobs of restores: `plan-restore` on the queue aws, and `restore-table` where Spark is warm."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import cast

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from backups.models import RestorePoint
from backups.restores.actions import (
    ASK_KIND,
    IN_PLACE,
    PLAN_KIND,
    REMOVE,
    REMOVE_KIND,
    REMOVE_LOSING,
    RESTORE_KIND,
    PlanRestoreParams,
    PlanRestoreResult,
    RestoreParams,
    RestoreResult,
    kind_of,
    source_written_to,
    subject_of,
)
from backups.restores.archived import KEPT_DAYS, asked_by, asking_first
from backups.restores.calls import WriteLog, objects
from backups.restores.clearing import ClearStores, PutBack, SetAside
from backups.restores.copying import COPIED, CopyFiles
from backups.restores.in_place import log_store_of, plan_in_place
from backups.restores.many import restoring
from backups.restores.path_contents import require_paused, what_stands
from backups.restores.planning import Keys, detached, opened_at, plan_opening, plan_restoring, refused
from backups.restores.readers import BY_DELTALAKE, BY_SPARK, WRITE, Readers
from backups.restores.removing import RemoveCopy, plan_removing
from backups.restores.targets import require_free, target_named
from backups.restores.verification import Expected
from backups.runs.prices import lines, retrieval
from changes.calls import Sending, Stop
from changes.carrying_out import (
    Snapshots,
    carry_out,
    check_danger,
    check_shown,
    lake_to_change,
    stopped_in_words,
    why_moved,
)
from changes.documents import planned_in_words, planned_result
from changes.gate import BEFORE_ANY_CHANGE, check_writable, connection_of
from changes.plan import ChangePlan
from dashboard.connections.accepted import LeftBehind, forget_commits, forget_table, left_behind
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.models import ACTIVE, Job, JobState
from dashboard.jobs.registry import job_kind
from lake.aws.access import Lake, open_lake
from lake.aws.copying import COPY_LIMIT
from lake.aws.errors import AwsError
from lake.backup.objects import POINTS, place_of
from lake.delta.file_actions import LogUnreadable
from lake.delta.fingerprint import fingerprint
from lake.delta.uri import TableUri
from lake.points.file_marks import file_marks
from lake.points.reading import (
    KeptPoint,
    NotRestorable,
    RestorableVersion,
    point_that_reaches,
    read_point,
    read_version,
    version_at,
)

READ = "Read the backup and plan anew"
READS_AT_ONCE = 16
MOST_BEFORE = 50
"""Restores that are looked at for one like another."""


@job_kind(PLAN_KIND, queue="aws", verb="backup.prove", changes_lake=False)
def plan_restore(context: JobContext, params: PlanRestoreParams) -> str:
    """Read the backup and plan to open a version; the result is a `PlanRestoreResult`."""
    point, reading = _point(params["point"]), context.step("Read the restore point and list its objects")
    with open_lake(lake_access(connection_of(context)), parallel=READS_AT_ONCE) as lake, reading:
        told = planned(lake, point, params, context.job)
    context.result(told)
    return planned_in_words(told)


def planned(lake: Lake, point: RestorePoint, params: PlanRestoreParams, job: Job) -> PlanRestoreResult:
    """The plan of one restore, or why there is none; `job` is the one that plans. Raises AwsError."""
    read_at, version = timezone.now(), params["version"]
    try:
        with ThreadPoolExecutor(READS_AT_ONCE) as pool:
            kept, version = _wanted(lake, point, params)
            found = read_version(lake.s3, kept, version, pool)
            to = _target(lake, point, found, params)
            plan = _with_what_may_lack(_plan(lake, point, found, to, params), point)
    except NotRestorable as error:
        reason = str(error)
    except AwsError as error:
        if not (error.is_archived and POINTS in error.target):
            raise
        reason = (
            f"{error.target} lies in an archive, and with it how the table is restored. Have S3 restore all below "
            f"{POINTS} of the backup (RestoreObject), and leave that prefix out of what archives the backup."
        )
    else:
        made = planned_result(plan, read_at, lake.requests.total)
        return cast("PlanRestoreResult", {**made, **_told(job, point, found, plan, to)})
    said = refused(subject_of(params, point.table), reason, kind_of(params), version)
    return cast("PlanRestoreResult", planned_result(said, read_at, lake.requests.total))


@job_kind(ASK_KIND, queue="aws", verb="backup.restore")
@job_kind(RESTORE_KIND, queue="spark", verb="backup.restore")
def restore_table(context: JobContext, params: RestoreParams) -> str:
    """Restore one version, or ask S3 for what is archived of it, as it was planned; the result is a `RestoreResult`."""
    said = restore_version(context, params)
    context.result({"shown_at": reverse("backup-restore-plan", args=[params["point"], params["planned_by"]])})
    return said


def restore_version(context: JobContext, params: RestoreParams) -> str:
    """Write the table, open it by Spark and by deltalake, and write to it once where it stays; tells a `RestoreResult`,
    and returns what became of it. Raises JobFailed, JobCancelled, AwsError."""
    point, connection, began = _point(params["point"]), connection_of(context), time.monotonic()
    if path := params.get("to"):
        check_writable(source_written_to(point, path))
        _require_alone(Job.objects.filter(kind=REMOVE_KIND, state__in=ACTIVE, params__to=path).first(), path)
    with lake_to_change(context) as lake, _owner(point, params, connection, lake) as (owner, theirs):
        with context.step(READ) as step, ThreadPoolExecutor(READS_AT_ONCE) as pool:
            found, plan, to = _planned_again(lake, point, params, pool)
            check_shown(plan, params["digest"])
            check_danger(context, params, plan, TableUri.parse(point.table).name, IN_PLACE)
            seen_as, asked = _expected(lake, found, pool, is_open=to is None), asked_by(plan)
            readings = () if asked else (BY_SPARK, BY_DELTALAKE, *((WRITE,) if to else ()))
            step.then = (*(call.says for call in plan.calls), *readings)
        kept = Snapshots(plan, {"point": found.point.uri})
        readers = Readers(context, owner, theirs, seen_as, _table(found, to), log_store_of(plan))
        readers.require_log_store()
        both = replace(lake, dynamodb=theirs.dynamodb)
        # Spark has the keys of one connection at a time, and starts anew for another one.
        copier = readers if owner == connection else None
        sending = Sending(both, check_cancelled=context.check_cancelled, progress=context.progress, spark=copier)
        _require_clearing(plan, sending, kept)
        execution = carry_out(context, plan, kept, sending)
        if execution.end is not None:
            raise JobFailed(execution.end.code or "Stopped", stopped_in_words(execution))
        if asked:
            number = sum(len(call.files) for call in asked)
            context.result(RestoreResult(asked=number))
            return f"Nothing is restored yet: S3 was asked for {objects(number)} in an archive. {plan.consequences[-1]}"
        for call in plan.calls:
            if isinstance(call, PutBack) and (path := call.lost(lake.s3)):
                told = f"The log is written to {_table(found, to)}, and {path} has gone: stop VACUUM, and plan again."
                raise JobFailed("NotProven", told)
        context.result(RestoreResult(copied_in=round(time.monotonic() - began, 1)))
        said = readers.verify(began)
        if to is not None and kind_of(params) == "in_place":
            forget_commits(to)
        return said


@job_kind(REMOVE_KIND, queue="aws", verb=REMOVE)
def remove_restored(context: JobContext, params: RestoreParams) -> str:
    """Remove what was restored to a path, as it was planned, and let go of what Levee knows of that table."""
    point, to = _point(params["point"]), TableUri.parse(subject_of(params, ""))
    check_writable(source_written_to(point, to.s3a))
    _require_alone(restoring(to.s3a), to.s3a)
    context.result({"shown_at": reverse("backup-restore-plan", args=[params["point"], params["planned_by"]])})
    with lake_to_change(context) as lake:
        with context.step(READ) as step, ThreadPoolExecutor(READS_AT_ONCE) as pool:
            found, plan, _ = _planned_again(lake, point, params, pool)
            check_shown(plan, params["digest"])
            check_danger(context, params, plan, to.name, REMOVE_LOSING)
            step.then = tuple(call.says for call in plan.calls)
        sending = Sending(lake, check_cancelled=context.check_cancelled, progress=context.progress)
        execution = carry_out(context, plan, Snapshots(plan, {"point": found.point.uri}), sending)
    if execution.end is not None:
        raise JobFailed(execution.end.code or "Stopped", stopped_in_words(execution))
    forget_table(connection_of(context), to)
    return execution.outcomes[-1].sentence


def _require_alone(other: Job | None, path: str) -> None:
    """Raises JobFailed where another job is about to remove what this one restores, or the other way round."""
    if other is not None:
        raise JobFailed("Busy", f"{BEFORE_ANY_CHANGE}: job {other.pk} works at {path} too. Wait for its end.")


def _require_clearing(plan: ChangePlan, sending: Sending, kept: Snapshots) -> None:
    """Raises JobFailed where commit stores may not be cleared."""
    try:
        for call in plan.calls:
            if isinstance(call, ClearStores):
                call.require_permitted(sending)
    except AwsError as error:
        where = " See Put a backed-up version back in place among the permissions of the table's connection."
        raise JobFailed(error.code, f"{BEFORE_ANY_CHANGE}: {error}{where * error.is_access_denied}") from error
    kept.request_ids += sending.request_ids


def _expected(lake: Lake, found: RestorableVersion, pool: ThreadPoolExecutor, *, is_open: bool) -> Expected:
    """Raises JobFailed."""
    try:
        return Expected(found, is_open, *fingerprint(file_marks(lake.s3, found, pool, is_open=is_open)))
    except LogUnreadable as reason:
        raise JobFailed("LogUnreadable", f"{BEFORE_ANY_CHANGE}: {reason}") from reason


def _point(pk: str) -> RestorePoint:
    """Raises JobFailed where a later run has replaced it."""
    points = RestorePoint.objects.select_related("plan__connection", "plan__vault_connection")
    point = points.filter(pk=pk).exclude(proof="").first()
    if point is None:
        raise JobFailed("NoSuchPoint", "The restore point is not there any more: choose one of the table's others.")
    return point


def _wanted(lake: Lake, point: RestorePoint, params: PlanRestoreParams) -> tuple[KeptPoint, int]:
    """The point that leads to what was asked for, and its version. Raises NotRestorable."""
    kept, version = read_point(lake.s3, params.get("removes", point.proof)), params["version"]
    if params["moment"]:
        version = version_at(kept, datetime.fromisoformat(params["moment"]), point.holds_until)
    version = kept.document["version"] if version is None else version
    return point_that_reaches(lake.s3, kept, version), version


@contextmanager
def _owner(
    point: RestorePoint, params: PlanRestoreParams, connection: Connection, lake: Lake
) -> Iterator[tuple[Connection, Lake]]:
    """The connection by which the restored table is read and written, with its lake: in place that of the original."""
    if kind_of(params) != "in_place":
        yield connection, lake
        return
    with open_lake(lake_access(point.plan.connection)) as theirs:
        yield point.plan.connection, theirs


def _target(lake: Lake, point: RestorePoint, found: RestorableVersion, params: PlanRestoreParams) -> TableUri | None:
    """Where a version goes, None for where it is opened in the backup. Raises NotRestorable where it cannot."""
    kind, named = kind_of(params), params.get("to")
    if named is None:
        return None
    if kind == "in_place":
        return TableUri("s3a", found.point.source.bucket, found.point.source.prefix)
    to = target_named(named, found.point, found.state.version)
    if kind == "remove":
        return to
    try:
        require_free(lake.s3, to, found.point)
    except AwsError as error:
        if error.is_access_denied or error.code == "NoSuchBucket":
            is_denied = error.is_access_denied and to.bucket == found.point.source.bucket
            where = f" See the page Policies of the plan {point.plan.name}." * is_denied
            raise NotRestorable(f"{to.s3a} could not be looked at: {error}{where}") from error
        raise
    return to


def _plan(
    lake: Lake, point: RestorePoint, found: RestorableVersion, to: TableUri | None, params: PlanRestoreParams
) -> ChangePlan:
    """Raises NotRestorable."""
    plan = point.plan
    if to is None:
        made, needed = plan_opening(found, plan.encryption_key), list(found.files)
        return asking_first(lake.s3, found, made, needed, plan.encryption_key, timezone.now())
    if kind_of(params) == "in_place":
        return _plan_in_place(lake, point, found, to)
    if kind_of(params) == "remove":
        return plan_removing(lake.s3, found, to, _keys_at(point, found, to))
    entries = LeftBehind()
    for connection in {plan.connection, plan.vault_connection}:
        with open_lake(lake_access(connection)) as theirs:
            entries = entries.and_also(left_behind(connection, theirs, to))
    made = plan_restoring(found, to, _keys_at(point, found, to), entries)
    copying = (call for call in made.calls if isinstance(call, CopyFiles))
    try:
        needed = [one for call in copying for one in call.needed(lake.s3)]
    except Stop as reason:
        raise NotRestorable(str(reason)) from reason
    return asking_first(lake.s3, found, made, needed, plan.encryption_key, timezone.now())


def _keys_at(point: RestorePoint, found: RestorableVersion, to: TableUri) -> Keys:
    """The keys of a version that is restored to a path."""
    is_with_source = to.bucket == found.point.source.bucket
    return Keys(point.plan.encryption_key, point.plan.source_key if is_with_source else "")


def _plan_in_place(lake: Lake, point: RestorePoint, found: RestorableVersion, to: TableUri) -> ChangePlan:
    """Raises NotRestorable."""
    owner = point.plan.connection
    with open_lake(lake_access(owner)) as theirs:
        stores = left_behind(owner, theirs, to)
    stands = what_stands(lake.s3, place_of(to.s3a), found, stores)
    plan = plan_in_place(found, to, Keys(point.plan.encryption_key, point.plan.source_key), stands)
    needed = [one for call in plan.calls if isinstance(call, PutBack) for one in call.lacks]
    first = asking_first(lake.s3, found, plan, needed, point.plan.encryption_key, timezone.now())
    if not asked_by(first):  # writers need not pause while S3 brings what is archived
        own = [(one.name, one.size) for one in found.log] + [(name, len(data)) for name, data in detached(found)]
        require_paused(stands, own, timezone.now())
    return first


def _planned_again(
    lake: Lake, point: RestorePoint, params: RestoreParams, pool: ThreadPoolExecutor
) -> tuple[RestorableVersion, ChangePlan, TableUri | None]:
    """The version and its plan from a fresh reading. Raises JobFailed where it is refused now."""
    try:
        found = _read_again(lake, params, pool)
        to = _target(lake, point, found, params)
        return found, _plan(lake, point, found, to, params), to
    except NotRestorable as reason:
        why = why_moved(refused("", str(reason), kind_of(params)))
        raise JobFailed("Moved", f"{BEFORE_ANY_CHANGE}: {why}") from reason


def _read_again(lake: Lake, params: RestoreParams, pool: ThreadPoolExecutor) -> RestorableVersion:
    kept, version = read_point(lake.s3, params["document"]), params["version"]
    return read_version(lake.s3, kept, kept.document["version"] if version is None else version, pool)


def _table(found: RestorableVersion, to: TableUri | None) -> str:
    return to.s3a if to else opened_at(found.point, found.state.version).uri.rstrip("/")


def _with_what_may_lack(plan: ChangePlan, point: RestorePoint) -> ChangePlan:
    """The plan to restore the newest version of a point, with what that says where later commits are not in it."""
    if plan.kind == REMOVE_KIND or plan.version != point.version or point.accepted_version == point.version:
        return plan
    said = f"Later commits may be missing, by the proof of {point.proven_at:%Y-%m-%d %H:%M} UTC: {point.sentence}"
    return replace(plan, consequences=(plan.consequences[0], said, *plan.consequences[1:]))


def _told(
    job: Job, point: RestorePoint, found: RestorableVersion, plan: ChangePlan, to: TableUri | None
) -> PlanRestoreResult:
    asked, removed = asked_by(plan), [call for call in plan.calls if isinstance(call, RemoveCopy)]
    copying = [call for call in plan.calls if isinstance(call, CopyFiles)]
    files = [one for call in copying for one in call.lacking]
    large = [one.size for one in files if one.size > COPY_LIMIT]
    own = sum(bool(call.claim) for call in copying)  # and the commit off a coordinator
    own += sum(len(call.own) for call in plan.calls if isinstance(call, WriteLog))
    own += sum(len(call.closing) for call in removed)
    number, prices = (0 if removed else len(found.log)) + own + len(files), settings.BACKUP_PRICES
    items = lines(
        prices,
        copies=number - len(large),
        large=len(large),
        large_bytes=sum(large),
        listed=found.state.files + 3 * len(files) + sum(5 * len(call.there) for call in removed),
        uses_kms=bool(point.plan.encryption_key or point.plan.source_key),
    )
    size = sum(one.size for one in found.log) + sum(one.size for one in files)
    usd = sum((one.usd for one in items), Decimal(0))
    if asked:
        number, size = sum(len(call.files) for call in asked), sum(call.size for call in asked)
        of_each = (retrieval(prices, one.storage_class, len(one.files), one.size, KEPT_DAYS) for one in asked)
        usd = sum(of_each, Decimal(0)).quantize(Decimal("0.000001"))
    for call in removed:
        number, size = len(call.there), call.size
    return {
        "document": found.point.uri,
        "version": found.state.version,
        "to": _table(found, to),
        "archived": number if asked else 0,
        "objects": number,
        "size": size,
        "aside": next((call.log.table.uri for call in copying if isinstance(call, SetAside)), ""),
        "usd": str(usd),
        "seconds": None if asked or removed else _likely_seconds(job, point, None if to is None else len(files)),
    }


def _likely_seconds(job: Job, point: RestorePoint, files: int | None) -> int | None:
    """How long it took before: to open this table, or by the files of the last table that was copied as this is."""
    done = Job.objects.filter(kind=RESTORE_KIND, state=JobState.SUCCEEDED, connection=job.connection)
    for before in done.order_by("-finished_at")[:MOST_BEFORE]:
        seconds, is_open = float(before.result["seconds"]), before.params.get("to") is None
        if files is None and is_open and before.target_id == str(point.pk):
            return round(seconds)
        copied = int(before.result["after"].get(COPIED, 0))
        if files is not None and copied:
            copied_in = float(before.result["copied_in"])
            return round(seconds - copied_in + copied_in * files / copied)
    return None
