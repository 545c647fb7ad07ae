"""What of a version lies in an archive of S3: it is asked for by a plan of its own, and restored by the next one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from backups.restores.actions import RestoreKind
from backups.restores.calls import at_once, objects
from backups.restores.copying import AT_ONCE, CopyFiles
from backups.restores.path_contents import in_words
from backups.restores.planning import MOST_FILES, plan_of
from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, bucket_arn, done
from changes.plan import ChangePlan
from lake.aws.archives import ask_restoration, read_restoration
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import ARCHIVE_CLASSES, BucketPrefix
from lake.points.reading import FileCopy, NotRestorable, RestorableVersion

ASKED = "asked"
KEPT_DAYS = 7
"""For which S3 keeps what it restored from an archive."""
MOST_HOURS = {"GLACIER": 5, "DEEP_ARCHIVE": 12}
"""That a Standard retrieval typically takes at most (S3 User Guide, "Understanding archive retrieval options")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskArchive(LakeCall):
    """Asks S3 to restore objects of one archive class of a backup for some days."""

    backup: BucketPrefix
    storage_class: str
    files: tuple[FileCopy, ...]

    operation = "s3:RestoreObject"

    @property
    def size(self) -> int:
        return sum(one.size for one in self.files)

    @property
    def says(self) -> str:
        what = f"{objects(len(self.files))} of {self.size:,} bytes"
        return f"Asks S3 to restore {what} from {self.storage_class}, and to keep them for {KEPT_DAYS} days."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        bucket = bucket_arn(self.backup.bucket)
        actions = ("s3:GetObject", self.operation)
        place = f"{bucket}/{self.backup.prefix}*"
        return (Permission("s3:ListBucket", bucket), *(Permission(action, place) for action in actions))

    def send(self, sending: Sending) -> Answer:
        asked = sum(at_once(sending, AT_ONCE, partial(self._ask, sending), self.files))
        if not asked:
            return already(f"S3 had been asked for all {objects(len(self.files))}.")
        return replace(done(f"S3 was asked for {objects(asked)} of {self.storage_class}."), counts={ASKED: asked})

    def _ask(self, sending: Sending, one: FileCopy) -> bool:
        try:
            is_new = ask_restoration(sending.lake.s3, self.backup.bucket, one.key, KEPT_DAYS)
        except AwsError as error:
            if error.code in {"NoSuchKey", "InvalidObjectState"}:
                where = f"s3a://{self.backup.bucket}/{one.key}"
                raise Stop(f"{where} is not in {self.storage_class} any more. Plan again.", "Moved") from error
            raise
        if is_new and not sending.taken:  # of many thousand requests one is kept
            sending.took("")
        return is_new


def asked_by(plan: ChangePlan) -> list[AskArchive]:
    """The calls of a plan that asks S3 and restores nothing; none of any other."""
    return [call for call in plan.calls if isinstance(call, AskArchive)]


def asking_first(s3: S3, found: RestorableVersion, plan: ChangePlan, kind: RestoreKind) -> ChangePlan:
    """A plan to restore a version; where some of what it reads is in an archive, the one that asks S3 for that.

    Raises NotRestorable while S3 is at it, AwsError.
    """
    archived = [one for one in _read_by(plan, found) if one.storage_class in ARCHIVE_CLASSES]
    version, bucket = found.state.version, found.point.place.bucket
    if len(archived) > MOST_FILES:
        raise NotRestorable(
            f"Version {version:,} has {objects(len(archived))} in the archive {archived[0].storage_class}, and at most "
            f"{MOST_FILES:,} are asked for: let S3 Batch Operations restore them, and plan again when they are there."
        )
    with ThreadPoolExecutor(AT_ONCE) as pool:
        seen = list(pool.map(lambda one: read_restoration(s3, bucket, one.key), archived))
    lacking = [one for one, restoration in zip(archived, seen, strict=True) if restoration is None]
    coming = [one for one, restoration in zip(archived, seen, strict=True) if restoration and not restoration.is_there]
    if lacking:
        return _plan_asking(found, plan, lacking, len(coming))
    if coming:
        raise NotRestorable(
            f"Of {objects(len(archived))} of version {version:,} that S3 was asked to restore from an archive, "
            f"{len(coming):,} are not there yet, such as s3a://{bucket}/{coming[0].key}. That takes up to "
            f"{_hours(coming)} hours: plan again then."
        )
    ends = [restoration.until for restoration in seen if restoration and restoration.until]
    if ends and kind == "instant":
        until = (
            f"{objects(len(archived))} of it lie in an archive, and S3 keeps its copies of them until "
            f"{in_words(min(ends))}: afterwards not all of it can be read before S3 is asked again."
        )
        return replace(plan, consequences=(*plan.consequences, until))
    return plan


def _read_by(plan: ChangePlan, found: RestorableVersion) -> Iterator[FileCopy]:
    """The files of the backup that a plan copies; of one that copies none, those that its readers read."""
    copying = [call for call in plan.calls if isinstance(call, CopyFiles) and call.log.backup == found.point.place]
    if not copying:
        yield from found.files
    for call in copying:
        yield from call.lacking


def _plan_asking(found: RestorableVersion, plan: ChangePlan, lacking: list[FileCopy], coming: int) -> ChangePlan:
    version, classes = found.state.version, sorted({one.storage_class for one in lacking})
    of_class = {name: tuple(one for one in lacking if one.storage_class == name) for name in classes}
    calls = tuple(
        AskArchive(backup=found.point.place, storage_class=name, files=files) for name, files in of_class.items()
    )
    return plan_of(
        found,
        f"Ask S3 for the archived objects of version {version:,}",
        calls,
        _of_asking(found, plan, lacking, coming),
    )


def _of_asking(found: RestorableVersion, plan: ChangePlan, lacking: list[FileCopy], coming: int) -> Iterator[str]:
    of = sum(1 for _ in _read_by(plan, found))
    yield (
        f"Nothing is restored by this yet: {len(lacking):,} of {objects(of)} lie in an archive, where nothing reads or "
        "copies them." + (f" S3 was asked for {coming:,} more before, and is still at them." if coming else "")
    )
    yield (
        f"By its Standard retrieval S3 typically has them within {_hours(lacking)} hours, and keeps them for "
        f"{KEPT_DAYS} days. Plan again then: the plan says whether they are all there. Neither the objects nor their "
        "storage class change."
    )


def _hours(files: list[FileCopy]) -> int:
    return max(MOST_HOURS[one.storage_class] for one in files)
