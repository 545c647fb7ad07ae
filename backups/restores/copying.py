"""The call that copies the files of a version to a path of its own, and may be sent twice.

The path is claimed first, by an object that says what is restored there: what lies there afterwards is of this plan,
or stops it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial

from backups.restores.calls import AT_ONCE, WriteLog, at_once, listed, objects
from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, bucket_arn, done
from lake.aws.copying import COPY_LIMIT, Copy, copied
from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import ARCHIVE_CLASSES, CLAIM, BucketPrefix
from lake.points.copies import LOG
from lake.points.reading import FileCopy
from lake.spark.jobs import copy_files
from lake.spark.messages import SparkJob

COPIED = "copied"
MANY = 1_000
"""So many files are copied by Spark, where it has the keys."""
OF_A_JOB, BYTES_OF_A_JOB = 5_000, 250 * 10**9
"""What one of its jobs copies: far less than an hour's work, which is as long as a job and its keys last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyFiles(LakeCall):
    """Copies data files and deletion vectors out of a backup, before `log` is written; S3 copies, each by its ETag.

    `claim` is the content of the object that claims the path.
    """

    files: tuple[FileCopy, ...]
    claim: bytes
    log: WriteLog

    operation = "s3:PutObject, s3:CopyObject"

    @property
    def lacking(self) -> tuple[FileCopy, ...]:
        """What it is going to copy, as far as the plan knows."""
        return self.files

    def needed(self, s3: S3) -> list[FileCopy]:
        """What it has to copy, by what lies at the path now. Raises Stop where anything else lies there."""
        there = self.there(s3)
        return [one for one in self.files if one.path not in there or not self.is_right(one, there[one.path])]

    @property
    def says(self) -> str:
        size = sum(one.size for one in self.files)
        what = f"{objects(len(self.files))} of {size:,} bytes"
        return f"Claims {self.log.table.uri} by {CLAIM}, then copies {what} to it."

    @property
    def condition(self) -> str:
        return f"nothing but this restore's lies in {self.log.table.uri}, and each object has the ETag that was read."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        place = f"{bucket_arn(self.log.table.bucket)}/{self.log.table.prefix}*"
        # Spark renames a file of its commit, which S3A does by a copy and a delete.
        deletes = Permission("s3:DeleteObject", f"{place.removesuffix('*')}{LOG}*")
        claims = Permission("s3:GetObject", f"{bucket_arn(self.log.table.bucket)}/*{CLAIM}")
        return Permission("s3:AbortMultipartUpload", place), deletes, claims, *self.log.permissions

    def send(self, sending: Sending) -> Answer:
        there, etags, lacking = self.claimed(sending), dict[str, str](), []
        for one in self.files:
            found = there.get(one.path)
            if found is not None and self.is_right(one, found):
                etags[one.path] = found.etag
            else:
                lacking.append(one)
        there.clear()  # which takes 600 MB for a million
        etags |= self._copied(sending, lacking)
        self._require_all(self.there(sending.lake.s3), etags)
        if not lacking:
            return already(f"All {objects(len(self.files))} were there.")
        said = f"{objects(len(lacking))} copied; all {len(self.files):,} were then listed with size and ETag."
        return replace(done(said), counts={COPIED: len(lacking)})

    def claimed(self, sending: Sending) -> dict[str, ObjectSummary]:
        """What of this restore lies at the path, which is claimed from then on. Raises Stop."""
        s3, table = sending.lake.s3, self.log.table
        self.there(s3)
        key = table.prefix + CLAIM
        sending.write(partial(s3.put, table.bucket, key, self.claim, encryption_key=self.log.encryption_key))
        there = self.there(s3)  # who came between has lost the claim, or is seen here
        if above := claimed_above(s3, table):
            raise Stop(above, "Occupied")
        return there

    def is_right(self, one: FileCopy, found: ObjectSummary) -> bool:
        """Whether a file needs no copy. Raises Stop where it may not be copied over what is there."""
        if found.size != one.size:
            raise Stop(f"{self.log.table.below(one.path).uri} has another size. {self.log.instead}", "Occupied")
        # An ETag of parts, or under a key, says nothing of the bytes, and what is archived is not read: copied again.
        return found.etag == one.etag and found.storage_class not in ARCHIVE_CLASSES

    def there(self, s3: S3) -> dict[str, ObjectSummary]:
        """What of this restore lies at the path, by paths below it. Raises Stop where anything else does."""
        table, expected = self.log.table, {one.path for one in self.files}
        found = listed(s3, table)
        for path in found:
            is_of_log = path.startswith(LOG) and self.log.is_expected(path[len(LOG) :])
            if path != CLAIM and path not in expected and not is_of_log:
                raise Stop(f"{table.uri}{path} is there already. {self.log.instead}", "Occupied")
        if found and (CLAIM not in found or s3.get(table.bucket, table.prefix + CLAIM).data != self.claim):
            raise Stop(f"{table.uri} holds another restore, or part of one. {self.log.instead}", "Occupied")
        return found

    def _copied(self, sending: Sending, lacking: Sequence[FileCopy]) -> Iterator[tuple[str, str]]:
        """The path of each of those, and its new ETag."""
        by_spark = list[FileCopy]()
        if sending.spark is not None and len(lacking) >= MANY:
            # Of what is copied in parts, a Spark that is ended would leave the parts, which are paid for.
            by_spark = [one for one in lacking if one.size <= COPY_LIMIT]
            lacking = [one for one in lacking if one.size > COPY_LIMIT]
        yield from at_once(sending, AT_ONCE, partial(self._copy_one, sending), lacking)
        made = 0
        for some in _jobs(by_spark):
            sending.progress(made, len(by_spark))
            yield from zip([one.path for one in some], self._by_spark(sending, some), strict=True)
            made += len(some)

    def _by_spark(self, sending: Sending, some: Sequence[FileCopy]) -> Sequence[str]:
        """The new ETag of each of those."""
        owners = sending.lake.s3.owners_of(self.log.backup.bucket, self.log.table.bucket)
        params = {"copies": [astuple(self._copy_of(one)) for one in some], "bucket_owners": owners}
        if not sending.taken:
            sending.took("")  # it may have copied some by the time it fails
        told = sending.own_spark().run(SparkJob(copy_files.KIND, params)).result
        if told["failed"]:
            number, error = told["failed"]
            raise self._refusal(some[number], AwsError(*error))
        return list(told["etags"])

    def _copy_of(self, one: FileCopy) -> Copy:
        table = self.log.table
        return Copy(
            self.log.backup.bucket,
            one.key,
            table.bucket,
            table.prefix + one.path,
            one.size,
            etag=one.etag,
            encryption_key=self.log.encryption_key,
            with_tags=False,
        )

    def _copy_one(self, sending: Sending, one: FileCopy) -> tuple[str, str]:
        """The path and its new ETag."""
        try:
            etag = copied(sending.lake.s3, self._copy_of(one))
        except AwsError as error:
            raise self._refusal(one, error) from error
        if not sending.taken:
            sending.took("")
        return one.path, etag

    def _refusal(self, one: FileCopy, error: AwsError) -> Stop | AwsError:
        """What to raise where a file could not be copied."""
        where = f"s3a://{self.log.backup.bucket}/{one.key}"
        if error.is_archived:
            return Stop(
                f"{where} lies in an archive now, or in an archive tier of Intelligent-Tiering. Plan again: of a tier, "
                "when S3 has restored it (RestoreObject without days).",
                "Archived",
            )
        if error.is_condition_failed or error.code == "NoSuchKey":
            return Stop(f"{where} is not the object any more that was read for the plan.", "Moved")
        return error

    def _require_all(self, there: dict[str, ObjectSummary], etags: dict[str, str]) -> None:
        """Raises Stop where the path does not hold each file as it was copied."""
        for one in self.files:
            found = there.get(one.path)
            if found is None or (found.size, found.etag) != (one.size, etags[one.path]):
                what = "is not there" if found is None else "is not what was copied"
                raise Stop(f"{self.log.table.below(one.path).uri} {what}: somebody changes the path.", "Occupied")


def _jobs(files: Sequence[FileCopy]) -> Iterator[list[FileCopy]]:
    """What one job of Spark copies after the other."""
    some, size = list[FileCopy](), 0
    for one in files:
        if some and (len(some) == OF_A_JOB or size + one.size > BYTES_OF_A_JOB):
            yield some
            some, size = [], 0
        some.append(one)
        size += one.size
    if some:
        yield some


def claimed_above(s3: S3, table: BucketPrefix) -> str:
    """The sentence that refuses a path inside another restore's, whose VACUUM would take its files; "" for none."""
    parts = table.prefix.rstrip("/").split("/")
    for depth in range(len(parts)):
        above = BucketPrefix(table.bucket, "".join(f"{part}/" for part in parts[:depth]))
        if s3.head(above.bucket, above.prefix + CLAIM) is not None:
            return f"{table.uri} lies inside {above.uri}, where something was restored, or is. Choose another path."
    return ""
