"""What the settings of a commit store do to the commits that go through it."""

from collections.abc import Iterator, Mapping
from typing import Any

from coordinator.protocols.judgement import Assessment, assessed, note, unread_facts, unread_finding, worst_first
from coordinator.protocols.verdict import Finding, attention, blocked, unsafe
from coordinator.protocols.wording import counted, joined, thousands
from lake.delta import coordinator_items, log_store

LOG_STORE = "log_store"
COMMIT_COORDINATOR = "commit_coordinator"
TTL_ATTRIBUTE = "expireTime"
OLD_TTL_ATTRIBUTE = "commitTime"
AT_WORK = ("ACTIVE", "UPDATING")
"""DynamoDB serves reads and writes in these states; an update of settings does not interrupt them."""

_NOT_AT_WORK = {
    "CREATING": "DynamoDB is still creating this table: commits through it fail until it is ACTIVE.",
    "DELETING": "DynamoDB is deleting this table, with every commit not yet published: commits through it fail.",
    "INACCESSIBLE_ENCRYPTION_CREDENTIALS": "DynamoDB may not use the KMS key of this table: commits through it fail.",
}

_EXPECTED_KEYS = {LOG_STORE: log_store.expected_keys, COMMIT_COORDINATOR: coordinator_items.expected_keys}


def diagnose_store(kind: str, facts: Mapping[str, Any]) -> Assessment:
    """Judge one DynamoDB table by `lake.aws.dynamodb.StoreDescription` as JSON.

    `kind` is "log_store" or "commit_coordinator".
    """
    findings = [*_keys(kind, facts), *_status(facts), *_time_to_live(kind, facts), *_notes(facts)]
    findings += [unread_finding(fact, reason) for fact, reason in unread_facts(facts).items()]
    return assessed(worst_first(findings), "Its keys and its TTL are as its writers need them.")


def _keys(kind: str, facts: Mapping[str, Any]) -> Iterator[Finding]:
    expected = _EXPECTED_KEYS[kind]()
    found = tuple(tuple(key) for key in facts.get("key_schema") or ())
    if found != expected:
        noun = "log store" if kind == LOG_STORE else "commit coordinator"
        yield blocked(
            "wrong-key-schema",
            f"Its key is {_in_words(found)}; a {noun} needs {_in_words(expected)}.",
            meaning="Every commit through this store fails. A key cannot be changed: writers need another DynamoDB "
            "table, or the store is declared with the wrong kind.",
            evidence={"found": [list(key) for key in found], "expected": [list(key) for key in expected]},
        )


def _in_words(keys: tuple[tuple[Any, ...], ...]) -> str:
    return ", ".join(f"{kind} {name} ({of_type})" for name, kind, of_type in keys) or "empty"


def _status(facts: Mapping[str, Any]) -> Iterator[Finding]:
    status = facts.get("status")
    if status == "UPDATING":
        meaning = "Commits go on meanwhile; another change has to wait until it is ACTIVE."
        yield note("updating", "DynamoDB is at work on a change of this table.", meaning, status=status)
    elif status not in AT_WORK:
        otherwise = f"DynamoDB says {status or 'nothing'} of this table, not ACTIVE: commits through it fail."
        yield blocked(
            "not-active",
            _NOT_AT_WORK.get(str(status), otherwise),
            meaning="While it is being created, this passes by itself. A deleted or archived table takes every "
            "unpublished commit with it.",
            evidence={"status": status},
        )


def _time_to_live(kind: str, facts: Mapping[str, Any]) -> Iterator[Finding]:
    status, attribute = facts.get("ttl_status"), facts.get("ttl_attribute") or ""
    if "time to live" in unread_facts(facts):
        return
    if status is None:
        yield note("ttl-unknown", "Whether TTL is on is not known: the endpoint does not state it.")
    elif kind == COMMIT_COORDINATOR:
        if status != "DISABLED":
            yield _coordinator_expires(attribute, status)
    elif status == "DISABLED":
        yield _ttl_off(facts)
    elif attribute == OLD_TTL_ATTRIBUTE:
        yield _ttl_on_commit_time(status)
    elif attribute != TTL_ATTRIBUTE:
        yield _ttl_elsewhere(attribute, status)
    elif status != "ENABLED":
        sentence = f"TTL on expireTime is {str(status).lower()}; that takes up to an hour."
        yield note("ttl-changing", sentence, status=status)


def _ttl_off(facts: Mapping[str, Any]) -> Finding:
    items = facts.get("item_count")
    count = f" About {thousands(items)} are there now." if isinstance(items, int) else ""
    return attention(
        "ttl-off",
        f"TTL is off, so finished entries never leave.{count}",
        meaning="No commit is at risk. The store grows with every commit, and writers never switch TTL on.",
        evidence={"ttl_status": facts.get("ttl_status"), "item_count": items},
    )


def _ttl_on_commit_time(status: object) -> Finding:
    return unsafe(
        "ttl-on-commit-time",
        "TTL is on commitTime, which writers up to Delta 2.1 set to the moment of the commit. DynamoDB may delete an "
        "entry while its commit is being published, and a second writer can then overwrite it.",
        meaning="A commit can be lost without an error (fixed in Delta 2.2.0 with expireTime). DynamoDB allows one TTL "
        "attribute at a time: TTL on commitTime has to be off before it can be on expireTime.",
        evidence={"ttl_attribute": OLD_TTL_ATTRIBUTE, "ttl_status": status},
    )


def _ttl_elsewhere(attribute: str, status: object) -> Finding:
    return unsafe(
        "ttl-wrong-attribute",
        f"TTL is on {attribute or 'an unnamed attribute'}, not on expireTime. Entries that carry it may be deleted at "
        "any moment; all others never leave.",
        meaning="An entry deleted before its commit is published lets another commit take its version.",
        evidence={"ttl_attribute": attribute, "ttl_status": status},
    )


def _coordinator_expires(attribute: str, status: object) -> Finding:
    return unsafe(
        "ttl-on-coordinator",
        f"TTL is on {attribute or 'an unnamed attribute'} of a coordinator. Registrations must never expire: a table "
        "whose item is deleted can be neither read nor written.",
        meaning="Items with that attribute may vanish at any moment, with the commits they list. TTL must be off here.",
        evidence={"ttl_attribute": attribute, "ttl_status": status},
    )


def _notes(facts: Mapping[str, Any]) -> Iterator[Finding]:
    """What may be wished otherwise, and puts no commit at risk."""
    if facts.get("billing") == "provisioned" and (facts.get("read_capacity"), facts.get("write_capacity")) == (5, 5):
        yield note(
            "created-by-a-writer",
            "It still has the 5 reads and 5 writes a second that a writer gave it on creation.",
            "Writers are throttled above that; on demand there is no such limit.",
        )
    if facts.get("point_in_time_recovery") is False:
        meaning = "Without it a deleted or edited item cannot be brought back."
        yield note("no-point-in-time-recovery", "Point-in-time recovery is off.", meaning)
    if facts.get("deletion_protection") is False:
        meaning = "One call can delete the store, with every commit not yet published."
        yield note("no-deletion-protection", "Deletion protection is off.", meaning)
    indexes = [str(name) for part in ("global_indexes", "local_indexes") for name in facts.get(part) or ()]
    if indexes:
        summary = (
            f"It has {counted(len(indexes), 'index', 'indexes')} that no writer of Delta makes: {joined(indexes)}."
        )
        yield note("extra-indexes", summary, "No commit reads them; what is written to them is billed, too.")
