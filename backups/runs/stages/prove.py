"""Last stage: what can be restored of each table of the source is proven and kept, and says how the run ended."""

import io
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Count, Min, Q

from backups import lifecycle
from backups.models import AS_PROMISED, Plan, PointState, RestorePoint, Run, RunState, Stage, StageState
from backups.points.documents import point_document
from backups.points.spreading import are_many, proven_tables
from backups.runs import prices
from backups.runs.ports import ProofWanted
from backups.runs.work import Done, Elsewhere, GivenUp, StageAnswer, Work, read_pieces
from backups.sheet.text import write_sheet
from dashboard.connections.accepted import accepted_reader, tables_ahead
from dashboard.storable import make_storable
from lake.backup.objects import BucketPrefix, place_of
from lake.delta.accepted import AcceptedCommits, ReadAccepted
from lake.points.keeping import Keeper
from lake.points.moments import BEGINNING, WINDOW, Span, together
from lake.points.proven import ProvenTable
from lake.points.proving import Source, prove_copy
from lake.points.topping_up import Topper

PROVING = "Proves which versions of each table can be restored."
MOST_SPANS = 100
"""Of the moments to which a table, or all of a run, can be restored."""
EARLIER = (
    "Version {version:,} could be restored from its own restore point when that was proven, at {at:%Y-%m-%d %H:%M} "
    "UTC. {since}"
)
NOT_SEEN_SINCE = "Nothing has looked at its files since."
NOT_LOOKED_AT = "Its tables were not proven: an older release planned this run."
KEPT_ONCE = ("plan", "table", "earlier")
PROVEN_ANEW = [
    field.name for field in RestorePoint._meta.concrete_fields if not field.primary_key and field.name not in KEPT_ONCE
]


def advance(work: Work) -> StageAnswer:
    work.say(PROVING)
    run, source, roots = work.run, place_of(work.run.plan.source), _roots(work)
    if roots is None:
        return _end(work, None)
    s3 = work.vault.s3  # whoever copies may read the source
    known = set(run.points.values_list("table", flat=True))
    left = [root for root in sorted(roots) if _uri(source.bucket, root) not in known]
    if are_many(left) and not work.has_spark:
        return Elsewhere()
    place, ahead = place_of(run.destination), tables_ahead(work.run.plan.connection, source.bucket)
    where = Source(s3, source.bucket, _accepted(work), ahead=ahead)
    plan, key = run.plan, run.plan.encryption_key
    keeper = Keeper(s3, place, source.bucket, key, plan.name, str(run.pk))
    wanted = ProofWanted(place, source.bucket, plan.name, str(run.pk), key, plan.objective_hours)
    topper, was_open = _topper(work, place, source), _topped_up(run)["is_open"]

    def here(roots: Sequence[str]) -> Generator[ProvenTable, None, None]:
        _count(work, topper, is_open=True)
        yield from prove_copy(s3, place, source.prefix, where, roots, keeper, topper)

    try:
        with closing(proven_tables(left, here, work.pipeline, wanted, ahead)) as tables:
            try:
                for proven in tables:
                    _store(work, proven)
                    work.show(Stage.PROVE, done=run.points.count(), total=len(roots))
            finally:
                topper.stopped.set()  # what is being copied is waited for
    finally:
        _count(work, topper, is_open=was_open)
    if run.points.exclude(proof="").exists():
        work.save(evidence={**run.evidence, "sheet": write_sheet(keeper, run, work.now())})
    states = Counter(run.points.values_list("state", flat=True).order_by())
    return _end(work, states, len(roots), _restorable(run, work.now()))


def _store(work: Work, proven: Sequence[ProvenTable]) -> None:
    work.context.check_cancelled()
    work.say(PROVING)  # raises GivenUp where another job holds the run by now
    plan = work.run.plan
    # Of a table that was dropped since the inventory, an earlier point stays as it is.
    points = [_point(work, table) for table in proven if not table.is_gone]
    with transaction.atomic():
        _set_aside(plan, points)
        RestorePoint.objects.bulk_create(
            points, update_conflicts=True, unique_fields=KEPT_ONCE, update_fields=PROVEN_ANEW
        )
        _lower(plan, points, work.now())


def _topper(work: Work, place: BucketPrefix, source: BucketPrefix) -> Topper:
    """Copies what tables lack, for what the plan's ceiling leaves after the run's own copies. Where an earlier try of
    this stage died, what it spent is not known: nothing more is spent then."""
    run, plan, before = work.run, work.run.plan, _topped_up(work.run)
    spent = (run.actual_usd or run.estimate_usd or Decimal(0)) + Decimal(before["usd"])
    left = None if run.ceiling_usd is None else Decimal(0) if before["is_open"] else run.ceiling_usd - spent

    def reckon(copies: int, large: int, large_bytes: int, listed: int) -> Decimal:
        items = prices.lines(
            settings.BACKUP_PRICES,
            copies=copies,
            large=large,
            large_bytes=large_bytes,
            listed=listed,
            storage_class=plan.storage_class,
            uses_kms=bool(plan.encryption_key or plan.source_key),
        )
        return sum((one.usd for one in items), Decimal(0))

    objective, key = timedelta(hours=plan.objective_hours), plan.encryption_key
    of_plan = (source.bucket, source.prefix, plan.storage_class, key, objective)
    topper = Topper(work.vault.s3, place, *of_plan, reckon, left)
    topper.objects, topper.usd = before["objects"], Decimal(before["usd"])
    return topper


