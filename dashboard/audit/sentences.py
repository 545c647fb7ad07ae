"""What an entry says in a sentence: what its actor did, or asked for, and to what."""

from dashboard.audit.models import AuditEntry

_DONE = {
    "Abandon": "abandoned", "Back": "backed", "Backfill": "backfilled", "Cancel": "cancelled", "Change": "changed",
    "Check": "checked", "Clear": "cleared", "Complete": "completed", "Create": "created", "Delete": "deleted",
    "Drop": "dropped", "Enable": "enabled", "Make": "made", "Move": "moved", "Observe": "observed", "Open": "opened",
    "Plan": "planned", "Publish": "published", "Put": "put", "Raise": "raised", "Re-register": "re-registered",
    "Register": "registered", "Remove": "removed", "Repair": "repaired", "Republish": "republished",
    "Restore": "restored", "Set": "set", "Sweep": "swept", "Switch": "switched",
}  # fmt: skip
"""The first words of jobs' titles, once the work is done."""

_ACTS = {
    "account.mails": "changed the mails to",
    "account.password": "changed the password of",
    "account.prove": "typed the password again",
    "account.sign_in": "signed in",
    "account.sign_out": "signed out",
    "alert.acknowledge": "acknowledged",
    "alert.manage": "changed",
    "backup.approve": "decided about the backup",
    "backup.cancel": "cancelled the backup",
    "backup.plan": "changed the backup plan",
    "backup.preflight": "checked the permissions of the backup plan",
    "backup.run": "ran the backup",
    "bucket.change": "changed the bucket",
    "job.cancel": "asked to cancel",
    "job.mark-seen": "looked at the failed job",
    "lake.declare": "declared",
    "lake.observe": "observed",
    "lake.plan-upkeep": "looked at settings of",
    "lake.read-only": "changed the read-only mode of",
    "people.invite": "made a link to a new password for",
    "people.manage": "changed the person",
    "store.change": "changed the store",
    "store.create": "created the store",
    "table.check-coordination": "checked the coordination of",
    "table.create": "created the table",
    "table.drop-coordination": "dropped coordinated commits of",
    "table.enable-coordination": "enabled coordinated commits of",
    "table.plan-repair": "planned repairs of",
    "table.repair": "repaired",
    "worker.replace": "replaced the worker",
}
_OF_ONESELF = frozenset({"account.prove", "account.sign_in", "account.sign_out"})


def says(entry: AuditEntry, title: str = "") -> str:
    """The sentence, without its actor; `title` is that of the entry's job. What was not done was asked for."""
    if entry.outcome == "refused":
        return f"was refused: {entry.action}" + (f" on {short(entry)}" if entry.target_label else "")
    if title:
        verb, _, rest = title.partition(" ")
        past = _DONE.get(verb.rstrip(":"))
        act = f"{past} {rest}" if past and entry.outcome == "done" else f"asked to {title[:1].lower()}{title[1:]}"
        return act if short(entry) in title else f"{act}, {short(entry)}"
    act = _ACTS.get(entry.action) or f"did {entry.action} on"
    if entry.outcome in ("requested", "failed"):
        act = "asked for a run of" if entry.action == "backup.run" else f"asked for {entry.action} of"
    return act if entry.action in _OF_ONESELF else f"{act} {short(entry)}".strip()


def short(entry: AuditEntry) -> str:
    """What it is about: a table by the last two parts of its path, as lists name it."""
    label = entry.target_label
    return ".".join([part for part in label.split("/") if part][-2:]) if "://" in label else label
