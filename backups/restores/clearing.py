"""The calls that set aside what stands at a table's own path, take its log away, and put that of a version there.

Each may be sent twice, and each is refused where a writer has come between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from backups.restores.calls import AT_ONCE, WriteLog, at_once, listed, objects
from backups.restores.copying import CopyFiles
from backups.restores.path_contents import CLOSED
from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, bucket_arn, done, table_arn
from dashboard.connections.accepted import StoreItem
from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import BucketPrefix
from lake.delta.names import NameKind, parse_name
from lake.points.copies import LOG
from lake.points.reading import FileCopy

MOVED = "somebody writes to the table. Stop its writers, and plan again."


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside(CopyFiles):
    """Copies what stands at the path to a place of its own, with the items of commit stores as its claim."""

    @property
    def says(self) -> str:
        what = f"{objects(len(self.files))} of {sum(one.size for one in self.files):,} bytes"
        return f"Sets what is there aside: copies {what}, and what commit stores hold, to {self.log.table.uri}."


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack(CopyFiles):
    """Copies the files of a version to the table's own path, where they are not there; `lacks` are those that are not.

    Names of data files are unique: what has the name and the size of one is taken for it.
    """

    lacks: tuple[FileCopy, ...]

    @property
    def lacking(self) -> tuple[FileCopy, ...]:
        return self.lacks

    @property
    def says(self) -> str:
        what = f"{objects(len(self.lacks))} of {sum(one.size for one in self.lacks):,} bytes"
        return f"Copies {what} to {self.log.table.uri}; {len(self.files) - len(self.lacks):,} are there."

    @property
    def condition(self) -> str:
        return "each object has the ETag that was read, and nothing has the name of one with another size."

    def claimed(self, sending: Sending) -> dict[str, ObjectSummary]:
        return self.there(sending.lake.s3)

    def there(self, s3: S3) -> dict[str, ObjectSummary]:
        return listed(s3, self.log.table, {one.path for one in self.files}.__contains__)

    def is_right(self, one: FileCopy, found: ObjectSummary) -> bool:
        CopyFiles.is_right(self, one, found)  # where it has another size, that is said
        return True

    def lost(self, s3: S3) -> str:
        """The path of a file that is not there any more, "" for none."""
        there = self.there(s3)
        return next((one.path for one in self.files if one.path not in there), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class PutLog(WriteLog):
    """Writes the log of a version where the table's own was taken away."""

    @property
    def instead(self) -> str:
        return f"Nothing is overwritten: {MOVED}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearStores(LakeCall):
    """Deletes the entries of a path, newest first, and closes its registrations, each only as it was read.

    After the log has gone: as long as it is there, they may be all that says which file a commit waits in. A writer
    that finds an entry without its file tries the same version for ever, or brings it back above a gap. Source:
    BaseExternalLogStore of Delta 4.4.0. A registration's version is never lowered.
    """

    entries: tuple[StoreItem, ...]
    registrations: tuple[StoreItem, ...]

    operation = "dynamodb:DeleteItem, dynamodb:UpdateItem"

    @property
    def stores(self) -> tuple[str, ...]:
        return tuple(sorted({one.store for one in (*self.entries, *self.registrations)}))

    @property
    def says(self) -> str:
        entries, registrations = len(self.entries), len(self.registrations)
        deletes = f"deletes {entries:,} entr{'y' if entries == 1 else 'ies'} of the path, newest first"
        closes = f"closes {registrations:,} registration{'' if registrations == 1 else 's'} of it"
        what = " and ".join([deletes] * bool(entries) + [closes] * bool(registrations))
        return f"In {', '.join(self.stores)} {what}: writers that still use the old log are refused."

    @property
    def condition(self) -> str:
        return "each still has the tempPath and complete, or the path, tableVersion and commits, that were read."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        actions = ("Query", "Scan", "GetItem", "DeleteItem", "UpdateItem")
        return tuple(Permission(f"dynamodb:{one}", table_arn(store)) for store in self.stores for one in actions)

    def require_permitted(self, sending: Sending) -> None:
        """Try both writes under a condition that no item meets. Raises AwsError where they may not be made, which would
        leave readers without a table once its log has been removed."""
        dynamodb, never = sending.lake.dynamodb, "attribute_exists(#{0}) AND attribute_not_exists(#{0})".format
        for one in {one.store: one for one in self.entries}.values():
            key = {name: dict(one.item[name]) for name in ("tablePath", "fileName")}
            sending.write(partial(dynamodb.delete_item, one.store, key, condition=never("fileName"), values={}))
        for one in {one.store: one for one in self.registrations}.values():
            key, values = {"tableId": dict(one.item["tableId"])}, {":commits": CLOSED["commits"]}
            change = partial(dynamodb.update_item, one.store, key, update="SET #commits = :commits")
            sending.write(partial(change, condition=never("tableId"), values=values))

    def send(self, sending: Sending) -> Answer:
        written = 0
        for one in sorted(self.entries, key=lambda one: str(one.item["fileName"]), reverse=True):
            sending.check_cancelled()
            written += self._delete(sending, one)
        written += sum([self._close(sending, one) for one in self.registrations])
        return (
            done(f"{written:,} deleted or closed.") if written else already("They had gone, or were closed, already.")
        )

    def _delete(self, sending: Sending, entry: StoreItem) -> bool:
        dynamodb, key = sending.lake.dynamodb, {name: dict(entry.item[name]) for name in ("tablePath", "fileName")}
        condition, values = _as_read(entry.item, "fileName", "tempPath", "complete")
        if sending.write(partial(dynamodb.delete_item, entry.store, key, condition=condition, values=values)):
            return True
        if dynamodb.get_item(entry.store, key) is not None:
            raise Stop(f"The entry {key['fileName']['S']} in {entry.store} is another by now: {MOVED}", "Moved")
        return False

    def _close(self, sending: Sending, registration: StoreItem) -> bool:
        dynamodb, store = sending.lake.dynamodb, registration.store
        key = {"tableId": dict(registration.item["tableId"])}
        condition, values = _as_read(registration.item, "tableId", "path", "tableVersion", "commits")
        values |= {f":new_{name}": value for name, value in CLOSED.items()}
        update = f"SET {', '.join(f'#{name} = :new_{name}' for name in CLOSED)}"
        if sending.write(partial(dynamodb.update_item, store, key, update=update, condition=condition, values=values)):
            return True
        if not CLOSED.items() <= (dynamodb.get_item(store, key) or CLOSED).items():
            raise Stop(f"The registration in {store} is another by now: {MOVED}", "Moved")
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveLog(LakeCall):
    """Deletes the objects of the log that is there, by their ETags, once copies of all lie in `aside`.

    Checkpoints and staged files go first, then the first commit, then the others: until Spark finds no table, it
    finds the one that was there. `aside` holds each object of the log below `log/`.
    """

    table: BucketPrefix
    log: tuple[ObjectSummary, ...]
    aside: BucketPrefix

    operation = "s3:DeleteObject"

    @property
    def says(self) -> str:
        return f"Removes {objects(len(self.log))} of the log that is there."

    @property
    def condition(self) -> str:
        return "the log holds these objects and no other, and a copy of each lies aside; each still has its ETag."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        bucket = bucket_arn(self.table.bucket)
        own = Permission("s3:DeleteObject", f"{bucket}/{self.table.prefix}{LOG}*")
        return Permission("s3:ListBucket", bucket), own

    def send(self, sending: Sending) -> Answer:
        s3, planned = sending.lake.s3, {one.key: one.etag for one in self.log}
        kept, there = listed(s3, self.aside.below("log/")), listed(s3, self.table.below(LOG))
        for name, one in there.items():
            if planned.get(one.key) != one.etag:
                raise Stop(f"{LOG}{name} was written by now: {MOVED} Nothing was removed.", "Moved")
            if name not in kept or kept[name].size != one.size:
                raise Stop(f"{LOG}{name} is not set aside. Nothing was removed.", "NotKept")
        delete_log(sending, self.table.bucket, there, MOVED)
        said = f"{objects(len(there))} removed; copies lie in {self.aside.uri}."
        return done(said) if there else already("The log had been removed already.")


