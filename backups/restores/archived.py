"""What of a version lies in an archive of S3: it is asked for by a plan of its own, and restored by the next one."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from backups.restores.calls import AT_ONCE, at_once, objects
from backups.restores.path_contents import in_words
from backups.restores.planning import MOST_FILES, plan_of
from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, bucket_arn, done
from changes.plan import ChangePlan
from lake.aws.archives import ask_restoration, read_restoration
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import ARCHIVE_CLASSES, BucketPrefix
from lake.points.reading import FileCopy, NotRestorable, RestorableVersion

HEADS_AT_ONCE = 16
LEAST_LEFT = timedelta(hours=1)
"""For which a copy of S3's has to be there yet, so that it is read before it goes."""
KEPT_DAYS = 7
"""For which S3 keeps what it restored from an archive."""
MOST_HOURS = {"GLACIER": 5, "DEEP_ARCHIVE": 12}
"""That a Standard retrieval typically takes at most (S3 User Guide, "Understanding archive retrieval options")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskArchive(LakeCall):
    """Asks S3 to restore objects of one archive class of a backup for some days. `backup_key` decrypts the backup."""

    backup: BucketPrefix
    backup_key: str
    storage_class: str
    files: tuple[FileCopy, ...]

    operation = "s3:RestoreObject"

    @property
    def size(self) -> int:
        return sum(one.size for one in self.files)

    @property
    def says(self) -> str:
        what = f"{objects(len(self.files))} of {self.size:,} bytes"
        return f"Asks S3 to restore {what} from {self.storage_class} for {KEPT_DAYS} days."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        bucket = bucket_arn(self.backup.bucket)
        place = f"{bucket}/{self.backup.prefix}*"
        return (
            Permission("s3:ListBucket", bucket),
            *(Permission(action, place) for action in ("s3:GetObject", self.operation)),
            *(Permission("kms:Decrypt", key) for key in (self.backup_key,) if key),
        )

    def send(self, sending: Sending) -> Answer:
        asked = sum(at_once(sending, AT_ONCE, partial(self._ask, sending), self.files))
        if not asked:
            return already(f"S3 is at what was asked for of {self.storage_class}.")
        return done(f"S3 was asked for {objects(asked)} of {self.storage_class}.")

    def _ask(self, sending: Sending, one: FileCopy) -> bool:
        """False where S3 is at it already."""
        try:
            request_id = ask_restoration(sending.lake.s3, self.backup.bucket, one.key, KEPT_DAYS)
        except AwsError as error:
            if error.code not in {"NoSuchKey", "InvalidObjectState"}:
                raise
            where = f"s3a://{self.backup.bucket}/{one.key}"
            told = f"{where} is not in {self.storage_class} any more, or its endpoint has no archive. Plan again."
            raise Stop(told, "Moved") from error
        if request_id is not None and not sending.taken:  # of many thousand requests one is kept
            sending.took(request_id)
        return request_id is not None


def asked_by(plan: ChangePlan) -> list[AskArchive]:
    """The calls of a plan that asks S3 and restores nothing; none of any other."""
    return [call for call in plan.calls if isinstance(call, AskArchive)]


def asking_first(
    s3: S3, found: RestorableVersion, plan: ChangePlan, files: Sequence[FileCopy], backup_key: str, now: datetime
) -> ChangePlan:
    """A plan that needs these files of the backup; where some are archived, the one that asks S3 for them.

    Raises NotRestorable while S3 is at them, AwsError.
    """
    version, bucket = found.state.version, found.point.place.bucket
    archived = [one for one in files if one.storage_class in ARCHIVE_CLASSES]
    with ThreadPoolExecutor(HEADS_AT_ONCE) as pool:
        seen = list(pool.map(lambda one: read_restoration(s3, bucket, one.key), archived))
    both = list(zip(archived, seen, strict=True))
    coming = [one for one, restoration in both if restoration and not restoration.is_there]
    ends = {one: restoration.until for one, restoration in both if restoration and restoration.until}
    soon = now + LEAST_LEFT
    lacking = [one for one, restoration in both if restoration is None or ends.get(one, soon) < soon]
    if len(lacking) > MOST_FILES:
        raise NotRestorable(
            f"Version {version:,} has {objects(len(lacking))} in an archive, and at most {MOST_FILES:,} are asked for: "
            "let S3 Batch Operations restore them, and plan again when they are there."
        )
    if lacking:
        over_before = now + timedelta(hours=_hours(lacking))  # S3 puts off the end of what it was asked for again
        asked = (*lacking, *(one for one, until in ends.items() if soon <= until < over_before))
        return _plan_asking(found, asked, len(files), len(coming), backup_key)
    if coming:
        raise NotRestorable(
            f"S3 was asked for what is archived of version {version:,}, and has not restored {len(coming):,} of "
            f"{objects(len(archived))} yet, such as s3a://{bucket}/{coming[0].key}. A Standard retrieval typically "
            f"takes up to {_hours(coming)} hours; S3 does not say when it began. Plan again later."
        )
    return replace(plan, consequences=(*plan.consequences, *_of_archives(files, ends)))


def _of_archives(files: Sequence[FileCopy], ends: Mapping[FileCopy, datetime]) -> Iterator[str]:
    if ends:
        yield (
            f"What is archived of it in the backup, {objects(len(ends))}, can be read until "
            f"{in_words(min(ends.values()))}: afterwards S3 has to be asked again."
        )
    if tiered := sum(one.storage_class == "INTELLIGENT_TIERING" for one in files):
        yield (
            f"Whether what is in Intelligent-Tiering, {objects(tiered)}, is in an archive tier, where nothing reads "
            "it, is not known: no listing tells."
        )


def _plan_asking(
    found: RestorableVersion, asked: Sequence[FileCopy], needed: int, coming: int, backup_key: str
) -> ChangePlan:
    place, classes = found.point.place, sorted({one.storage_class for one in asked})
    files = {name: tuple(one for one in asked if one.storage_class == name) for name in classes}
    ask = partial(AskArchive, backup=place, backup_key=backup_key)
    calls = tuple(ask(storage_class=name, files=of_class) for name, of_class in files.items())
    said = (
        f"Nothing is restored by this yet. Of {objects(needed)} that are needed S3 is asked for {len(asked):,}, as "
        f"nothing reads or copies what is archived.{f' It is still at {coming:,} more.' if coming else ''}",
        f"By its Standard retrieval S3 typically has them within {_hours(asked)} hours, and keeps them for {KEPT_DAYS} "
        "days. Plan again then: the plan says if all is there. Neither the objects nor their storage class change.",
    )
    return plan_of(found, f"Ask S3 for the archived objects of version {found.state.version:,}", calls, iter(said))


def _hours(files: Sequence[FileCopy]) -> int:
    return max(MOST_HOURS[one.storage_class] for one in files)
