"""Which engines may do what with a table: read it fresh, read it stale, write it, or must never touch it.

Only what is known: `mark` says how. "verified": seen by running it; "source": read in the engine's source; "inferred":
concluded, not seen; "open": nobody has established it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from lake.delta.facts import Mechanism

SPARK = "Spark with Delta"
DELTALAKE = "deltalake (delta-rs)"
TRINO = "Trino"
ATHENA = "Athena"
DATABRICKS = "Databricks"
FLINK = "Flink and Delta Standalone"

NO_COORDINATOR = (
    "Knows no DynamoDB coordinator: where it knows vacuumProtocolCheck it sees published commits alone, and the writer "
    "feature coordinatedCommits-preview keeps it from writing."
)
NO_LOCK = "Reads published commits and takes no lock in the log store: its writes and Spark's can overwrite each other."
ALONE = "Nothing keeps it and another engine apart: let one engine alone write the table."
NOTHING_KNOWN = "Nothing has been established: do not let it write before you know."


class ReadSupport(StrEnum):
    """What a reader gets. STALE: published commits only, so that accepted ones are missing without a word."""

    FRESH = "Reads fresh"
    STALE = "Reads stale"
    REFUSED = "Cannot read"
    UNKNOWN = "Not known"


class WriteSupport(StrEnum):
    """What a writer does. NEVER: it can be done, and loses commits or breaks the table."""

    YES = "Writes"
    REFUSED = "Refuses to write"
    NEVER = "Must never write"
    UNKNOWN = "Not known"


@dataclass(frozen=True, slots=True)
class EngineSupport:
    """One row: an engine and its versions beside one table."""

    name: str
    versions: str
    read: ReadSupport
    write: WriteSupport
    reason: str
    mark: str


_DELTALAKE_READS = frozenset(
    {"timestampNtz", "deletionVectors", "variantType", "variantType-preview", "v2Checkpoint", "columnMapping"}
)
_DELTALAKE_WRITES = _DELTALAKE_READS.union(
    ("appendOnly", "invariants", "checkConstraints", "generatedColumns", "changeDataFeed")
)


def matrix(
    mechanism: Mechanism, reader_features: Iterable[str], writer_features: Iterable[str]
) -> tuple[EngineSupport, ...]:
    """Every engine that something is known of, for a table of this mechanism and these features."""
    readers, writers = frozenset(reader_features), frozenset(writer_features)
    rows = _ROWS.get(mechanism, ())
    return tuple(_with_features(row, readers, writers) for row in rows)


def _with_features(row: EngineSupport, readers: frozenset[str], writers: frozenset[str]) -> EngineSupport:
    """deltalake names what it supports; of other engines the features of each release are not settled here."""
    if row.name != DELTALAKE:
        return row
    unread, unwritten = sorted(readers - _DELTALAKE_READS), sorted((readers | writers) - _DELTALAKE_WRITES)
    if unread and row.read is not ReadSupport.REFUSED:
        row = replace(row, read=ReadSupport.REFUSED, reason=f"{row.reason} It lacks the reader feature {unread[0]}.")
    if unwritten and row.write is WriteSupport.YES:
        row = replace(
            row, write=WriteSupport.REFUSED, reason=f"{row.reason} It lacks the writer feature {unwritten[0]}."
        )
    return row


def _others(read: ReadSupport, write: WriteSupport, reason: str) -> Iterator[EngineSupport]:
    """Engines of which the same is concluded, and the one of which nothing is known."""
    for name in (TRINO, ATHENA, DATABRICKS):
        yield EngineSupport(name, "all", read, write, reason, "inferred")
    yield _unknown(FLINK)


def _unknown(name: str) -> EngineSupport:
    return EngineSupport(name, "all", ReadSupport.UNKNOWN, WriteSupport.UNKNOWN, NOTHING_KNOWN, "open")


_COORDINATED = (
    EngineSupport(
        SPARK,
        "Delta 4.0.0 to 4.4.0",
        ReadSupport.FRESH,
        WriteSupport.YES,
        "Asks the coordinator at each refresh and commits through it. Staged files lie in _staged_commits.",
        "verified (4.0.1 and 4.4.0; the releases between them by source)",
    ),
    EngineSupport(
        SPARK,
        "Delta 3.3.0 to 3.3.3",
        ReadSupport.FRESH,
        WriteSupport.NEVER,
        "Knows the coordinator, but stages in _commits: beside a writer of 4.x each looks for unbackfilled commits in "
        "the wrong folder. Alone, without any 4.x session, it may write.",
        "source",
    ),
    EngineSupport(
        SPARK,
        "Delta 3.2 and older",
        ReadSupport.UNKNOWN,
        WriteSupport.REFUSED,
        "Does not know the writer feature coordinatedCommits-preview, which began with 3.3.0.",
        "source",
    ),
    EngineSupport(
        SPARK,
        "with spark.databricks.delta.v2.enableMode=STRICT (4.1 and newer)",
        ReadSupport.REFUSED,
        WriteSupport.REFUSED,
        "STRICT routes everything to Delta Kernel, which does not know coordinatedCommits-preview: leave it at AUTO.",
        "source",
    ),
    EngineSupport(
        DELTALAKE,
        "1.6.0, 1.6.1 and newer",
        ReadSupport.REFUSED,
        WriteSupport.NEVER,
        "Opens the table, and answers version and files from published commits alone; reading rows and writing is "
        "refused. vacuum, create_checkpoint and cleanup_metadata do not look at the protocol: a full vacuum deletes "
        "files that only unbackfilled commits name.",
        "verified (1.6.0 and 1.6.6)",
    ),
    *_others(ReadSupport.STALE, WriteSupport.REFUSED, NO_COORDINATOR),
)
_LOG_STORE = (
    EngineSupport(
        SPARK,
        "Delta 2.2.0 to 4.4.0, with S3DynamoDBLogStore",
        ReadSupport.FRESH,
        WriteSupport.YES,
        "Every session needs the class, the same DynamoDB table and region, and the same spelling of the path: "
        "s3:// and s3a:// do not exclude each other.",
        "verified (4.0.1 and 4.4.0; the releases between them by source)",
    ),
    EngineSupport(
        SPARK,
        "Delta 1.2.0 to 2.1.0, with S3DynamoDBLogStore",
        ReadSupport.FRESH,
        WriteSupport.NEVER,
        "Up to 2.1.0 a slow second writer can overwrite a commit whose item is gone already (issue 1410).",
        "source",
    ),
    EngineSupport(
        SPARK,
        "any release without S3DynamoDBLogStore",
        ReadSupport.STALE,
        WriteSupport.NEVER,
        "Takes no lock and finishes no pending commit: a writer of the log store can overwrite its commit file.",
        "source",
    ),
    EngineSupport(
        DELTALAKE,
        "1.6.0 with AWS_S3_LOCKING_PROVIDER=dynamodb",
        ReadSupport.FRESH,
        WriteSupport.YES,
        "Writes entries that Spark can read and finishes Spark's, where the path is spelled alike. 1.6.0 is the last "
        "release with it.",
        "verified on an emulator; fresh reading inferred",
    ),
    EngineSupport(
        DELTALAKE,
        "1.6.1 and newer",
        ReadSupport.STALE,
        WriteSupport.NEVER,
        "Ignores the locking provider and commits without an entry, so that Spark can overwrite its commit.",
        "verified (1.6.6)",
    ),
    *_others(ReadSupport.STALE, WriteSupport.NEVER, NO_LOCK),
)
_SINGLE_DRIVER = (
    EngineSupport(
        SPARK,
        "every release",
        ReadSupport.FRESH,
        WriteSupport.YES,
        "From one driver at a time. Two drivers at once can both win a version, and one's rows are gone.",
        "verified (hadoop-aws 3.5.0)",
    ),
    EngineSupport(
        DELTALAKE,
        "1.6.0, 1.6.1 and newer",
        ReadSupport.FRESH,
        WriteSupport.YES,
        "Commits by conditional put and keeps its own writers apart; never beside a Spark writer, whose create "
        "overwrites.",
        "verified (1.6.6)",
    ),
    *_others(ReadSupport.FRESH, WriteSupport.UNKNOWN, ALONE),
)
_CATALOG = (
    EngineSupport(
        SPARK, "Delta 4.0.1 to 4.4.0", ReadSupport.FRESH, WriteSupport.YES, "Through the catalogue alone.", "source"
    ),
    EngineSupport(
        DELTALAKE,
        "1.6.0, 1.6.1 and newer",
        ReadSupport.REFUSED,
        WriteSupport.REFUSED,
        "Loading fails: it wants the newest version from the catalogue.",
        "verified (1.6.6)",
    ),
    *(_unknown(name) for name in (TRINO, ATHENA, DATABRICKS, FLINK)),
)
_ROWS = {
    Mechanism.COORDINATED_COMMITS: _COORDINATED,
    Mechanism.LOG_STORE: _LOG_STORE,
    Mechanism.SINGLE_DRIVER: _SINGLE_DRIVER,
    Mechanism.CATALOG_MANAGED: _CATALOG,
}
