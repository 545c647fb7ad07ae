"""What a run costs at AWS: requests, the batch service, keys. Pure. List prices in USD, each may be set."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.core.exceptions import ImproperlyConfigured

from backups.contract import CostDocument

# https://aws.amazon.com/s3/pricing/, US East and Europe (Ireland), November 2026.
LIST_PRICES: dict[str, str] = {
    "batch_job": "0.25",
    "batch_million_objects": "1.00",
    "list_thousand": "0.005",
    "head_thousand": "0.0004",
    "kms_ten_thousand": "0.03",
    "copy_thousand": "0.005",
    "copy_thousand_STANDARD_IA": "0.01",
    "copy_thousand_ONEZONE_IA": "0.01",
    "copy_thousand_GLACIER_IR": "0.02",
    "copy_thousand_GLACIER": "0.03",
    "copy_thousand_DEEP_ARCHIVE": "0.05",
    "copy_thousand_INTELLIGENT_TIERING": "0.005",
    # By the Standard retrieval; what it brings is kept in Standard.
    "retrieval_thousand_GLACIER": "0.05",
    "retrieval_thousand_DEEP_ARCHIVE": "0.10",
    "retrieval_gb_GLACIER": "0.01",
    "retrieval_gb_DEEP_ARCHIVE": "0.02",
    "storage_gb_month": "0.023",
}
GB = 1024**3
PART_BYTES = 512 * 1024 * 1024
KEYS_A_LISTING = 1000


def require_known_items(prices: Mapping[str, str]) -> None:
    """Raise ImproperlyConfigured for a price of something that nothing is reckoned by."""
    if unknown := sorted(set(prices) - set(LIST_PRICES)):
        raise ImproperlyConfigured(f"LEVEE_BACKUP_PRICES has {unknown[0]!r}: the items are {', '.join(LIST_PRICES)}.")


@dataclass(frozen=True, slots=True)
class CostItem:
    """One item of an estimate; `usd` is count times price, not rounded."""

    item: str
    count: int
    unit: str
    price: Decimal
    per: int

    @property
    def usd(self) -> Decimal:
        return self.price * self.count / self.per

    def document(self) -> CostDocument:
        return {
            "item": self.item,
            "count": self.count,
            "unit": self.unit,
            "price": str(self.price),
            "per": self.per,
            "usd": str(self.usd.quantize(Decimal("0.000001"))),
        }


def lines(
    prices: Mapping[str, str],
    *,
    batch_jobs: int = 0,
    batch_objects: int = 0,
    copies: int = 0,
    large: int = 0,
    large_bytes: int = 0,
    listed: int = 0,
    storage_class: str = "",
    uses_kms: bool = False,
) -> tuple[CostItem, ...]:
    """The items of an estimate, those of no count left out.

    Objects of the lanes are paid for, the bytes of the large ones, and keys listed at the destination.
    """
    known = {**LIST_PRICES, **prices}

    def price(name: str) -> Decimal:
        return Decimal(str(known[name]))

    copying = price(_copy_price(storage_class, known))
    # UploadPartCopy per part, and one request each to begin and to complete an upload.
    parts = -(-large_bytes // PART_BYTES) + 2 * large
    found = (
        CostItem("Batch jobs", batch_jobs, "job", price("batch_job"), 1),
        CostItem("Objects of batch jobs", batch_objects, "million objects", price("batch_million_objects"), 10**6),
        CostItem("Copies", copies, "thousand requests", copying, 1000),
        CostItem("Parts of large objects", parts, "thousand requests", copying, 1000),
        CostItem("Listing", -(-listed // KEYS_A_LISTING), "thousand requests", price("list_thousand"), 1000),
        CostItem(
            "Keys of KMS",
            2 * (copies + large) if uses_kms else 0,
            "ten thousand requests",
            price("kms_ten_thousand"),
            10**4,
        ),
    )
    return tuple(line for line in found if line.count)


def retrieval(prices: Mapping[str, str], archive: str, objects: int, size: int, days: int) -> Decimal:
    """What it costs to have S3 restore objects of `size` bytes from an archive, and to keep them for some days."""
    known = {name: Decimal(str(price)) for name, price in {**LIST_PRICES, **prices}.items()}
    requests = known[f"retrieval_thousand_{archive}"] * objects / 1000
    kept = known["storage_gb_month"] * days / 30
    return requests + (known[f"retrieval_gb_{archive}"] + kept) * size / GB


def total(items: Iterable[CostItem]) -> Decimal:
    """The sum in whole cents."""
    return sum((line.usd for line in items), Decimal(0)).quantize(Decimal("0.01"), ROUND_HALF_UP)


def _copy_price(storage_class: str, known: Mapping[str, str]) -> str:
    named = f"copy_thousand_{storage_class}"
    return named if named in known else "copy_thousand"
