"""Deleting a file that no commit needs: what could name it is read again, and its proof made again, just before."""

from dataclasses import dataclass, replace

from changes.calls import Answer, Call, LakeCall, Permission, Sending, Stop, already, done, objects_of, table_arn
from coordinator.protocols.wording import short
from coordinator.repairs.item_calls import entry_key, registration_key
from coordinator.repairs.object_calls import compare
from coordinator.repairs.rescue import in_folder


@dataclass(frozen=True, slots=True)
class DeleteOrphan(LakeCall):
    """Delete a file that no commit needs: read the item again, prove it once more, then DELETE with If-Match.

    `entry` is the key (tablePath, fileName) of the entry that must not name the file; `registration` the tableId whose
    list must not name it. `named` is the tempPath that the entry must still name instead. `survivor` is the key of an
    object that must hold the same bytes, "" where the file was never accepted. An entry without either proves nothing.
    A file that has gone counts as deleted; one that is named, or not proven, after all stops the repair.
    """

    bucket: str
    key: str
    etag: str
    size: int
    table: str
    entry: tuple[str, str] | None = None
    registration: str = ""
    named: str = ""
    survivor: str = ""

    @property
    def operation(self) -> str:
        return f"dynamodb:GetItem, {'s3:GetObject, ' if self.survivor else ''}s3:DeleteObject"

    @property
    def says(self) -> str:
        return f"Reads {self._item} again, then deletes {short(self.key)}, {self.size:,} B."

    @property
    def condition(self) -> str:
        item = self._item
        named = f"{item} names {short(self.named)}" if self.named else f"{item} does not name the file"
        equal = f"; its bytes equal those of {self.survivor}" if self.survivor else ""
        return f"If-Match: {self.etag}; {named}{equal}."

    @property
    def _item(self) -> str:
        return f"the entry of {short(self.entry[1])}" if self.entry else f"registration {self.registration}"

    @property
    def permissions(self) -> tuple[Permission, ...]:
        objects = objects_of(self.bucket)
        return (
            Permission("s3:GetObject", objects),
            Permission("s3:DeleteObject", objects),
            Permission("dynamodb:GetItem", table_arn(self.table)),
        )

    def saving_under(self, folder: str) -> Call:
        return replace(self, survivor=in_folder(self.survivor, folder))

    def send(self, sending: Sending) -> Answer:
        if self.entry is None and not self.registration:
            raise Stop(f"The plan names nothing that could hold {short(self.key)}: it was left as it is.")
        self.check_unnamed(sending)
        found = sending.lake.s3.head(self.bucket, self.key)
        if found is None:
            return already(f"{short(self.key)} had gone already.")
        if (found.etag, found.size) != (self.etag, self.size):
            raise Stop(f"{short(self.key)} is not the object that the plan was made from: it was left as it is.")
        if self.survivor:
            compare(sending, self.bucket, self.key, self.survivor)
        if sending.write(lambda: sending.lake.s3.delete(self.bucket, self.key, etag=self.etag)):
            return done(f"{short(self.key)} was deleted.")
        raise Stop(f"{short(self.key)} changed just before it was to be deleted: it was left as it is.")

    def check_unnamed(self, sending: Sending) -> None:
        """Read what may name the file. Raises Stop where it does, or cannot be told; AwsError."""
        if self.entry is not None:
            self._check_entry(self.entry, sending)
        if self.registration:
            self._check_registration(sending)

    def _check_entry(self, entry: tuple[str, str], sending: Sending) -> None:
        item = sending.lake.dynamodb.get_item(self.table, entry_key(*entry))
        if item is None:
            if not self.survivor:
                raise Stop(
                    f"The entry of {short(entry[1])} has gone, which told what was accepted: nothing was deleted."
                )
            return
        temp_path = item.get("tempPath", {}).get("S")
        if not isinstance(temp_path, str):
            raise Stop(f"The file that the entry of {short(entry[1])} names cannot be read: nothing was deleted.")
        if self.key.endswith(f"_delta_log/{temp_path}"):
            raise Stop(f"The entry of {short(entry[1])} names {short(self.key)}: it was left as it is.")
        if not self.survivor and temp_path != self.named:
            raise Stop(f"The entry of {short(entry[1])} names another file than the plan has: nothing was deleted.")

    def _check_registration(self, sending: Sending) -> None:
        item = sending.lake.dynamodb.get_item(self.table, registration_key(self.registration))
        if item is None:
            raise Stop(f"The registration {self.registration} is not there to say what it names: nothing was deleted.")
        commits = item.get("commits", {}).get("L")
        if not isinstance(commits, list):
            raise Stop(f"The list of the registration {self.registration} cannot be read: nothing was deleted.")
        for commit in commits:
            try:
                name = commit["M"]["fsName"]["S"]
            except (KeyError, TypeError):
                raise Stop(
                    f"An element of the list of the registration {self.registration} cannot be read: nothing was "
                    "deleted."
                ) from None
            if name == self.key.rpartition("/")[2]:
                raise Stop(f"The registration {self.registration} names {short(self.key)}: it was left as it is.")
