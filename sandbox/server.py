"""S3, S3 Control, DynamoDB and STS on one loopback port: moto's server application behind thin layers."""

import json
import socket
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.common_models import BaseModel
from moto.moto_server import werkzeug_app
from moto.moto_server.utilities import RegexConverter
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import BaseWSGIServer, make_server
from werkzeug.wrappers import Response

from sandbox.client import REGION
from sandbox.control.batch import BatchOperations
from sandbox.control.inventories import Inventories
from sandbox.control.jobs import RuleBook
from sandbox.control.xml import Refusal, refused
from sandbox.legacy_dynamodb import Application, Environ, legacy_dynamodb

_MODIFIED_AT = "HTTP_X_SANDBOX_MODIFIED_AT"


def one_region(application: Application) -> Application:
    """WSGI layer: DynamoDB requests signed for us-east-1 count as the sandbox's region.

    The AWS SDK v1 inside Delta's coordinator derives its signing region from the endpoint's host name and falls back to
    us-east-1 for a loopback address; moto files tables by that region, so its tables would be out of everyone's sight.
    """

    def layer(environ: Environ, start_response: Any) -> Iterable[bytes]:
        if signed := environ.get("HTTP_AUTHORIZATION"):
            environ["HTTP_AUTHORIZATION"] = signed.replace("/us-east-1/dynamodb/", f"/{REGION}/dynamodb/")
        return application(environ, start_response)

    return layer


def backdating(application: Application) -> Application:
    """WSGI layer: a PUT with X-Sandbox-Modified-At (epoch seconds) leaves an object of that age."""

    def layer(environ: Environ, start_response: Any) -> Iterable[bytes]:
        stamp = environ.pop(_MODIFIED_AT, None)
        answer = application(environ, start_response)
        if stamp is not None:
            _, bucket, key = unquote(environ["RAW_URI"].partition("?")[0]).split("/", 2)
            modified_at = datetime.fromtimestamp(float(stamp), UTC).replace(tzinfo=None)
            s3_backends[DEFAULT_ACCOUNT_ID]["aws"].get_bucket(bucket).keys[key].last_modified = modified_at
        return answer

    return layer


def pinning_sources(application: Application) -> Application:
    """WSGI layer: a copy on the condition of its source's ETag is refused where that is another, which moto ignores."""

    def layer(environ: Environ, start_response: Any) -> Iterable[bytes]:
        wanted = environ.get("HTTP_X_AMZ_COPY_SOURCE_IF_MATCH")
        if wanted is not None and environ.get("HTTP_X_AMZ_COPY_SOURCE"):
            name, _, key = unquote(environ["HTTP_X_AMZ_COPY_SOURCE"]).lstrip("/").partition("/")
            bucket = s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets.get(name)
            found = bucket.keys.get(key) if bucket else None
            if found is not None and found.etag.strip('"') != wanted.strip('"'):
                said = "At least one of the pre-conditions you specified did not hold"
                refusal: Iterable[bytes] = refused(Refusal("PreconditionFailed", said, 412), is_control=False)(
                    environ, start_response
                )
                return refusal
        return application(environ, start_response)

    return layer


def refusing_unknown(application: Application) -> Application:
    """WSGI layer: an operation that moto does not know is refused with 501, which no client repeats."""

    def layer(environ: Environ, start_response: Any) -> Iterable[bytes]:
        try:
            return application(environ, start_response)
        except NotImplementedError as error:
            said = f"The sandbox does not play this: {error}"
        if environ.get("HTTP_X_AMZ_TARGET"):
            body = json.dumps({"__type": "NotImplemented", "message": said})
            answer = Response(body, 501, content_type="application/x-amz-json-1.0")
        else:
            is_s3 = "/s3/" in environ.get("HTTP_AUTHORIZATION", "")
            answer = refused(Refusal("NotImplemented", said, 501), is_control=not is_s3)
        told: Iterable[bytes] = answer(environ, start_response)
        return told

    return layer


class _Handler(MotoRequestHandler):  # type: ignore[misc]  # moto comes without types
    """Says nothing of each request, and sends answers at once instead of waiting for the peer's acknowledgement."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


class _AnyCharacter(RegexConverter):  # type: ignore[misc]  # moto comes without types
    """A part of a path that may hold line breaks, as keys of S3 may; moto's own does not match them."""

    def __init__(self, url_map: Any, *items: Any) -> None:
        super().__init__(url_map, *items)
        self.regex = f"(?s:{items[0]})"


def _untracked(model: type, *_: Any, **__: Any) -> Any:
    return object.__new__(model)


def application() -> Application:
    """Return the whole sandbox as one WSGI application."""
    # moto keeps every model it ever made for a page of its own, and makes one for each item that it answers with.
    BaseModel.__new__ = staticmethod(_untracked)
    werkzeug_app.RegexConverter = _AnyCharacter
    moto: Callable[..., Iterable[bytes]] = DomainDispatcherApplication(create_backend_app)
    rules = RuleBook()
    return one_region(
        legacy_dynamodb(BatchOperations(Inventories(backdating(pinning_sources(refusing_unknown(moto))), rules), rules))
    )


def bind(port: int) -> BaseWSGIServer:
    """Bind the sandbox to 127.0.0.1; port 0 takes any free one. OSError where the port is taken."""
    # Our own socket: werkzeug prints advice and leaves the process where a port is taken.
    with socket.create_server(("127.0.0.1", port), backlog=128) as bound:
        taken: int = bound.getsockname()[1]
        return make_server(
            "127.0.0.1", taken, application(), threaded=True, request_handler=_Handler, fd=bound.fileno()
        )


def origin(server: BaseWSGIServer) -> str:
    return f"http://127.0.0.1:{server.port}"
