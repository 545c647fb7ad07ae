"""Where the table of every schedule lies, and how the writers spell it."""

BUCKET = "lake"
ROOT = "sales/orders"
PATH = f"s3a://{BUCKET}/{ROOT}"
LOG = f"{ROOT}/_delta_log/"
STAGED = f"{LOG}_staged_commits/"
LOG_STORE = "delta_log"
OTHER_LOG_STORE = "delta_log_b"
"""A second log store of the same connection, which no writer uses unless a scene says so."""
LOG_STORES = (LOG_STORE, OTHER_LOG_STORE)
COORDINATOR = "delta_commits"
ENDPOINT = "http://127.0.0.1:9"
"""Nothing listens here; requests to it end in the memory lake."""
REGION = "us-east-1"


def published(version: int) -> str:
    """The whole key of a version's file in the log."""
    return f"{LOG}{version:020d}.json"