def _topped_up(run: Run) -> dict[str, Any]:
    """What has been copied for tables that lacked it, as `tables` of the run holds it; `is_open` while more may be."""
    none: dict[str, Any] = {"objects": 0, "usd": "0", "is_open": False}
    return {**none, **run.tables.get("topped_up", {})}


def _count(work: Work, topper: Topper, *, is_open: bool) -> None:
    counts = {"objects": topper.objects, "usd": str(topper.usd), "is_open": is_open}
    work.save(tables={**work.run.tables, "topped_up": counts})


def _accepted(work: Work) -> ReadAccepted | None:
    """What reads the source's commit stores, by the plan's own connection: whoever copies need not be allowed to."""
    plan = work.run.plan
    try:
        return accepted_reader(plan.connection, work.open_source(), place_of(plan.source).bucket)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with that connection, the copy itself can be read
        why = f"The connection {plan.connection.name} cannot be opened: {error}"
        return lambda _: AcceptedCommits(None, not_known=why)


def _roots(work: Work) -> frozenset[str] | None:
    """The roots of the source's tables, as the plan of the run found them; None where an older release planned it.

    A second try plans its own objects alone: its tables are those of the first.
    """
    run = work.run
    while run.retry_of is not None:
        run = run.retry_of
    kept = run.evidence.get("plan", {}).get("roots")
    if kept is None or not kept["key"]:
        return None if kept is None else frozenset()
    from pyarrow import parquet  # as large as the rest of a worker: here alone

    body = b"".join(read_pieces(work.vault.s3, kept["bucket"], kept["key"]))
    return frozenset(parquet.read_table(io.BytesIO(body))["root"].to_pylist())


def _uri(bucket: str, root: str) -> str:
    """A folder `t/` beside `t`, which S3 allows, is another table."""
    return f"s3a://{bucket}/{root}" if root else f"s3a://{bucket}"


def _set_aside(plan: Plan, points: Sequence[RestorePoint]) -> None:
    """Let what is kept in the backup stay as an earlier point, unless these are of the same table, kept, and as new."""
    new = {point.table: point for point in points}
    for kept in plan.points.filter(table__in=new, earlier="").exclude(proof=""):
        point = new[kept.table]
        is_same = bool(point.proof) and point.incarnation == kept.incarnation
        if not is_same or (point.version or 0) < (kept.version or 0):
            of_then = {"ranges": [[kept.version, kept.version]], "blocked_total": 0}
            of_then |= {"moments": [], "unpublished": [], "blocked": []}
            since = f"The run after it could keep none: {point.not_kept}" if point.not_kept else NOT_SEEN_SINCE
            said = EARLIER.format(version=kept.version, at=kept.proven_at, since=since)
            plan.points.filter(pk=kept.pk).update(earlier=str(kept.pk), sentence=said, problems=[], **of_then)
    for point in points:
        if point.proof:
            _earlier(plan, point).delete()


def _earlier(plan: Plan, point: RestorePoint) -> models.QuerySet[RestorePoint]:
    """What the point takes the place of."""
    same = plan.points.filter(table=point.table, incarnation=point.incarnation, version__lte=point.version)
    return same.exclude(earlier="")


def _point(work: Work, table: ProvenTable) -> RestorePoint:
    run, plan = work.run, work.run.plan
    document = point_document(table, place_of(run.destination), plan, work.now())
    told = {name: document[name] for name in PROVEN_ANEW if name in document}  # type: ignore[literal-required]
    told["proof"] = table.kept
    told["moments"] = [[start.isoformat(), end.isoformat()] for start, end in table.moments[-MOST_SPANS:]]
    uri = _uri(place_of(plan.source).bucket, table.root)
    point = RestorePoint(**{**told, "plan": plan, "run": run, "destination": run.destination, "table": uri})
    make_storable(point)
    return point


