"""Items of the DynamoDB commit coordinator: one for each registration of a table.

Source: `DynamoDBCommitCoordinatorClient` of delta-spark 3.3 to 4.4. The code, not its Javadoc, decides names: an
element's in-commit timestamp is `timestamp`.
"""

from lake.delta.facts import CoordinatorCommit, Registration
from lake.delta.log_store import is_inside_log
from lake.delta.names import STAGED_FOLDERS, NameKind, parse_name
from lake.delta.wire import MOST_PROBLEMS, AttributeReader, shown


def expected_keys() -> tuple[tuple[str, str, str], ...]:
    """The key schema such a DynamoDB table must have: (attribute, HASH or RANGE, type)."""
    return (("tableId", "HASH", "S"),)


def read_registration(item: object, store: str) -> Registration:
    """Read an item of the DynamoDB table `store`, in wire form. Never raises: what is not as the coordinator has it is
    named in `problems`.

    `commits` is ascending by version. An element without a readable version is left out; one whose `fsName` is no plain
    file name keeps its place with an empty `file_name`, so that an accepted commit never disappears.
    """
    reader = AttributeReader(item)
    return Registration(
        table_id=reader.text("tableId") or "",
        path=reader.text("path") or "",
        table_version=reader.integer("tableVersion", required=True),
        table_timestamp=reader.integer("tableTimestamp", required=False),
        accepting_commits=reader.boolean("acceptingCommits"),
        has_accepted_commits=reader.boolean("hasAcceptedCommits"),
        schema_version=reader.integer("schemaVersion", required=True),
        commits=_commits(reader),
        problems=tuple(reader.problems[:MOST_PROBLEMS]),
        store=store,
    )


def _commits(reader: AttributeReader) -> tuple[CoordinatorCommit, ...]:
    found = []
    for position, element in enumerate(reader.elements("commits")):
        content = element.get("M") if isinstance(element, dict) else None
        if not isinstance(content, dict):
            reader.note(f"commits[{position}]", "is not a map (M).")
            continue
        within = AttributeReader(content, f"commits[{position}].")
        commit = _commit(within)
        reader.problems.extend(within.problems)
        if commit is not None:
            found.append(commit)
    return tuple(sorted(found, key=lambda commit: commit.version))


def _commit(reader: AttributeReader) -> CoordinatorCommit | None:
    version = reader.integer("version", required=True)
    if version is None:
        return None
    return CoordinatorCommit(
        version=version,
        file_name=_file_name(reader, version),
        size=reader.integer("fsLength", required=True),
        in_commit_timestamp=reader.integer("timestamp", required=True),
        file_timestamp=reader.integer("fsTimestamp", required=True),
    )


def _file_name(reader: AttributeReader, version: int) -> str:
    name = reader.text("fsName")
    if name is None:
        return ""
    if "/" in name or not is_inside_log(name):
        reader.note("fsName", f"is {shown(name)}, which is no plain file name.")
        return ""
    parsed = parse_name(STAGED_FOLDERS[0] + name)
    if parsed.kind is not NameKind.STAGED or parsed.version != version:
        reader.note("fsName", f"is {shown(name)}, not the name of a staged commit of version {version}.")
    return name
