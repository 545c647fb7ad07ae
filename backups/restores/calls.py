"""The calls by which a table is restored, each safe to send twice."""

import re
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, bucket_arn, done
from lake.aws.s3 import S3
from lake.backup.objects import BucketPrefix
from lake.delta.file_actions import LogUnreadable, located
from lake.delta.opened_log import LogOpener
from lake.points.copies import LOG
from lake.points.reading import LogCopy, in_order_of_writing

_ESCAPED = re.compile(r"[\x00-\x20\x7f\"#%<>?\[\\\]^`{|}\s]")
"""What Java's URIs escape in a path, and with them Spark: where it compares paths, others would not be the same."""
_OF_KEYS = ("kms:Decrypt", "kms:GenerateDataKey")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLog(LakeCall):
    """Writes a log that opens a version of a table where its files lie in a backup.

    `source` is the table's bucket and its root there, `backup` the place of the backup, `table` that of the new table
    in the same bucket.
    """

    source: BucketPrefix
    backup: BucketPrefix
    table: BucketPrefix
    log: tuple[LogCopy, ...]
    encryption_key: str

    operation = "s3:GetObject, s3:PutObject"

    @property
    def says(self) -> str:
        return f"Writes a log of {_objects(len(self.log))}, which names the table's files in the backup."

    @property
    def condition(self) -> str:
        return f"nothing else lies in {self.table.uri}{LOG}."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        bucket = bucket_arn(self.table.bucket)
        return (
            Permission("s3:ListBucket", bucket),
            Permission("s3:GetObject", f"{bucket}/{self.backup.prefix}*"),
            Permission("s3:PutObject", f"{bucket}/{self.table.prefix}*"),
            *(Permission(action, self.encryption_key) for action in _OF_KEYS if self.encryption_key),
        )

    def send(self, sending: Sending) -> Answer:
        s3, opener, written = sending.lake.s3, LogOpener(self._place), 0
        self._require_nothing_else(s3)
        for one in in_order_of_writing(self.log):
            sending.check_cancelled()
            found = s3.get(self.table.bucket, one.key)
            if found.etag != one.etag:
                raise Stop(
                    f"s3a://{self.table.bucket}/{one.key} is not the object that was read for the plan.", "Moved"
                )
            try:
                data = opener.opened(one.name, found.data)
            except LogUnreadable as reason:
                raise Stop(str(reason), "LogUnreadable") from reason
            key = f"{self.table.prefix}{LOG}{one.name}"
            put = partial(s3.put, self.table.bucket, key, data, encryption_key=self.encryption_key)
            if sending.write(put):
                written += 1
            elif s3.get(self.table.bucket, key).data != data:
                raise Stop(f"s3a://{self.table.bucket}/{key} holds something else. {self._remove}", "Occupied")
        said = f"{_objects(written)} written to {self.table.uri}{LOG}."
        return done(said) if written else already(f"The log at {self.table.uri} was there, and is the same.")

    def _require_nothing_else(self, s3: S3) -> None:
        names = {f"{self.table.prefix}{LOG}{one.name}" for one in self.log}
        for page in s3.list(self.table.bucket, f"{self.table.prefix}{LOG}"):
            for one in page.objects:
                if one.key not in names:
                    raise Stop(f"s3a://{self.table.bucket}/{one.key} is there already. {self._remove}", "Occupied")

    @property
    def _remove(self) -> str:
        return f"Nothing is overwritten: remove {self.table.uri} first."

    def _place(self, path: str) -> str:
        """The URI of a file in the backup; a path that leads elsewhere, which no file of the version has, stays."""
        keys = located(path, self.source.prefix, self.source.bucket).keys
        if not keys:
            return path
        return f"s3a://{self.backup.bucket}/{_ESCAPED.sub(lambda one: quote(one[0]), self.backup.prefix + keys[0])}"


def _objects(number: int) -> str:
    return f"{number:,} object{'' if number == 1 else 's'}"
