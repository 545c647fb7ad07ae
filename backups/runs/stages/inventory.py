"""First stage: an inventory that is late enough and whole, or the moment from which the source is listed."""

from datetime import timedelta

from backups import lifecycle
from backups.models import Inventory, InventoryState, Plan, Run, RunState, Stage
from backups.runs.buckets import ensure_bucket
from backups.runs.inventories import Delivery, InventoryRefused, VerifiedInventory, deliveries, verify
from backups.runs.ports import place_of
from backups.runs.work import Done, GivenUp, RunFailed, StageAnswer, Waiting, Work
from lake.backup.locations import BucketPrefix

WAIT_SECONDS = 60.0
DATE = "{date}"


def advance(work: Work) -> StageAnswer:
    run, plan = work.run, work.run.plan
    if run.retry_of is not None:
        return _begin(work, run.retry_of.inventory, run.retry_of, "Takes what an earlier run left to be tried again.")
    if not plan.inventory:
        return _begin(work, "", None, "The source is listed: the plan names no inventory.")
    found = _next_delivery(work)
    if isinstance(found, Waiting):
        return found
    row = _looked_at(work, found)
    if row.state == InventoryState.REFUSED or row.created_at is None:
        return Waiting(WAIT_SECONDS, f"{row.reason} Waits until it is whole, or for the next one.")
    run.inventory_bucket, run.inventory_manifest = row.manifest_bucket, row.manifest_key
    run.cut_off = row.created_at - timedelta(hours=plan.minimum_lag_hours)
    files = f"{row.files:,} file{'' if row.files == 1 else 's'}"
    return _begin(work, row.name, None, f"{files} of {row.format}, every MD5 right.")


def _next_delivery(work: Work) -> Delivery | Waiting:
    """The newest delivery; for a run of the schedule only one that no earlier run of the plan has used."""
    run, place = work.run, place_of(work.run.plan.inventory)
    arrived = deliveries(work.vault.s3, place)
    used = _newest_used(run) if run.due_at else ""
    if not arrived or arrived[0].name <= used:
        newest = f"the newest, {arrived[0].name}, is in an earlier run already" if arrived else "none has arrived yet"
        return Waiting(WAIT_SECONDS, f"Waits for an inventory under {place.uri}: {newest}.")
    return arrived[0]


def _newest_used(run: Run) -> str:
    used = run.plan.runs.filter(state__in=(RunState.COMPLETE, RunState.COMPLETE_WITH_GAPS)).exclude(inventory="")
    return used.order_by("-inventory").values_list("inventory", flat=True).first() or ""


def _looked_at(work: Work, delivery: Delivery) -> Inventory:
    """Verify a delivery once; one that was refused is looked at again, since parts may arrive late."""
    plan = work.run.plan
    known = plan.inventories.filter(name=delivery.name, state=InventoryState.ARRIVED).first()
    if known is not None:
        return known
    work.say(f"Verifies inventory {delivery.name}.")

    def progress(done: int, total: int) -> None:
        work.context.check_cancelled()
        work.show(Stage.INVENTORY, done=done, total=total)

    try:
        verified = verify(work.vault.s3, delivery, place_of(plan.source), progress)
    except InventoryRefused as refusal:
        work.context.log(str(refusal), level="WARN")
        return _remember(work, plan, delivery, None, str(refusal))
    return _remember(work, plan, delivery, verified, "")


def _remember(work: Work, plan: Plan, delivery: Delivery, verified: VerifiedInventory | None, reason: str) -> Inventory:
    facts = {
        "manifest_bucket": delivery.bucket,
        "manifest_key": delivery.manifest_key,
        "state": InventoryState.ARRIVED if verified else InventoryState.REFUSED,
        "reason": reason,
        "checked_at": work.now(),
    }
    if verified:
        facts |= {
            "created_at": verified.created_at,
            "format": verified.format,
            "files": verified.files,
            "bytes": verified.bytes,
        }
    row, _ = Inventory.objects.update_or_create(plan=plan, name=delivery.name, defaults=facts)
    return row


def _begin(work: Work, inventory: str, earlier: Run | None, detail: str) -> Done:
    run, plan, now = work.run, work.run.plan, work.now()
    cut_off = (earlier.cut_off if earlier else run.cut_off) or now
    destination = earlier.destination if earlier else plan.destination.replace(DATE, f"{cut_off:%Y-%m-%d}")
    evidence = plan.evidence or f"{_root(place_of(destination)).uri}_levee/"
    fields = {
        "inventory": inventory,
        "inventory_bucket": run.inventory_bucket,
        "inventory_manifest": run.inventory_manifest,
        "cut_off": cut_off,
        "destination": destination,
        "folder": place_of(evidence.replace(DATE, f"{cut_off:%Y-%m-%d}")).below(f"runs/{run.pk}/").uri,
        "started_at": run.started_at or now,
        "ceiling_usd": plan.cost_ceiling_usd,
    }
    _check_apart(place_of(plan.source), place_of(destination))
    if DATE in plan.destination:
        ensure_bucket(work.vault.s3, place_of(destination).bucket, plan.vault_connection.region)
    if run.state == RunState.WAITING_FOR_INVENTORY and not lifecycle.move(
        run.pk, RunState.RUNNING, job=work.context.job, **fields
    ):
        raise GivenUp
    for name, value in {**fields, "state": RunState.RUNNING}.items():
        setattr(run, name, value)
    return Done(detail)


def _root(place: BucketPrefix) -> BucketPrefix:
    return BucketPrefix(place.bucket)


def _check_apart(source: BucketPrefix, destination: BucketPrefix) -> None:
    """A backup into its own source would copy its copies."""
    if source.bucket != destination.bucket:
        return
    if source.prefix.startswith(destination.prefix) or destination.prefix.startswith(source.prefix):
        raise RunFailed(
            "SourceIsDestination", f"{source.uri} and {destination.uri} overlap: choose a destination of its own."
        )
