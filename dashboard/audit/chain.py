"""The chain over the audit log: each seal is a keyed hash of one entry and of the seal before it.

The key comes from settings.AUDIT_SECRET and is not in the database. Whoever owns the database and not the key can
therefore not change, remove or slip in an entry before the newest seal unnoticed. What they can do: cut the log off at
its end, or change what is younger than ten minutes and have it sealed anew, which a seal kept elsewhere tells; and add
an entry that is sealed as if it were an act of now.

Entries are sealed right after they are committed, and by a tick for those whose process died in between; what is older
than ten minutes without a seal gets none. An entry is sealed in the order in which it was found, not by its number:
numbers are given before a transaction ends.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.audit.models import AuditEntry, AuditSeal

# What a seal covers, in the form it has been hashed in since the first one: a field added later needs a new chain.
SEALED_FIELDS = (
    "id", "at", "actor_id", "actor_name", "source", "ip", "user_agent", "request_id", "action", "target_type",
    "target_id", "target_label", "before", "after", "outcome", "detail", "job_id", "aws_request_ids",
)  # fmt: skip
GENESIS = "0" * 64
SEAL_AT_ONCE = 500
# Numbers below the newest sealed one can still be committed by slower transactions; older ones only `verify` looks for.
LATE_NUMBERS = 10_000
UNSEALED_AFTER = timedelta(minutes=10)


@dataclass(frozen=True)
class ChainVerification:
    """What `verify` found: how many seals hold, the newest seal, and one sentence per break, first break first.

    `since` is when the first seal was made: what stood in the log before is as the database said then.
    """

    sealed: int
    head: str
    unsealed: int
    breaks: tuple[str, ...]
    since: datetime | None = None

    @property
    def holds(self) -> bool:
        return not self.breaks


def seal_of(previous: str, place: int, sealed_at: datetime, entry: AuditEntry) -> str:
    """Return the HMAC-SHA256, in hex, of the seal before, of place and time, and of the entry."""
    key = hmac.digest(settings.AUDIT_SECRET.encode(), b"levee.audit.seals", "sha256")
    sealed = f"{previous}\n{place}\n{_plain(sealed_at)}\n{document_of(entry)}"
    return hmac.new(key, sealed.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def document_of(entry: AuditEntry) -> str:
    """Return what a seal covers of an entry, as the database gives it back."""
    return json.dumps(
        {name: getattr(entry, name) for name in SEALED_FIELDS}, default=_plain, sort_keys=True, ensure_ascii=False
    )


def _plain(value: object) -> str:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else str(value)


def seal_all() -> int:
    """Seal until nothing is left; returns how many."""
    total = 0
    while sealed := seal_new_entries():
        total += sealed
    return total


def seal_new_entries() -> int:
    """Seal what is not sealed yet, at most SEAL_AT_ONCE; returns how many. Zero where another process was faster."""
    head = AuditSeal.objects.order_by("-place").first()
    entries = _unsealed(newer_than=head.entry - LATE_NUMBERS if head else 0)
    if not entries:
        return 0
    try:
        with transaction.atomic():
            AuditSeal.objects.bulk_create(_links(head, entries))
    except IntegrityError:
        return 0
    return len(entries)


def verify(expected_head: str = "") -> ChainVerification:
    """Recompute every seal; `expected_head` is a seal written down elsewhere that the chain has to hold.

    A chain cut off at its end is whole again for whoever looks at it alone: only a seal kept elsewhere tells.
    """
    breaks: list[str] = []
    since, previous, sealed, found = None, GENESIS, 0, not expected_head
    for expected_place, (seal, entry) in enumerate(_sealed_entries(), start=1):
        complaint = _complaint(expected_place, seal, entry, previous)
        if complaint:
            breaks.append(complaint)
            break
        since, previous, sealed = since or seal.sealed_at, seal.seal, expected_place
        found = found or hmac.compare_digest(seal.seal, expected_head)
    if not breaks and not found:
        breaks.append(f"The seal {expected_head[:16]}… is not in the chain: entries were removed from its end.")
    unsealed = AuditEntry.objects.exclude(pk__in=AuditSeal.objects.values("entry"))
    if late := unsealed.filter(at__lt=timezone.now() - UNSEALED_AFTER).order_by("pk").first():
        breaks.append(
            f"Entry {late.pk} of {late.at:%Y-%m-%d %H:%M} UTC has no seal: either nothing was there to seal it within "
            "ten minutes, or it was put in later."
        )
    return ChainVerification(sealed, previous if sealed else "", unsealed.count(), tuple(breaks), since)


def _complaint(place: int, seal: AuditSeal, entry: AuditEntry | None, previous: str) -> str:
    if seal.place != place:
        return f"Seal {place} is missing: the chain goes on with {seal.place}."
    if entry is None:
        return f"Entry {seal.entry} was removed: seal {seal.place} of {seal.sealed_at:%Y-%m-%d %H:%M} UTC names it."
    if not hmac.compare_digest(seal.seal, seal_of(previous, place, seal.sealed_at, entry)):
        what = f"Entry {seal.entry} ({entry.action} of {entry.at:%Y-%m-%d %H:%M} UTC) is not what seal {place} sealed"
        return f"{what}, or LEVEE_AUDIT_SECRET is not what it was." if place == 1 else f"{what}."
    return ""


def _unsealed(newer_than: int) -> Sequence[AuditEntry]:
    recent = AuditEntry.objects.filter(pk__gt=newer_than, at__gt=timezone.now() - UNSEALED_AFTER)
    sealed = AuditSeal.objects.filter(entry__gt=newer_than).values("entry")
    return list(recent.exclude(pk__in=sealed).order_by("pk")[:SEAL_AT_ONCE])


def _links(head: AuditSeal | None, entries: Sequence[AuditEntry]) -> Iterator[AuditSeal]:
    place, previous, now = (head.place, head.seal, timezone.now()) if head else (0, GENESIS, timezone.now())
    for entry in entries:
        place += 1
        previous = seal_of(previous, place, now, entry)
        yield AuditSeal(place=place, entry=entry.pk, sealed_at=now, seal=previous)


def _sealed_entries() -> Iterator[tuple[AuditSeal, AuditEntry | None]]:
    after = 0
    while seals := list(AuditSeal.objects.filter(place__gt=after).order_by("place")[:SEAL_AT_ONCE]):
        entries = AuditEntry.objects.in_bulk([seal.entry for seal in seals])
        for seal in seals:
            yield seal, entries.get(seal.entry)
        after = seals[-1].place
