"""What an entry says in a sentence: what its actor did, or asked for, and to what."""

from dashboard.audit.models import AuditEntry

_DONE = {
    "Abandon": "abandoned", "Acknowledge": "acknowledged", "Approve": "approved", "Ask": "asked", "Back": "backed",
    "Backfill": "backfilled", "Cancel": "cancelled", "Change": "changed", "Check": "checked", "Clear": "cleared",
    "Complete": "completed", "Create": "created", "Declare": "declared", "Delete": "deleted", "Drop": "dropped",
    "Enable": "enabled", "Look": "looked", "Make": "made", "Move": "moved", "Observe": "observed", "Open": "opened",
    "Plan": "planned", "Publish": "published", "Put": "put", "Raise": "raised", "Re-register": "re-registered",
    "Register": "registered", "Rehearse": "rehearsed", "Reject": "rejected", "Remove": "removed", "Repair": "repaired",
    "Replace": "replaced", "Republish": "republished", "Restore": "restored", "Run": "ran", "Set": "set",
    "Sign": "signed", "Sweep": "swept", "Switch": "switched", "Type": "typed", "Export": "exported",
}  # fmt: skip
"""The first words of jobs' titles and of acts, once they are done."""

ACTS = {
    "account.mails": "Change the mails to",
    "account.password": "Change the password of",
    "account.prove": "Type the password again",
    "account.sign_in": "Sign in",
    "account.sign_out": "Sign out",
    "alert.acknowledge": "Acknowledge",
    "alert.manage": "Change the alert setting",
    "backup.approve": "Approve the backup",
    "backup.cancel": "Cancel the backup",
    "backup.plan": "Change the backup plan",
    "backup.prefer": "Set the priority of the backup",
    "backup.preflight": "Check the permissions of the backup plan",
    "backup.prove": "Prove what can be restored from",
    "backup.reject": "Reject the backup",
    "backup.remove-losing": "Remove, at a risk of loss, the restored copy",
    "backup.remove-restored": "Remove the restored copy",
    "backup.restore": "Restore",
    "backup.restore-in-place": "Restore in place",
    "backup.run": "Run the backup",
    "bucket.change": "Change the bucket",
    "bucket.change-losing": "Change, at a risk of loss, the bucket",
    "job.cancel": "Cancel",
    "job.mark-seen": "Look at the failed job",
    "lake.declare": "Declare",
    "lake.observe": "Observe",
    "lake.plan-upkeep": "Look at settings of",
    "lake.read-only": "Change the read-only mode of",
    "list.export": "Export the list",
    "people.invite": "Make a link to a new password for",
    "people.manage": "Change the person",
    "store.change": "Change the store",
    "store.create": "Create the store",
    "table.check-coordination": "Check the coordination of",
    "table.create": "Create the table",
    "table.drop-coordination": "Drop coordinated commits of",
    "table.enable-coordination": "Enable coordinated commits of",
    "table.enable-many": "Enable at once coordinated commits of",
    "table.plan-repair": "Plan repairs of",
    "table.rehearse-coordination": "Rehearse a change of the coordination of",
    "table.repair": "Repair",
    "table.repair-losing": "Repair, at a risk of loss,",
    "worker.replace": "Replace the worker",
}
_OF_ONESELF = frozenset({"account.prove", "account.sign_in", "account.sign_out"})


def says(entry: AuditEntry, title: str = "") -> str:
    """The sentence, without its actor; `title` is that of the entry's job. What was not done was asked for."""
    about = "" if entry.action in _OF_ONESELF else short(entry)
    if entry.outcome == "refused" or not title:
        title = f"{ACTS.get(entry.action, act_in_words(entry.action))} {about}".strip()
    verb, _, rest = title.partition(" ")
    past = _DONE.get(verb.rstrip(":,"))
    if past and entry.outcome == "done":
        act = f"{past} {rest}".rstrip()
    else:
        act = f"{'was refused: ' if entry.outcome == 'refused' else 'asked to '}{title[:1].lower()}{title[1:]}"
    return act if about in title else f"{act}, {about}"


def act_in_words(action: str) -> str:
    """An action by itself, as filters name it."""
    act = ACTS.get(action, action.rpartition(".")[2].replace("-", " ").capitalize())
    return act.removesuffix(" of").removesuffix(" to").removesuffix(" for").rstrip(",")


def short(entry: AuditEntry) -> str:
    """What it is about: a table by the last two parts of its path, as lists name it."""
    label = entry.target_label
    return ".".join([part for part in label.split("/") if part][-2:]) if "://" in label else label