def delete_log(sending: Sending, bucket: str, log: Mapping[str, ObjectSummary], moved: str) -> None:
    """Delete the objects of a log, by their names there, in the order of `RemoveLog`. Raises Stop as `delete_each`."""
    commits = sorted(name for name in log if parse_name(name).kind is NameKind.COMMIT)
    for part in (log.keys() - commits, commits[:1], commits[1:]):
        delete_each(sending, bucket, [log[name] for name in part], moved)


def delete_each(sending: Sending, bucket: str, those: Sequence[ObjectSummary], moved: str) -> None:
    """Delete objects of a bucket, many at a time. Raises Stop where one has another ETag by now; `moved` says what to
    do."""

    def delete(one: ObjectSummary) -> None:
        try:
            sending.lake.s3.delete(bucket, one.key, etag=one.etag)
        except AwsError as error:
            if error.is_condition_failed:
                raise Stop(f"s3a://{bucket}/{one.key} was written by now: {moved}", "Moved") from error
            raise
        if not sending.taken:  # of many thousand objects one request is kept
            sending.took("")

    for _ in at_once(sending, AT_ONCE, delete, those):
        pass


def _as_read(item: Mapping[str, Any], key: str, *names: str) -> tuple[str, dict[str, Any]]:
    """The condition that an item is as it was read in these attributes, and its values."""
    values = {f":{name}": dict(item[name]) for name in names if name in item}
    said = (f"#{name} = :{name}" if name in item else f"attribute_not_exists(#{name})" for name in names)
    return " AND ".join((f"attribute_exists(#{key})", *said)), values
