"""The words, shapes and tones of every state that a page can show. Colour helps; the word is the message."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StateStyle:
    """How one state looks: its word, its shape in icons.svg, its tone in levee.css and what it means.

    `loud` states take the tone for their word as well; `rank` orders states, 0 is worst.
    """

    word: str
    shape: str
    tone: str
    meaning: str
    loud: bool = False
    rank: int = 99


LAKE: Mapping[str, StateStyle] = {
    "blocked": StateStyle("Blocked", "s-blocked", "crit", "Reads or writes fail now", loud=True, rank=0),
    "unsafe": StateStyle("Unsafe", "s-unsafe", "crit", "Works, but a commit can be lost", loud=True, rank=1),
    "attention": StateStyle("Attention", "s-attention", "warn", "Works; something is out of order", rank=2),
    "not_checked": StateStyle(
        "Not checked", "s-unknown", "idle", "Levee cannot judge it yet; the reason is given", rank=3
    ),
    "unbackfilled": StateStyle(
        "Unbackfilled", "s-unbackfilled", "held", "Coordinator: accepted, not yet copied to its file", rank=4
    ),
    "pending": StateStyle("Pending", "s-pending", "held", "Log store: accepted, its file not yet written", rank=5),
    "healthy": StateStyle("Healthy", "s-ok", "ok", "Published, and nothing that was read is amiss", rank=6),
}

VERSIONS: Mapping[str, StateStyle] = {
    "published": StateStyle("Published", "s-published", "idle", "File present"),
    "entry_expired": StateStyle("Entry expired", "s-expired", "idle", "File present, entry removed by TTL"),
    "foreign_writer": StateStyle("Foreign writer", "s-foreign", "warn", "File present, entry never seen"),
    "missing": StateStyle("Missing", "s-missing", "crit", "Entry complete, file absent", loud=True),
    "checkpoint": StateStyle("Checkpoint", "s-checkpoint", "idle", "A checkpoint at this version"),
}

JOBS: Mapping[str, StateStyle] = {
    "queued": StateStyle("Queued", "s-queued", "idle", "Waits for a worker"),
    "running": StateStyle("Running", "s-running", "live", "A worker is at it"),
    "cancelling": StateStyle("Cancelling", "s-running", "live", "Stops at the next safe place"),
    "waiting_for_approval": StateStyle("Waiting for approval", "s-waiting", "warn", "A person must decide"),
    "succeeded": StateStyle("Succeeded", "s-done", "ok", "Every step done"),
    "begun": StateStyle("Under way", "s-running", "live", "The job ended; what it began goes on, or waits"),
    "overtaken": StateStyle("Overtaken", "s-foreign", "warn", "Stopped, because somebody else changed it first"),
    "complete_with_gaps": StateStyle(
        "Complete with gaps",
        "s-gaps",
        "warn",
        "Done; objects are left over, or a table lacks proof or its restore point",
    ),
    "failed": StateStyle("Failed", "s-failed", "crit", "Stopped by an error", loud=True),
    "lost": StateStyle("Lost", "s-unknown", "crit", "Its worker has not been heard of for 90 s"),
    "cancelled": StateStyle("Cancelled", "s-cancelled", "idle", "Stopped by a person"),
    "not_started": StateStyle("Not started", "s-next", "idle", "Not reached yet"),
}

RUNS: Mapping[str, StateStyle] = {
    "waiting_for_inventory": StateStyle("Waiting for inventory", "s-queued", "idle", "S3 has not delivered it yet"),
    "complete": StateStyle("Complete", "s-done", "ok", "When it ended, each table was proven or too new"),
    "arrived": StateStyle("Arrived", "s-done", "ok", "Delivered, and every file has its MD5"),
    "skipped": StateStyle("Not needed", "s-published", "idle", "This run does without it"),
}

POINTS: Mapping[str, StateStyle] = {
    "proven": StateStyle("Proven", "s-ok", "ok", "Can be restored with all that is older than the objective"),
    "too_new": StateStyle("Too new", "s-next", "idle", "The table is younger than the objective"),
    "behind": StateStyle("Behind", "s-attention", "warn", "Can be restored, but older than the objective allows"),
    "unprovable": StateStyle("Not proven", "s-unknown", "warn", "Nothing can be restored, or how much is not known"),
    "earlier": StateStyle("Earlier", "s-unknown", "warn", "Could be restored when proven; no run has looked since"),
    "another_table": StateStyle("Another table", "s-unknown", "idle", "Of another table at the same place"),
    "not_shown": StateStyle("Not shown", "s-unknown", "idle", "A plan that you may not see takes the table"),
    "not_proven_yet": StateStyle("Not yet", "s-next", "idle", "No run has proven the table"),
    "no_plan": StateStyle("No plan", "s-next", "idle", "No backup plan takes the table"),
}

STEPS: Mapping[str, StateStyle] = {
    "next": JOBS["not_started"],
    "done": StateStyle("Done", "s-done", "ok", "Finished"),
    "stopped": StateStyle("Stopped", "s-cancelled", "warn", "What it rests on no longer held"),
}

ACTS: Mapping[str, StateStyle] = {
    "requested": StateStyle("Requested", "s-queued", "idle", "Handed to a job"),
    "passed": StateStyle("Passed", "s-done", "ok", "Every check of it passed, and nothing was changed"),
    "asked": StateStyle("Asked", "s-queued", "idle", "S3 was asked for what is archived; plan again when it is there"),
    "refused": StateStyle("Refused", "s-cancelled", "warn", "Not allowed, or not safe; with the reason"),
    "nothing_to_do": StateStyle("Nothing to do", "s-published", "idle", "It was in order already"),
}

ALERTS: Mapping[str, StateStyle] = {
    "critical": StateStyle("Critical", "s-blocked", "crit", "Data can be lost, or reads or writes fail", loud=True),
    "warning": StateStyle("Warning", "s-attention", "warn", "Something is out of order"),
    "info": StateStyle("Note", "s-published", "idle", "Worth knowing"),
    "open": StateStyle("Active", "s-next", "idle", "Not acknowledged"),
    "acknowledged": StateStyle("Acknowledged", "s-done", "idle", "Acknowledged by a person, until a time"),
    "resolved": StateStyle("Resolved", "s-done", "ok", "Not seen for five minutes"),
}

MESSAGES: Mapping[str, StateStyle] = {
    "waiting": StateStyle("Waiting", "s-queued", "idle", "Due later, or to be tried again"),
    "sending": StateStyle("Being sent", "s-running", "live", "Handed to the server now"),
    "sent": StateStyle("Sent", "s-done", "ok", "The server has taken it"),
    "dropped": StateStyle("Not needed", "s-cancelled", "idle", "It was over before this was due"),
    "unknown": StateStyle("Perhaps sent", "s-unknown", "warn", "The line broke before the server answered"),
}

LOOKS: Mapping[str, StateStyle] = {**LAKE, **VERSIONS, **JOBS, **RUNS, **POINTS, **STEPS, **ACTS, **ALERTS, **MESSAGES}


def look_of(state: object) -> StateStyle:
    """Return the look of a state by its name; one that nobody has named yet shows its own word with a question mark."""
    name = str(state or "")
    if look := LOOKS.get(name.lower().replace(" ", "_").replace("-", "_")):
        return look
    return StateStyle(name.replace("_", " ").capitalize() or "Unknown", "s-unknown", "idle", "")
