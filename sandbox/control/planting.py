"""Many objects in one request, for those who need thousands and test something else than writing them."""

import json
from collections.abc import Iterable
from typing import Any

from sandbox.control import stored
from sandbox.control.batch import body_of
from sandbox.control.xml import answer
from sandbox.legacy_dynamodb import Application, Environ

PLANTING_PATH = "/_sandbox/objects"


class Planting:
    """WSGI layer for PLANTING_PATH: POST {"bucket", "keys", "data"} writes every key with the same text."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        if environ.get("PATH_INFO") != PLANTING_PATH:
            return self.application(environ, start_response)
        try:
            said = json.loads(body_of(environ))
            data = str(said["data"]).encode()
            for key in said["keys"]:
                stored.write(str(said["bucket"]), str(key), data)
        except (ValueError, KeyError, TypeError) as error:
            return answer(start_response, 400, f"{type(error).__name__}: {error}".encode(), "text/plain")
        return answer(start_response, 200, b"{}", "application/json")
