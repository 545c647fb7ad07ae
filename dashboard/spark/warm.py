"""The one Spark worker of this process: started at the first need, kept warm between jobs, ended with the process."""

import atexit
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from celery.signals import worker_process_shutdown
from django.conf import settings

from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.spark import archive
from lake.spark.client import SparkWorker
from lake.spark.deployment import read_extra_jars, read_master
from lake.spark.session import LakeEndpoint
from lake.spark.settings import Credentials, LogStore, WorkerSettings

KEYS_LAST_SECONDS = 40 * 60
"""How long a worker keeps the keys of an assumed role, which end after an hour."""


@dataclass(slots=True)
class _Held:
    """A worker with what it was made for, and the time.monotonic() until which its keys are good."""

    purpose: tuple[Any, ...]
    worker: SparkWorker
    good_until: float


def _open_worker(settings: WorkerSettings, home: Path) -> SparkWorker:
    """A worker that starts slowly the first time, while what makes the later starts quick is made beside it."""
    archive.prepare(settings, home)
    return SparkWorker(settings, home)


class WarmWorker:
    """Holds at most one worker; another endpoint, region, credential or log store replaces it."""

    def __init__(self, open_worker: Callable[[WorkerSettings, Path], SparkWorker] = _open_worker) -> None:
        self.open_worker = open_worker
        self._lock = Lock()
        self._held: _Held | None = None

    def borrow(self, connection: Connection, lake: Lake, log_store: str = "", bucket_region: str = "") -> SparkWorker:
        """The worker for this connection, whose commits go through `log_store` where one is named.

        S3 is asked in `bucket_region`, "" for that of the connection.

        Raises SparkRefused for a master that cannot be read, AwsError without credentials, EndpointNotAllowed.
        """
        master, jars = read_master(os.environ), read_extra_jars(os.environ)
        region = bucket_region or connection.region
        purpose = (lake_access(connection), region, log_store, master, jars)
        with self._lock:
            held = self._held
            if held is None or held.purpose != purpose or time.monotonic() > held.good_until:
                self._close()
                made = WorkerSettings(
                    endpoint=_endpoint(connection, lake, region),
                    master=master,
                    credentials=_credentials(connection, lake),
                    extra_jars=jars,
                    log_store=LogStore(log_store, connection.region) if log_store else None,
                )
                until = time.monotonic() + (KEYS_LAST_SECONDS if connection.role_arn else float("inf"))
                self._held = held = _Held(purpose, self.open_worker(made, settings.LEVEE_HOME), until)
            return held.worker

    def close(self) -> None:
        """End the worker, if there is one, and everything it started."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._held is not None:
            self._held.worker.close()
            self._held = None


def _endpoint(connection: Connection, lake: Lake, region: str) -> LakeEndpoint:
    given = bool(connection.role_arn or lake_access(connection).static_credentials)
    return LakeEndpoint(region, connection.endpoint_url.rstrip("/"), environment_credentials=given)


def _credentials(connection: Connection, lake: Lake) -> Credentials | None:
    """Keys that only Levee has: the sandbox's, or those of an assumed role. Otherwise Spark's own AWS chain counts."""
    if connection.role_arn or lake_access(connection).static_credentials:
        return Credentials(*lake.keys())
    return None


spark = WarmWorker()
atexit.register(spark.close)


@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def _end_with_process(**_: Any) -> None:
    """A child of Celery's prefork pool ends without running atexit."""
    spark.close()
