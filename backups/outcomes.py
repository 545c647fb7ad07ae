"""What can become of an object of the source, why, and what to do about it. Pure."""

from enum import StrEnum

from lake.aws.errors import OF_CREDENTIALS

COPY_REFUSED = "CopyJobRefused"
"""The code of a run whose copy job S3 has refused."""
OVER = frozenset({"Complete", "Failed", "Cancelled"})
"""The states at which a job of S3 Batch Operations ends (S3 User Guide, "Job status")."""
_BY_CODE = {
    "SlowDown": "S3 asked to go slower and did not take it after several tries. Try the rest again.",
    "InvalidObjectState": "The object lies in an archive class. Restore it first, or let it be reported.",
    "InvalidRequest": "S3 refused the copy, most often because the object is larger than 5 GB. Try it again.",
    "AccessDenied": "The role may not read or write it. Run the preflight of the plan, correct the policy, try again.",
    "ReportNotBelieved": "What became of it is not known: a file of the completion report is missing or altered. "
    "Try it again: what lies at the destination as it should is not copied a second time.",
    "KMS.DisabledException": "The KMS key is disabled. Enable it, then try again.",
}
_BY_OUTCOME = {
    "changed": "It was overwritten after the inventory, and the copy has another size or ETag. Try it again.",
    "vanished": "It was deleted from the source after the inventory, as VACUUM does. Nothing is to be done.",
    "denied": _BY_CODE["AccessDenied"],
    "too_new": "It was written after the cut-off. The next run takes it.",
    "archived": _BY_CODE["InvalidObjectState"],
    "failed": "The copy failed. Try it again; if it fails again, look at its code in the report.",
}
_CREDENTIALS = "Renew the credentials of the plan's connection, or let its role be taken again."
_CURES = {
    **dict.fromkeys(
        OF_CREDENTIALS,
        _CREDENTIALS,
    ),
    **dict.fromkeys(
        ("AccessDenied", "AccessDeniedException", "AllAccessDisabled", "UnauthorizedOperation"),
        "Run the preflight of the plan, and grant what it finds missing.",
    ),
    "NoSuchBucket": "Create the bucket, or correct the plan.",
}


class Outcome(StrEnum):
    """LISTED counts all objects; each of them has exactly one of the others. COPIED and ALREADY_THERE are safe."""

    LISTED = "listed"
    COPIED = "copied"
    ALREADY_THERE = "already_there"
    CHANGED = "changed"
    VANISHED = "vanished"
    DENIED = "denied"
    TOO_NEW = "too_new"
    ARCHIVED = "archived"
    FAILED = "failed"


SAFE = frozenset({Outcome.COPIED, Outcome.ALREADY_THERE})
NOT_COPIED = frozenset(set(Outcome) - SAFE - {Outcome.LISTED, Outcome.TOO_NEW})
GAPS = NOT_COPIED - {Outcome.VANISHED}
"""What keeps a run from being complete. Of what is too new, and of what was deleted from the source before it was
copied, the restore points tell whether a table lacks it."""
WORTH_RETRY = frozenset({Outcome.CHANGED, Outcome.DENIED, Outcome.FAILED})


def cause_of(outcome: str, code: str) -> str:
    """What happened and what to do, in two sentences."""
    if outcome in {"failed", "denied"} and code in _BY_CODE:
        return _BY_CODE[code]
    return _BY_OUTCOME.get(outcome, _BY_OUTCOME["failed"])


def cure_of(code: str) -> str:
    """What a person can do about an error that keeps a run from going on; "" where waiting is all."""
    return _CURES.get(code, "")
