"""The words, shapes and tones of every state that a page can show. Colour helps; the word is the message."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """How one state looks: its word, its shape in icons.svg, its tone in levee.css and what it means.

    `loud` states take the tone for their word as well; `rank` orders states, 0 is worst.
    """

    word: str
    shape: str
    tone: str
    meaning: str
    loud: bool = False
    rank: int = 99


LAKE: Mapping[str, Look] = {
    "blocked": Look("Blocked", "s-blocked", "crit", "Reads or writes fail now", loud=True, rank=0),
    "unsafe": Look("Unsafe", "s-unsafe", "crit", "Works, but a commit can be lost", loud=True, rank=1),
    "attention": Look("Attention", "s-attention", "warn", "Works; something is out of order", rank=2),
    "not_checked": Look(
        "Not checked", "s-unknown", "idle", "What decides it is not known or not over, with the reason", rank=3
    ),
    "unbackfilled": Look(
        "Unbackfilled", "s-unbackfilled", "held", "Coordinator: accepted, not yet copied to its file", rank=4
    ),
    "pending": Look("Pending", "s-pending", "held", "Log store: accepted, its file not yet written", rank=5),
    "healthy": Look("Healthy", "s-ok", "ok", "Published, and nothing that was read is amiss", rank=6),
}

VERSIONS: Mapping[str, Look] = {
    "published": Look("Published", "s-published", "idle", "File present"),
    "entry_expired": Look("Entry expired", "s-expired", "idle", "File present, entry removed by TTL"),
    "foreign_writer": Look("Foreign writer", "s-foreign", "warn", "File present, entry never seen"),
    "missing": Look("Missing", "s-missing", "crit", "Entry complete, file absent", loud=True),
    "checkpoint": Look("Checkpoint", "s-checkpoint", "idle", "A checkpoint at this version"),
}

JOBS: Mapping[str, Look] = {
    "queued": Look("Queued", "s-queued", "idle", "Waits for a worker"),
    "running": Look("Running", "s-running", "live", "Heartbeat younger than 90 s"),
    "cancelling": Look("Cancelling", "s-running", "live", "Stops at the next safe place"),
    "waiting_for_approval": Look("Waiting for approval", "s-waiting", "warn", "A person must decide"),
    "succeeded": Look("Succeeded", "s-done", "ok", "Every step done"),
    "overtaken": Look("Overtaken", "s-foreign", "warn", "Stopped, for somebody else changed it first"),
    "complete_with_gaps": Look("Complete with gaps", "s-gaps", "warn", "Done, and something is left over"),
    "failed": Look("Failed", "s-failed", "crit", "Stopped by an error", loud=True),
    "lost": Look("Lost", "s-unknown", "crit", "Heartbeat older than 90 s"),
    "cancelled": Look("Cancelled", "s-cancelled", "idle", "Stopped by a person"),
    "not_started": Look("Not started", "s-next", "idle", "Not reached yet"),
}

RUNS: Mapping[str, Look] = {
    "waiting_for_inventory": Look("Waiting for inventory", "s-queued", "idle", "S3 has not delivered it yet"),
    "complete": Look("Complete", "s-done", "ok", "Every object is at the destination with its size and ETag"),
    "arrived": Look("Arrived", "s-done", "ok", "Delivered, and every file has its MD5"),
    "skipped": Look("Not needed", "s-published", "idle", "This run does without it"),
}

STEPS: Mapping[str, Look] = {
    "next": JOBS["not_started"],
    "done": Look("Done", "s-done", "ok", "Finished"),
    "stopped": Look("Stopped", "s-cancelled", "warn", "What it rests on no longer held"),
}

ACTS: Mapping[str, Look] = {
    "requested": Look("Requested", "s-queued", "idle", "Handed to a job"),
    "refused": Look("Refused", "s-cancelled", "warn", "Not allowed, or not safe; with the reason"),
    "nothing_to_do": Look("Nothing to do", "s-published", "idle", "It was in order already"),
}

ALERTS: Mapping[str, Look] = {
    "critical": Look("Critical", "s-blocked", "crit", "Data can be lost, or reads or writes fail", loud=True),
    "warning": Look("Warning", "s-attention", "warn", "Something is out of order"),
    "info": Look("Note", "s-published", "idle", "Worth knowing"),
    "open": Look("Open", "s-attention", "warn", "Nobody has taken it up"),
    "acknowledged": Look("Acknowledged", "s-pending", "held", "Somebody has taken it up, until a time"),
    "resolved": Look("Over", "s-done", "ok", "Not seen for five minutes"),
}

MESSAGES: Mapping[str, Look] = {
    "waiting": Look("Waiting", "s-queued", "idle", "Due later, or to be tried again"),
    "sending": Look("Being sent", "s-running", "live", "Handed to the server now"),
    "sent": Look("Sent", "s-done", "ok", "The server has taken it"),
    "dropped": Look("Not needed", "s-cancelled", "idle", "It was over before this was due"),
    "unknown": Look("Perhaps sent", "s-unknown", "warn", "The line broke before the server answered"),
}

LOOKS: Mapping[str, Look] = {**LAKE, **VERSIONS, **JOBS, **RUNS, **STEPS, **ACTS, **ALERTS, **MESSAGES}


def look_of(state: object) -> Look:
    """Return the look of a state by its name; one that nobody has named yet shows its own word with a question mark."""
    name = str(state or "")
    if look := LOOKS.get(name.lower().replace(" ", "_").replace("-", "_")):
        return look
    return Look(name.replace("_", " ").capitalize() or "Unknown", "s-unknown", "idle", "")
