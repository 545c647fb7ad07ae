"""Registrations of upgrades that lost their race: what proves that nothing rests on one.

Source: `registerTable` of Delta 3.3 to 4.4 puts the item with `tableVersion` set to the version that the upgrade commit
will have, and that commit is not tried again under another. So once another commit holds that version, no metadata can
come to name the registration.
"""

from collections.abc import Iterator

from coordinator.protocols.names import is_version
from coordinator.protocols.registrations import current_registration
from coordinator.protocols.wording import thousands
from coordinator.repairs.item_calls import DeleteRegistration
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason
from lake.delta.facts import Registration
from lake.delta.names import commit_name


def orphans(table: TableUnderRepair) -> list[Registration]:
    """Registrations without an accepted commit that the newest metadata does not name."""
    current = current_registration(table.given.facts)
    return [one for one in table.registrations if one.has_accepted_commits is False and one != current]


def upgrade_file(registration: Registration) -> str:
    """The commit file that an upgrade was to write, relative to `_delta_log/`; "" where its version cannot be one."""
    version = registration.table_version
    return commit_name(version) if version is not None and is_version(version) else ""


def why_not_lost(table: TableUnderRepair, registration: Registration) -> str:
    """Why a registration may still be, or come to be, the one that metadata names; "" where it cannot."""
    return first_reason(_reasons(table, registration))


def removal(table: TableUnderRepair, registration: Registration) -> DeleteRegistration:
    """Delete it, if it is still as it was read."""
    version = registration.table_version if registration.table_version is not None else -1
    return DeleteRegistration(registration.store, registration.table_id, registration.path, version)


def _reasons(table: TableUnderRepair, registration: Registration) -> Iterator[str]:
    if registration.problems or registration.commits:
        yield f"Registration {registration.table_id} is not as a new one is: it lists commits, or is malformed."
    if table.raw(registration) is None:
        yield f"Registration {registration.table_id} changed while it was read."
    name = upgrade_file(registration)
    if not name or registration.table_version is None:
        yield "tableVersion is not a version that Delta can have."
        return
    version = thousands(registration.table_version)
    if table.view.is_cleaned(registration.table_version):
        yield f"Version {version} was cleaned out of the log, so that whether it names the registration is not known."
    if not table.view.file(registration.table_version).present:
        yield f"Version {version} is not published, so an upgrade to it may still be running."
    check = table.check(name)
    if check is None or check.problems:
        yield f"Version {version} was not read as a whole commit, so whether it names the registration is not known."
    elif check.registration == registration.table_id:
        yield f"Version {version} names the registration, so applications may hold that state of the table."
