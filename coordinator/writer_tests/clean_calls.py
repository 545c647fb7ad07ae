"""Calls that remove what a self-test of a writer left: objects by their ETag, items while they are as read."""

from dataclasses import dataclass
from typing import ClassVar

from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, bucket_arn, done
from coordinator.protocols.wording import counted, label, short
from coordinator.repairs.item_calls import ItemCall, entry_key, number, registration_key, text
from coordinator.writer_tests.places import FOLDER
from lake.aws.dynamodb import Item
from lake.aws.errors import AwsError


@dataclass(frozen=True, slots=True)
class RemoveScratch(LakeCall):
    """Delete the objects (key and ETag) of one scratch folder, then list it: whatever is left stops the plan.

    Raises ValueError where `prefix` is no scratch folder, or an object lies outside it.
    """

    operation: ClassVar[str] = "s3:DeleteObject, s3:ListObjectsV2"
    bucket: str
    prefix: str
    objects: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        folder, _, token = self.prefix.rstrip("/").rpartition("/")
        is_scratch = folder.rpartition("/")[2] == FOLDER and len(token) == 32 and self.prefix.endswith("/")
        if not is_scratch or not all(key.startswith(self.prefix) for key, _ in self.objects):
            raise ValueError(f"{self.prefix} is no scratch folder of a writer test, or holds not all of these objects.")

    @property
    def says(self) -> str:
        objects = counted(len(self.objects), "object")
        return f"Deletes {objects} below {self.prefix}, each as it was read, and lists it again."

    @property
    def condition(self) -> str:
        return "If-Match: the ETag that was read; nothing is listed afterwards."

    @property
    def permissions(self) -> tuple[Permission, ...]:
        return (
            Permission("s3:DeleteObject", f"{bucket_arn(self.bucket)}/{self.prefix}*"),
            Permission("s3:ListBucket", bucket_arn(self.bucket)),
        )

    def send(self, sending: Sending) -> Answer:
        for key, etag in self.objects:
            sending.check_cancelled()
            self._delete(sending, key, etag)
        left = next((one.key for page in sending.lake.s3.list(self.bucket, self.prefix) for one in page.objects), "")
        if left:
            raise Stop(
                f"{short(left)} came while the scratch folder was cleaned: the script is at work. Plan it again."
            )
        return done(f"{counted(len(self.objects), 'object')} deleted; nothing is listed below {self.prefix}.")

    def _delete(self, sending: Sending, key: str, etag: str) -> None:
        try:
            sending.took(sending.lake.s3.delete(self.bucket, key, etag=etag).request_id)
        except AwsError as error:
            if not error.is_condition_failed:
                raise
            raise Stop(f"{label(key)} changed since it was read: the script is at work. Plan it again.") from error


@dataclass(frozen=True, slots=True)
class RemoveScratchEntry(ItemCall):
    """Delete an entry of a scratch table, if `tempPath` and `complete` are as read; an absent one counts as deleted."""

    operation: ClassVar[str] = "dynamodb:DeleteItem"
    table_path: str
    file_name: str
    temp_path: str
    complete: bool

    @property
    def says(self) -> str:
        return f"Deletes the entry {self.file_name} of {self.table_path} from {self.table}."

    @property
    def condition(self) -> str:
        return f'tempPath = "{self.temp_path}" AND complete = "{self._complete}"'

    @property
    def _complete(self) -> str:
        return "true" if self.complete else "false"

    def send(self, sending: Sending) -> Answer:
        key = entry_key(self.table_path, self.file_name)
        names = {"#t": "tempPath", "#c": "complete"}
        values = {":t": text(self.temp_path), ":c": text(self._complete)}
        return _delete(sending, self, key, "#t = :t AND #c = :c", names, values, f"entry of {label(self.file_name)}")


@dataclass(frozen=True, slots=True)
class RemoveScratchRegistration(ItemCall):
    """Delete a scratch table's registration, if path and tableVersion are as read; an absent one counts as deleted."""

    operation: ClassVar[str] = "dynamodb:DeleteItem"
    table_id: str
    path: str
    table_version: int

    @property
    def says(self) -> str:
        return f"Deletes registration {self.table_id} of {self.path} from {self.table}."

    @property
    def condition(self) -> str:
        return f'path = "{self.path}" AND tableVersion = {self.table_version}'

    def send(self, sending: Sending) -> Answer:
        names = {"#p": "path", "#v": "tableVersion"}
        values = {":p": text(self.path), ":v": number(self.table_version)}
        what = f"registration {self.table_id}"
        return _delete(sending, self, registration_key(self.table_id), "#p = :p AND #v = :v", names, values, what)


def _delete(
    sending: Sending, call: ItemCall, key: Item, condition: str, names: dict[str, str], values: Item, what: str
) -> Answer:
    dynamodb = sending.lake.dynamodb
    if sending.write(lambda: dynamodb.delete_item(call.table, key, condition=condition, names=names, values=values)):
        return done(f"The {what} was deleted.")
    if dynamodb.get_item(call.table, key) is None:
        return already(f"The {what} had gone already.")
    raise Stop(f"The {what} is not as it was read: it was left as it is. Plan it again.")