@transaction.atomic
def _end(
    work: Work, counts: Counter[str] | None, found: int = 0, restorable: Sequence[tuple[str, str, bool]] = ()
) -> Done:
    """A run is complete where every object is safe, no table is behind or not proven, each has its point in the backup,
    and not all those that were found have gone meanwhile; None: none was looked at."""
    run = work.run
    unkept = run.points.exclude(not_kept="").count()
    of_tables = NOT_LOOKED_AT if counts is None else sentence_of(counts, run.plan.objective_hours, found, unkept)
    is_promise_kept = counts is not None and counts.keys() <= AS_PROMISED and bool(counts or not found) and not unkept
    has_gaps = run.left_over or run.evidence.get("doubts") or not is_promise_kept
    state = RunState.COMPLETE_WITH_GAPS if has_gaps else RunState.COMPLETE
    topped_up = _topped_up(run)
    if number := topped_up["objects"]:
        objects = f"{number:,} object was" if number == 1 else f"{number:,} objects were"
        of_tables += f" Of what tables lacked, {objects} copied from the source."
    of_objects = run.stages.get(name=Stage.RECONCILE).detail
    sentence = f"{of_tables} {of_objects}" if counts else f"{of_objects} {of_tables}"
    proof = {} if counts is None else _proof(run, counts, restorable, work.now())
    if topped_up["usd"] != "0":
        usd = Decimal(topped_up["usd"]).quantize(Decimal("0.01"))
        proof["actual_usd"] = (run.actual_usd or Decimal(0)) + usd
    if not lifecycle.move(run.pk, state, job=work.context.job, sentence=sentence, error_code="", **proof):
        raise GivenUp
    lifecycle.close_stage(run.pk, Stage.PROVE, StageState.DONE, of_tables)
    run.state, run.sentence = state, sentence
    return Done(of_tables)


def _proof(
    run: Run, counts: Counter[str], restorable: Sequence[tuple[str, str, bool]], now: datetime
) -> dict[str, Any]:
    """The fields of a run that tell what it has proven, at most up to the cut-off: a table that was made later is in
    none of its points."""
    moments = run.points.aggregate(first=Min("holds_until"), unknown=Count("pk", filter=Q(holds_until=None)))
    until = min(moment for moment in (moments["first"], run.cut_off, now) if moment)
    tables = {**run.tables, "points": dict(counts), "restorable": restorable}
    return {"is_proof": True, "tables": tables} | _known(run.plan, None if moments["unknown"] else until, now)


def _restorable(run: Run, now: datetime) -> list[tuple[str, str, bool]]:
    """The moments of the last days to which all tables, or some, can be restored, as `tables` of the run holds them."""
    since = now - WINDOW
    earlier = set(run.plan.points.exclude(earlier="").values_list("table", flat=True))
    rows = run.points.filter(earlier="").exclude(state=PointState.TOO_NEW).values_list("table", "moments")
    stretches = together((_spans(moments, table in earlier) for table, moments in rows.iterator()), since)
    return [(one.start.isoformat(), one.end.isoformat(), one.of_all) for one in stretches[-MOST_SPANS:]]


def _spans(moments: list[list[str]], had_another: bool) -> Iterator[Span]:
    """Those of one table; before it was made it needs nothing, unless there was another one."""
    for start, end in moments:
        span = datetime.fromisoformat(start), datetime.fromisoformat(end)
        if span[0] != BEGINNING or not had_another:
            yield span


def _lower(plan: Plan, points: Sequence[RestorePoint], now: datetime) -> None:
    """Let the newest proof tell no more than these points, which have taken the place of its own: until their run ends,
    and where it never does, it is the one that is believed."""
    proof, known = plan.runs.proofs().first(), [point.holds_until for point in points if point.holds_until]
    if proof is None or not points:
        return
    if "restorable" in proof.tables:
        kept = {name: told for name, told in proof.tables.items() if name != "restorable"}
        Run.objects.filter(pk=proof.pk).update(tables=kept)
    if proof.holds_until is None:
        return
    until = min(known) if len(known) == len(points) else None
    if until is None or until < proof.holds_until:
        Run.objects.filter(pk=proof.pk).update(**_known(plan, until, now))


def _known(plan: Plan, until: datetime | None, now: datetime) -> dict[str, datetime | None]:
    """Up to when each table is known to have all its commits, or since when that is not known: at the latest since the
    proof before was past the objective."""
    earlier = plan.runs.proofs().first()
    since = now
    if earlier is not None:
        before = earlier.holds_until
        since = min(now, before + timedelta(hours=plan.objective_hours)) if before else earlier.not_known_since or now
    return {"holds_until": until, "not_known_since": None if until else since}


def sentence_of(counts: Counter[str], objective_hours: int, found: int, unkept: int = 0) -> str:
    """What of the tables can be restored, by the numbers of their points; `found` were listed, and of `unkept` no point
    is in the backup."""
    proven, young = counts[PointState.PROVEN], counts[PointState.TOO_NEW]
    behind, unprovable = counts[PointState.BEHIND], counts[PointState.UNPROVABLE]
    total, what = counts.total() - young, f"restored with all that is older than {objective_hours:,} hours"
    rest = [f"{behind:,} behind that"] if behind else []
    rest += [f"{unprovable:,} not proven to be"] if unprovable else []
    rest += [f"{young:,} younger than that"] if young else []
    rest += [f"{unkept:,} without a restore point in the backup"] if unkept else []
    rest += [f"{gone:,} no longer at the source"] if (gone := found - counts.total()) > 0 else []
    if not total:
        nothing = "No table is at the source any more." if found else "There is no Delta table under the source."
        return "Every table is younger than the objective." if young else nothing
    which = f"{proven:,} of {total:,}" if proven < total else "The one" if total == 1 else f"Each of {total:,}"
    tables = "table" if which == "The one" else "tables"
    return f"{which} {tables} can be {what}{'; ' if rest else ''}{', '.join(rest)}."
