"""moto without four costs that each request to it pays, and that say nothing of what it answers."""

import functools
import io
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from urllib3 import HTTPHeaderDict

from lake.aws import access, services
from lake.aws.answers import AwsResponse
from lake.aws.transport import Transport


@functools.cache
def dispatcher() -> Any:
    """moto's WSGI application for every service, the same for all of this process."""
    from moto.cloudwatch.models import CloudWatchBackend
    from moto.core import errors, responses
    from moto.server import DomainDispatcherApplication, create_backend_app

    # Of each bucket and table that any test before has left, moto would make metrics at each question for some.
    CloudWatchBackend.aws_metric_data = property(lambda _: [])
    # It lists its own folder and tries 150 patterns to find the service of a host, twice.
    find = DomainDispatcherApplication.get_backend_for_host
    DomainDispatcherApplication.get_backend_for_host = functools.cache(find)
    # It makes the table of a service's errors for each error, and looks a class's methods up for each call.
    known_errors = errors.ErrorLookupFactory()
    errors.ErrorLookupFactory = lambda: known_errors
    responses.method_names_from_class = functools.cache(responses.method_names_from_class)
    return DomainDispatcherApplication(create_backend_app)


# Requests of this process to a server of this process, without a socket between them

_APPS: dict[str, Any] = {}
"""The WSGI application behind each origin."""


def serve_here(origin: str, application: Any) -> None:
    """Let Levee's clients, and boto3's that were `shortened`, call the application of this origin by themselves."""
    _APPS[origin] = application
    access.Transport = Shortcut
    services._client = _client


_make_client = services._client
_client = functools.cache(lambda *given: shortened(_make_client(*given)))


def serve_no_more(origin: str) -> None:
    """Another server may get the port."""
    _APPS.pop(origin, None)


class Shortcut(Transport):
    """Levee's transport; what goes to an application of this process is handed to it."""

    def send(self, method: str, origin: str, target: str, headers: Mapping[str, str], body: bytes) -> AwsResponse:
        application = _APPS.get(origin)
        if application is None:
            return super().send(method, origin, target, headers, body)
        status, answered, data = _call(application, method, f"{origin}{target}", headers, body)
        return AwsResponse(status, HTTPHeaderDict(answered), b"" if method == "HEAD" else data)


def shortened(client: Any) -> Any:
    """A client of boto3 whose requests are handed over too."""
    client.meta.events.register("before-send", _send_of_boto)
    return client


def _send_of_boto(request: Any, **_: Any) -> Any:
    from botocore.awsrequest import AWSResponse
    from moto.core.botocore_stubber import MockRawResponse

    parts = urlsplit(request.url)
    application = _APPS.get(f"{parts.scheme}://{parts.netloc}")
    if application is None:
        return None
    body = request.body.read() if hasattr(request.body, "read") else request.body or b""
    headers = {name: value.decode() if isinstance(value, bytes) else value for name, value in request.headers.items()}
    body = body.encode() if isinstance(body, str) else bytes(body)
    status, answered, data = _call(application, request.method, request.url, headers, body)
    return AWSResponse(request.url, status, HTTPHeaderDict(answered), MockRawResponse(data))


def _call(
    application: Any, method: str, url: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, list[tuple[str, str]], bytes]:
    """One request as werkzeug's server hands it on; its status, headers and body."""
    parts = urlsplit(url)
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(parts.path or "/", "latin-1"),
        "QUERY_STRING": parts.query,
        "RAW_URI": target,
        "REQUEST_URI": target,
        "SERVER_NAME": parts.hostname,
        "SERVER_PORT": str(parts.port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": parts.netloc,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": parts.scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in headers.items():
        key = name.upper().replace("-", "_")
        if key not in ("CONTENT_LENGTH", "HOST"):
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    answered: list[tuple[str, list[tuple[str, str]]]] = []
    try:
        data = b"".join(application(environ, lambda status, found, exc_info=None: answered.append((status, found))))
    except NotImplementedError:  # what moto has not built; its server answers so
        return 500, [("Content-Type", "text/html")], b"Internal Server Error"
    return int(answered[0][0].split()[0]), answered[0][1], data
