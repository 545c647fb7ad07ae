"""Plans for commit stores: create one, change its capacity, protection, recovery and TTL. Pure: nothing is sent."""

from typing import assert_never

from changes.calls import Call
from changes.plan import NOTHING_TO_DO, ChangePlan, Equivalents
from coordinator.protocols.stores import COMMIT_COORDINATOR, TTL_ATTRIBUTE
from coordinator.protocols.wording import joined, thousands
from coordinator.settings.creation import creation_plan
from coordinator.settings.equivalents import of_table, ttl_block
from coordinator.settings.requests import (
    Capacity,
    ChangeCapacity,
    ChangeProtection,
    ChangeRecovery,
    CreateStore,
    DisableTtl,
    EnableTtl,
    MigrateTtl,
    NotPlanned,
)
from coordinator.settings.store_calls import (
    ACTIVE,
    TTL_OFF,
    TTL_ON,
    BeginTtlMigration,
    StoreCall,
    billing_request,
    capacity_facts,
    capacity_in_words,
    recovery_call,
    store_call,
    ttl_call,
)
from coordinator.settings.store_facts import SettingValue, StoreFacts, require_changeable
from lake.aws.dynamodb import StoreDescription

StoreChange = CreateStore | ChangeCapacity | ChangeProtection | ChangeRecovery | EnableTtl | MigrateTtl | DisableTtl


def plan_store(change: StoreChange, facts: StoreFacts) -> ChangePlan:
    """The calls that make the change on the table as it is. Raises NotPlanned."""
    if isinstance(change, CreateStore):
        return creation_plan(change, facts)
    found = require_changeable(facts)
    match change:
        case ChangeCapacity():
            return _capacity(change, facts, found)
        case ChangeProtection():
            return _protection(change, facts, found)
        case ChangeRecovery():
            return _recovery(change, facts, found)
        case EnableTtl():
            return _enable_ttl(change, facts, found)
        case MigrateTtl():
            return _migrate_ttl(change, facts, found)
        case DisableTtl():
            return _disable_ttl(change, facts, found)
    assert_never(change)


def _capacity(change: ChangeCapacity, facts: StoreFacts, found: StoreDescription) -> ChangePlan:
    wanted = change.capacity
    if indexes := [*found.global_indexes, *found.local_indexes]:
        raise NotPlanned(
            "extra-indexes",
            f"{change.name} has {'the index' if len(indexes) == 1 else 'the indexes'} {joined(indexes)}, which no "
            "writer makes and which have a capacity of their own: change its capacity where they are kept.",
        )
    has: tuple[tuple[str, SettingValue], ...] = (("billing", found.billing),)
    if found.billing == "provisioned":
        has += (("read_capacity", found.read_capacity), ("write_capacity", found.write_capacity))
    will = capacity_facts(wanted)
    if has == will:
        raise NotPlanned(NOTHING_TO_DO, f"{change.name} is {capacity_in_words(wanted)} already.")
    request = {"TableName": change.name, **billing_request(wanted)}
    call = store_call(
        "UpdateTable", request, f"Make {change.name} {capacity_in_words(wanted)}.", (ACTIVE, *has), will, facts.arn
    )
    return _plan(
        change,
        facts,
        f"Make {change.name} {capacity_in_words(wanted)}",
        (call,),
        _of_capacity(wanted, facts),
        _declares_capacity(wanted),
    )


def _declares_capacity(wanted: Capacity) -> str:
    if wanted.on_demand:
        return 'billing_mode = "PAY_PER_REQUEST"'
    return f'billing_mode = "PROVISIONED", read_capacity = {wanted.read} and write_capacity = {wanted.write}'


def _of_capacity(wanted: Capacity, facts: StoreFacts) -> tuple[str, ...]:
    told = ["Commits and readers go on meanwhile."]
    advice = facts.advice
    if wanted.on_demand:
        told.append("Each request is paid for; there is nothing to run short of below the limits of the account.")
        told.append("DynamoDB limits how often a day the billing mode may change.")
    elif advice and advice.needed_read is not None and advice.needed_write is not None:
        short = advice.needed_read > wanted.read or advice.needed_write > wanted.write
        told.append(
            f"The commits seen need {thousands(advice.needed_read)} read and {thousands(advice.needed_write)} write "
            f"units a second: this is {'too little, and writers will be throttled' if short else 'enough'}."
        )
    else:
        told.append("Above these units requests are throttled, and writers wait.")
    return tuple(told)


