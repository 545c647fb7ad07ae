"""The JSON of the commands about writers: their settings, and a self-test; `doctor.py` has that of a text examined.

What stands beside a type is the example of the documentation, which is written from here.
"""

from collections.abc import Mapping
from typing import Annotated, TypedDict

from coordinator.writers.names import BroughtName
from coordinator.writers.platforms import Platform

Moment = Annotated[str, "2026-11-20T10:00:00Z"]


class ConfJson(TypedDict):
    """`commits conf --json`; each of `settings` and `new_tables` is a `session_conf.Setting`."""

    mechanism: Annotated[str, "log_store"]
    delta: Annotated[str, "4.4.0"]
    pyspark: Annotated[str, "4.2.0"]
    checked: Annotated[str, "run on S3A"]
    packages: Annotated[list[str], ["io.delta:…"]]
    settings: Annotated[list[dict[str, str]], [{"key": "…", "value": "…", "why": "…", "older": "…"}]]
    new_tables: Annotated[list[dict[str, str]], []]
    warnings: list[str]
    spark_submit: str
    pyspark_session: str
    cluster_conf: str
    brought: tuple[BroughtName, ...]
    providers: Annotated[list[dict[str, str]], [{"title": "…", "dynamodb": "com.amazonaws.auth.…", "s3a": "…"}]]
    platforms: tuple[Platform, ...]


class WriterTestJson(TypedDict):
    """`writer-test --store NAME --json` and `writer-test --check TOKEN --json`; `script` is empty with `--check`."""

    token: Annotated[str, "3f1c…"]
    uri: Annotated[str, "s3a://lake/_levee_writer_test/3f1c…"]
    connection: Annotated[str, "prod"]
    store: Annotated[str, "delta_log"]
    kind: Annotated[str, "log_store | commit_coordinator"]
    state: Annotated[str, "not-seen | unfinished | lock-taken | no-lock | not-known"]
    sentence: str
    evidence: Annotated[
        Mapping[str, object],
        {
            "read_at": "2026-11-20T10:00:00Z",
            "versions": [0, 1, 2, 3],
            "staged": [],
            "gave_way": [],
            "entries": [{"store": "delta_log", "path": "s3a://lake/…", "file": "…", "complete": True}],
            "registrations": [],
            "unread_stores": [],
            "objects": 12,
        },
    ]
    asked_at: Moment
    checked_at: Moment | None
    cleaned_at: Annotated[str | None, None]
    script: str
