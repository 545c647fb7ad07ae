"""First stage: an inventory that is late enough and whole, or the moment from which the source is listed."""

import re
from collections.abc import Callable
from datetime import timedelta

from backups import lifecycle
from backups.destinations import DATE
from backups.models import Inventory, InventoryState, Run, RunState, Stage
from backups.runs.work import Done, GivenUp, RunFailed, StageAnswer, Waiting, Work, read_pieces
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.inventory_manifest import InventoryManifest, read_manifest, verify_part
from lake.backup.objects import BucketPrefix, FileUnreadable, place_of

_FOLDER = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\dZ")
NEWEST = 5
NEEDED = {"size": "Size", "last_modified_date": "LastModifiedDate", "e_tag": "ETag"}
"""Columns without which nothing can be planned, and what the inventory's configuration calls them."""
WAIT_SECONDS = 60.0
_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


def newest_delivery(s3: S3, place: BucketPrefix) -> str:
    """The key of the newest dated folder under an inventory's place that has a checksum, "" where there is none."""
    pages = s3.list(place.bucket, place.prefix, delimiter="/")
    folders = [prefix for page in pages for prefix in page.prefixes if _FOLDER.fullmatch(_name(prefix))]
    newest = sorted(folders, key=_name, reverse=True)[:NEWEST]
    return next((folder for folder in newest if s3.head(place.bucket, f"{folder}manifest.checksum")), "")


def verify(
    s3: S3, bucket: str, folder: str, source: BucketPrefix, progress: Callable[[int, int], None]
) -> InventoryManifest:
    """Check a delivery's manifest and files by size and MD5; `progress` is told bytes. FileUnreadable, AwsError."""
    checksum = s3.get(bucket, f"{folder}manifest.checksum").data
    body = b"".join(read_pieces(s3, bucket, f"{folder}manifest.json"))
    manifest = read_manifest(body, checksum, source_bucket=source.bucket)
    if missing := [name for column, name in NEEDED.items() if column not in manifest.columns]:
        raise FileUnreadable(f"it lacks {', '.join(missing)}: add them to the inventory's configuration.")
    total, done = manifest.bytes, 0
    for part in manifest.parts:
        done += verify_part(part, read_pieces(s3, bucket, part.key))
        progress(done, total)
    return manifest


def _name(folder: str) -> str:
    return folder.rstrip("/").rpartition("/")[2]


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


def _next_delivery(work: Work) -> str | Waiting:
    """The folder of the newest delivery; for a run of the schedule only of one that no earlier run has used."""
    run, place = work.run, place_of(work.run.plan.inventory)
    newest = newest_delivery(work.vault.s3, place)
    used = _newest_used(run) if run.due_at else ""
    if not newest or _name(newest) <= used:
        why = f"the newest, {_name(newest)}, is in an earlier run already" if newest else "none has arrived yet"
        return Waiting(WAIT_SECONDS, f"Waits for an inventory under {place.uri}: {why}.")
    return newest


def _newest_used(run: Run) -> str:
    used = run.plan.runs.filter(state__in=(RunState.COMPLETE, RunState.COMPLETE_WITH_GAPS)).exclude(inventory="")
    return used.order_by("-inventory").values_list("inventory", flat=True).first() or ""


def _looked_at(work: Work, folder: str) -> Inventory:
    """Verify a delivery once; one that was refused is looked at again, since parts may arrive late."""
    plan, name = work.run.plan, _name(folder)
    known = plan.inventories.filter(name=name, state=InventoryState.ARRIVED).first()
    if known is not None:
        return known
    work.say(f"Verifies inventory {name}.")

    def progress(done: int, total: int) -> None:
        work.context.check_cancelled()
        work.show(Stage.INVENTORY, done=done, total=total)

    bucket = place_of(plan.inventory).bucket
    facts = {"manifest_bucket": bucket, "manifest_key": f"{folder}manifest.json", "checked_at": work.now()}
    try:
        whole = verify(work.vault.s3, bucket, folder, place_of(plan.source), progress)
    except FileUnreadable as error:
        reason = f"Inventory {name} cannot be trusted: {error}"
        work.context.log(reason, level="WARN")
        facts |= {"state": InventoryState.REFUSED, "reason": reason}
    else:
        facts |= {
            "state": InventoryState.ARRIVED,
            "reason": "",
            "created_at": whole.created_at,
            "format": whole.format,
            "files": len(whole.parts),
            "bytes": whole.bytes,
        }
    row, _ = Inventory.objects.update_or_create(plan=plan, name=name, defaults=facts)
    return row


def _begin(work: Work, inventory: str, earlier: Run | None, detail: str) -> Done:
    run, plan, now = work.run, work.run.plan, work.now()
    cut_off = (earlier.cut_off if earlier else run.cut_off) or now
    destination = earlier.destination if earlier else plan.destination.replace(DATE, f"{cut_off:%Y-%m-%d}")
    evidence = plan.evidence or f"s3a://{place_of(destination).bucket}/_levee/"
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


def _check_apart(source: BucketPrefix, destination: BucketPrefix) -> None:
    """A backup into its own source would copy its copies."""
    if source.bucket != destination.bucket:
        return
    if source.prefix.startswith(destination.prefix) or destination.prefix.startswith(source.prefix):
        raise RunFailed(
            "SourceIsDestination", f"{source.uri} and {destination.uri} overlap: choose a destination of its own."
        )


def ensure_bucket(s3: S3, bucket: str, region: str) -> None:
    """Create a bucket unless it is there. Raises AwsError, also where the name is another account's."""
    try:
        next(iter(s3.list(bucket, "", max_keys=1)), None)
    except AwsError as error:
        if error.code != "NoSuchBucket":
            raise
        # us-east-1 is what S3 takes where no region is named, and it may not be named (CreateBucket).
        place = f"<LocationConstraint>{region}</LocationConstraint>"
        body = f'<CreateBucketConfiguration xmlns="{_NAMESPACE}">{place}</CreateBucketConfiguration>'
        sent = b"" if region == "us-east-1" else body.encode()
        s3.ask("s3:CreateBucket", bucket, "", method="PUT", body=sent, target=f"s3://{bucket}")