def _protection(change: ChangeProtection, facts: StoreFacts, found: StoreDescription) -> ChangePlan:
    word = "on" if change.on else "off"
    if found.deletion_protection == change.on:
        raise NotPlanned(NOTHING_TO_DO, f"Deletion protection of {change.name} is {word} already.")
    call = store_call(
        "UpdateTable",
        {"TableName": change.name, "DeletionProtectionEnabled": change.on},
        f"Switch deletion protection {word}.",
        (ACTIVE, ("deletion_protection", found.deletion_protection)),
        (("deletion_protection", change.on),),
        facts.arn,
    )
    told = "Deleting the table then takes a change of this setting first." if change.on else "Nothing else changes."
    danger = "" if change.on else "One call can then delete the store, with every commit not yet published."
    title = f"Switch deletion protection of {change.name} {word}"
    declares = f"deletion_protection_enabled = {str(change.on).lower()}"
    return _plan(change, facts, title, (call,), (told,), declares, danger)


def _recovery(change: ChangeRecovery, facts: StoreFacts, found: StoreDescription) -> ChangePlan:
    word = "on" if change.on else "off"
    if found.point_in_time_recovery is None:
        told = f"Whether point-in-time recovery of {change.name} is on could not be read: {_why(found)}"
        raise NotPlanned("not-read", told)
    if found.point_in_time_recovery == change.on:
        raise NotPlanned(NOTHING_TO_DO, f"Point-in-time recovery of {change.name} is {word} already.")
    before = (("point_in_time_recovery", found.point_in_time_recovery),)
    call = recovery_call(change.name, before, facts.arn, on=change.on)
    told = "The table can then be restored, into a new one, as of any second of the last 35 days from now on."
    danger = "" if change.on else "The backups of the last 35 days go at once and do not come back."
    title = f"Switch point-in-time recovery of {change.name} {word}"
    declares = f"point_in_time_recovery {{ enabled = {str(change.on).lower()} }}"
    return _plan(change, facts, title, (call,), (told,) if change.on else (), declares, danger)


def _enable_ttl(change: EnableTtl, facts: StoreFacts, found: StoreDescription) -> ChangePlan:
    _require_ttl_free(change, facts, found)
    status, attribute = found.ttl_status, found.ttl_attribute
    if status in TTL_ON:
        raise NotPlanned(
            "other-attribute",
            f"TTL of {change.name} is on {attribute or 'another attribute'}, and DynamoDB allows one at a time: "
            f"move it to {TTL_ATTRIBUTE} instead.",
        )
    if status != "DISABLED":
        why = f"TTL of {change.name} is being switched off, which takes up to an hour: try again then."
        raise NotPlanned("changing", why)
    call = ttl_call(change.name, TTL_ATTRIBUTE, facts.arn, on=True)
    told = (
        "Finished entries leave within a few days after their time, and incomplete ones stay. Every entry with a time "
        "that Levee knows is of a commit whose file is there.",
        "The change takes up to an hour to act, and within that hour TTL cannot be changed again.",
    )
    title = f"Switch TTL of {change.name} on, by {TTL_ATTRIBUTE}"
    return _plan(change, facts, title, (call,), told, ttl_block(TTL_ATTRIBUTE, on=True))


