"""What a Spark Connect server has to bring along, asked before a job is run behind it."""

import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from lake.spark.errors import SparkRefused

CONNECT_SECONDS = 5.0
DEFAULT_PORT = 15002


def require_listener(remote: str) -> None:
    """Raise SparkRefused where nobody listens; the client itself would go on trying for ten minutes."""
    parts = urlsplit(remote)
    address = (parts.hostname or "", parts.port or DEFAULT_PORT)
    try:
        socket.create_connection(address, CONNECT_SECONDS).close()
    except OSError as error:
        raise SparkRefused(
            f"No Spark Connect server answers at {remote} ({error.strerror or error}): start it, "
            "or correct SPARK_REMOTE."
        ) from error


def require_server_conf(session: Any, remote: str, wanted: Mapping[str, str]) -> None:
    """Raise SparkRefused for the first setting that the server lacks or has otherwise: no session can set these."""
    for key, value in wanted.items():
        found = str(session.conf.get(key, "") or "")
        if not _holds(key, found, value):
            has = f"has {found!r}" if found else "has none"
            raise SparkRefused(
                f"The Spark Connect server at {remote} must be started with {key}={value} and {has}: "
                "set it in its spark-defaults.conf or with --conf, and start it anew."
            )


def _holds(key: str, found: str, value: str) -> bool:
    """The server's own credentials count, and it may have other extensions beside Delta's."""
    if key.endswith((".credentials.provider", ".awsCredentialsProviderName")):
        return True
    if key == "spark.sql.extensions":
        return value in [part.strip() for part in found.split(",")]
    return found.rstrip("/") == value.rstrip("/")
