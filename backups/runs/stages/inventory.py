"""First stage: an inventory that is late enough and whole, or the moment from which the source is listed."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from backups import lifecycle
from backups.destinations import DATE
from backups.models import Inventory, InventoryState, Plan, Run, RunState, Stage
from backups.runs.ports import place_of
from backups.runs.work import Done, GivenUp, RunFailed, StageAnswer, Waiting, Work
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.inventory_manifest import InventoryManifest, InventoryPart, read_manifest, verify_part
from lake.backup.objects import BucketPrefix, FileUnreadable

_FOLDER = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\dZ")
_CHUNK = 16 * 1024 * 1024
NEWEST = 5
NEEDED = {"size": "Size", "last_modified_date": "LastModifiedDate", "e_tag": "ETag"}
"""Columns without which nothing can be planned, and what the inventory's configuration calls them."""
WAIT_SECONDS = 60.0
_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


class InventoryRefused(Exception):
    """A delivery that cannot be trusted; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One dated folder with a checksum in it: it has arrived."""

    name: str
    bucket: str
    manifest_key: str


@dataclass(frozen=True, slots=True)
class VerifiedInventory:
    """A delivery whose manifest and files are whole; `created_at` (UTC) is when S3 began the scan."""

    created_at: datetime
    format: str
    files: int
    bytes: int


def deliveries(s3: S3, place: BucketPrefix) -> list[Delivery]:
    """What has arrived under an inventory's place, newest first, at most the newest few."""
    folders: list[str] = []
    for page in s3.list(place.bucket, place.prefix, delimiter="/"):
        folders += [prefix for prefix in page.prefixes if _FOLDER.fullmatch(_last(prefix))]
    newest = sorted(folders, key=_last, reverse=True)[:NEWEST]
    arrived = (folder for folder in newest if s3.head(place.bucket, f"{folder}manifest.checksum"))
    return [Delivery(_last(folder), place.bucket, f"{folder}manifest.json") for folder in arrived]


def verify(
    s3: S3, delivery: Delivery, source: BucketPrefix, progress: Callable[[int, int], None] = lambda done, total: None
) -> VerifiedInventory:
    """Check manifest and files by size and MD5; `progress` is told bytes. Raises InventoryRefused or AwsError."""
    try:
        return _verify(s3, delivery, source, progress)
    except FileUnreadable as error:
        raise InventoryRefused(f"Inventory {delivery.name} cannot be trusted: {error}") from error


def _verify(
    s3: S3, delivery: Delivery, source: BucketPrefix, progress: Callable[[int, int], None]
) -> VerifiedInventory:
    manifest = _manifest(s3, delivery, source)
    missing = [name for column, name in NEEDED.items() if column not in manifest.columns]
    if missing:
        raise FileUnreadable(f"it lacks {', '.join(missing)}: add them to the inventory's configuration.")
    total, done = sum(part.size for part in manifest.parts), 0
    for part in manifest.parts:
        done += verify_part(part, _pieces(s3, delivery.bucket, part))
        progress(done, total)
    return VerifiedInventory(manifest.created_at, manifest.format, len(manifest.parts), total)


def _last(prefix: str) -> str:
    return prefix.rstrip("/").rpartition("/")[2]


def _manifest(s3: S3, delivery: Delivery, source: BucketPrefix) -> InventoryManifest:
    checksum = s3.get(delivery.bucket, f"{delivery.manifest_key.removesuffix('json')}checksum").data
    try:
        body = s3.get(delivery.bucket, delivery.manifest_key).data
    except AwsError as error:
        if error.is_missing:
            raise FileUnreadable("it has a checksum and no manifest.json.") from error
        raise
    return read_manifest(body, checksum, source_bucket=source.bucket)


def _pieces(s3: S3, bucket: str, part: InventoryPart) -> Iterator[bytes]:
    """The bytes of a part, a range at a time, so that memory stays small however long the file is."""
    read = 0
    try:
        while read < part.size or read == 0:
            body = s3.get(bucket, part.key, first=read, last=read + _CHUNK - 1)
            if body.size != part.size:
                raise FileUnreadable(
                    f"{part.key} has {body.size:,} bytes, and the inventory's manifest says {part.size:,}."
                )
            yield body.data
            read += len(body.data)
            if not body.data:
                return
    except AwsError as error:
        if error.is_missing:
            raise FileUnreadable(f"{part.key} of the inventory is not there.") from error
        raise


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


def ensure_bucket(s3: S3, bucket: str, region: str) -> None:
    """Create a bucket unless it is there. Raises AwsError, also where the name is another account's."""
    try:
        next(iter(s3.list(bucket, "", max_keys=1)), None)
    except AwsError as error:
        if error.code != "NoSuchBucket":
            raise
        _create(s3, bucket, region)


def _create(s3: S3, bucket: str, region: str) -> None:
    # us-east-1 is what S3 takes where no region is named, and it may not be named (CreateBucket, LocationConstraint).
    place = f"<LocationConstraint>{region}</LocationConstraint>" if region != "us-east-1" else ""
    body = (
        f'<CreateBucketConfiguration xmlns="{_NAMESPACE}">{place}</CreateBucketConfiguration>'.encode()
        if place
        else b""
    )
    s3.ask("s3:CreateBucket", bucket, "", method="PUT", body=body, target=f"s3://{bucket}")