def _migrate_ttl(change: MigrateTtl, facts: StoreFacts, found: StoreDescription) -> ChangePlan:
    _require_ttl_free(change, facts, found)
    attribute = found.ttl_attribute or ""
    if found.ttl_status == "DISABLED":
        raise NotPlanned("nothing-to-move", f"TTL of {change.name} is off: switch it on by {TTL_ATTRIBUTE} instead.")
    calls: tuple[Call, ...] = (
        BeginTtlMigration(
            change.name,
            attribute,
            f"Begin the move, which Levee then carries on by two calls of UpdateTimeToLive: switch TTL on "
            f"{attribute or 'the other attribute'} off, wait until DynamoDB says DISABLED and takes another change, "
            f"switch it on by {TTL_ATTRIBUTE}, and see that it is.",
            facts.arn,
        ),
    )
    told = (
        "DynamoDB allows one TTL attribute at a time and one change in about an hour: it takes up to two hours. Levee "
        "looks every minute and says where it is; it may be stopped, and a restart of Levee does not matter.",
        f"Until TTL is off, DynamoDB may still delete entries by {attribute or 'that attribute'}: stop writers up to "
        "Delta 2.1, which lose commits by it.",
        "Between the two changes nothing expires, which does no harm.",
    )
    title = f"Move TTL of {change.name} from {attribute or 'another attribute'} to {TTL_ATTRIBUTE}"
    return ChangePlan(
        change.ACT,
        change.name,
        title,
        calls,
        told,
        conditions=_conditions(facts),
        equivalents=Equivalents(
            not_offered="it takes two changes with up to an hour between them: plan to switch TTL off, and then on."
        ),
    )


def _disable_ttl(change: DisableTtl, facts: StoreFacts, found: StoreDescription) -> ChangePlan:
    _require_no_move(facts)
    if found.ttl_status in TTL_OFF:
        raise NotPlanned(NOTHING_TO_DO, f"TTL of {change.name} is off already, or about to be.")
    if found.ttl_status != "ENABLED" or not found.ttl_attribute:
        why = f"TTL of {change.name} is {found.ttl_status or 'not known'}: try again once it is ENABLED."
        raise NotPlanned("changing", why)
    call = ttl_call(change.name, found.ttl_attribute, facts.arn, on=False)
    kept = "Finished entries then never leave; no commit is at risk."
    if facts.kind == COMMIT_COORDINATOR:
        kept = "Registrations stay for good, as readers and writers need them."
    told = (kept, "Items may still expire for up to an hour.")
    title = f"Switch TTL of {change.name} off"
    return _plan(change, facts, title, (call,), told, ttl_block(found.ttl_attribute, on=False))


def _require_ttl_free(change: EnableTtl | MigrateTtl, facts: StoreFacts, found: StoreDescription) -> None:
    """Raises NotPlanned where TTL must not be switched on."""
    if facts.kind == COMMIT_COORDINATOR:
        raise NotPlanned(
            "coordinator",
            f"{change.name} is a coordinator: registrations must never expire, so TTL stays off. A table whose "
            "registration is deleted can be neither read nor written.",
        )
    _require_no_move(facts)
    if facts.before_ttl:
        more = len(facts.before_ttl) - 3
        tables = f"{joined(facts.before_ttl[:3])}{f' and {more:,} more' if more > 0 else ''}"
        raise NotPlanned(
            "unpublished",
            f"An entry of {tables} carries a time to expire although the file of its commit is not there: TTL would "
            "let another commit take the version. That comes first.",
        )
    if found.ttl_status is None:
        raise NotPlanned("not-read", f"Whether TTL of {change.name} is on could not be read: {_why(found)}")
    if found.ttl_status in TTL_ON and found.ttl_attribute == TTL_ATTRIBUTE:
        raise NotPlanned(NOTHING_TO_DO, f"TTL of {change.name} is on {TTL_ATTRIBUTE} already.")


def _require_no_move(facts: StoreFacts) -> None:
    if facts.is_migrating:
        raise NotPlanned("under-way", f"TTL of {facts.name} is being moved already: let that end, or stop it first.")


def _why(found: StoreDescription) -> str:
    return found.unknown[0][1] if found.unknown else "the endpoint does not state it."


def _plan(
    change: StoreChange,
    facts: StoreFacts,
    title: str,
    calls: tuple[StoreCall, ...],
    consequences: tuple[str, ...],
    declares: str,
    danger: str = "",
) -> ChangePlan:
    return ChangePlan(
        change.ACT,
        change.name,
        title,
        calls,
        consequences,
        conditions=_conditions(facts),
        danger=danger,
        equivalents=of_table(facts, calls, f"Then set {declares} in it."),
    )


def _conditions(facts: StoreFacts) -> tuple[str, ...]:
    return (
        f"DynamoDB says ACTIVE of {facts.name}.",
        "Its key fits its kind, and its settings have not changed since they were read.",
    )
