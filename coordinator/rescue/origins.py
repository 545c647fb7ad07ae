"""Whether a copy belongs where it would be put: the region and the account of its DynamoDB. Pure."""

from collections.abc import Iterator

from coordinator.protocols.wording import joined
from coordinator.rescue.facts import RestoreFacts


def why_not_here(given: RestoreFacts) -> Iterator[str]:
    """Why an item does not belong into the DynamoDB of this connection: a store of the same name is another store."""
    if given.kept is None:
        return
    saved, now = given.kept.copied_from, given.table.copied_from
    if saved.region and saved.region != now.region:
        yield f"The copy is from {given.store} in {saved.region}, and this connection reads {now.region}."
    if saved.account and now.account and saved.account != now.account:
        yield (
            f"The copy is from {given.store} in account {saved.account}, and the role of this connection is in "
            f"{now.account}."
        )
    if not saved.region:
        yield _why_several(given, given.regions - {now.region})


def where_it_goes(given: RestoreFacts) -> str:
    """Where an item would be put, as a sentence."""
    region = given.table.copied_from.region
    if given.kept is not None and not given.kept.copied_from.region:
        return f"The copy does not say its region; {given.store} is known in {region} alone, and it goes there."
    return f"It goes to {given.store} in {region}."


def _why_several(given: RestoreFacts, others: frozenset[str]) -> str:
    if not others:
        return ""
    return (
        f"The copy does not say its region, and {given.store} is known in {joined(sorted(others))} as well: it could "
        "be from there."
    )
