"""Names of engines, and what is said of several of them alike."""

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
