"""Deleting a file that no commit needs: what could name it is read again, and its proof made again, just before."""

from coordinator.repairs.calls import DeleteLitter
from coordinator.repairs.items import entry_key, registration_key
from coordinator.repairs.objects import compare
from coordinator.repairs.outcome import Answer, Sending, Stop, already, done, label


def delete_litter(call: DeleteLitter, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    if call.entry is None and not call.registration:
        raise Stop(f"The plan names nothing that could hold {label(call.key)}: it was left as it is.")
    _check_unnamed(call, sending)
    found = sending.lake.head(call.bucket, call.key)
    if found is None:
        return already(f"{label(call.key)} had gone already.")
    if (found.etag, found.size) != (call.etag, call.size):
        raise Stop(f"{label(call.key)} is not the object that the plan was made from: it was left as it is.")
    if call.survivor:
        compare(sending, call.bucket, call.key, call.survivor)
    if sending.write(lambda: sending.lake.delete_object(call.bucket, call.key, call.etag)):
        return done(f"{label(call.key)} was deleted.")
    raise Stop(f"{label(call.key)} changed just before it was to be deleted: it was left as it is.")


def _check_unnamed(call: DeleteLitter, sending: Sending) -> None:
    if call.entry is not None:
        _check_entry(call, call.entry, sending)
    if call.registration:
        _check_registration(call, sending)


def _check_entry(call: DeleteLitter, entry: tuple[str, str], sending: Sending) -> None:
    item = sending.lake.get_item(call.table, entry_key(*entry))
    if item is None:
        if not call.survivor:
            raise Stop(f"The entry of {label(entry[1])} has gone, which told what was accepted: nothing was deleted.")
        return
    temp_path = item.get("tempPath", {}).get("S")
    if not isinstance(temp_path, str):
        raise Stop(f"The file that the entry of {label(entry[1])} names cannot be read: nothing was deleted.")
    if call.key.endswith(f"_delta_log/{temp_path}"):
        raise Stop(f"The entry of {label(entry[1])} names {label(call.key)}: it was left as it is.")
    if not call.survivor and temp_path != call.named:
        raise Stop(f"The entry of {label(entry[1])} names another file than the plan has: nothing was deleted.")


def _check_registration(call: DeleteLitter, sending: Sending) -> None:
    item = sending.lake.get_item(call.table, registration_key(call.registration))
    if item is None:
        raise Stop(f"The registration {call.registration} is not there to say what it names: nothing was deleted.")
    commits = item.get("commits", {}).get("L")
    if not isinstance(commits, list):
        raise Stop(f"The list of the registration {call.registration} cannot be read: nothing was deleted.")
    for commit in commits:
        try:
            name = commit["M"]["fsName"]["S"]
        except (KeyError, TypeError):
            raise Stop(
                f"An element of the list of the registration {call.registration} cannot be read: nothing was deleted."
            ) from None
        if name == call.key.rpartition("/")[2]:
            raise Stop(f"The registration {call.registration} names {label(call.key)}: it was left as it is.")
