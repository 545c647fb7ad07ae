"""deltalake 1.6.0, the last with a DynamoDB log store: another implementation of that protocol, not ours.

It lives in an environment of its own under LEVEE_HOME, made once, because the newest deltalake is in this one.
"""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lake.spark.jars import alone
from sandbox.client import Client
from sandbox.ground import DELTA_LOG
from tests.jars_home import JARS_HOME
from tests.waiting import scaled
from tools.setup import VENV, _installers_environment, uv_on_path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements-deltalake-1.6.0.txt"
ENVIRONMENT: Path = JARS_HOME / "environments" / f"deltalake-1.6.0-{sys.implementation.cache_tag}"
ANSWER_SECONDS = scaled(60)


class OldDeltalakeError(Exception):
    """What deltalake raised, by its own name and words."""


@dataclass(frozen=True, slots=True)
class Read:
    """What it sees of a table."""

    version: int
    rows: int


class OldDeltalake:
    """Each request is a process of its own."""

    def __init__(self, client: Client, *, locks: bool = True) -> None:
        """Without `locks` it commits by S3's conditional put."""
        locking = {
            "AWS_ENDPOINT_URL_DYNAMODB": client.dynamodb_origin,
            "AWS_S3_LOCKING_PROVIDER": "dynamodb",
            "DELTA_DYNAMO_TABLE_NAME": DELTA_LOG,
        }
        self._options = storage_options(client) | (locking if locks else {})
        self._command = (str(environment() / "bin" / "python"), str(HERE / "deltalake_worker.py"))

    def append(self, uri: str, rows: int) -> int:
        """Commit that many rows; the version the table then has. Raises OldDeltalakeError."""
        return int(self._ask(do="append", uri=uri, ids=list(range(rows)))["version"])

    def conflict(self, uri: str) -> int:
        """Commit one row after another's that this one did not know of; the version. Raises OldDeltalakeError."""
        return int(self._ask(do="conflict", uri=uri)["version"])

    def vacuum(self, uri: str) -> int:
        """Replace every row, and delete what held the former ones: how many files. Raises OldDeltalakeError."""
        return int(self._ask(do="vacuum", uri=uri)["files"])

    def read(self, uri: str) -> Read:
        """Open the table, which by itself repairs its newest commit. Raises OldDeltalakeError."""
        return Read(**self._ask(do="read", uri=uri))

    def _ask(self, **request: Any) -> dict[str, Any]:
        asked = json.dumps({**request, "options": self._options})
        said = subprocess.run(
            self._command, input=asked, stdout=subprocess.PIPE, text=True, check=True, timeout=ANSWER_SECONDS
        )
        answer: dict[str, Any] = json.loads(said.stdout)
        if "error" in answer:
            raise OldDeltalakeError(answer["error"])
        return answer


def storage_options(client: Client) -> dict[str, str]:
    """How any deltalake reaches the ground's S3."""
    return {
        "AWS_ENDPOINT_URL": client.origin,
        "AWS_REGION": client.region,
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "AWS_ALLOW_HTTP": "true",
    }


def environment() -> Path:
    """The folder of the environment, which is made where it is missing or was made from other requirements."""
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    stamp = ENVIRONMENT / "stamp"
    ENVIRONMENT.parent.mkdir(parents=True, exist_ok=True)
    with alone(ENVIRONMENT.parent / "environments.lock"):
        if not (stamp.exists() and stamp.read_text() == wanted):
            uv = uv_on_path() or str(VENV / "bin" / "uv")
            _run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(ENVIRONMENT))
            python = str(ENVIRONMENT / "bin" / "python")
            _run(uv, "pip", "install", "--quiet", "--python", python, "--require-hashes", "-r", str(REQUIREMENTS))
            stamp.write_text(wanted)
    return ENVIRONMENT


def _run(*words: str) -> None:
    subprocess.run(words, env={**_installers_environment(), **os.environ}, check=True, timeout=scaled(300))
