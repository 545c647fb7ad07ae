"""Plain HTTP over kept-alive connections; knows certificates and proxies, nothing of AWS."""

import io
import threading
from collections.abc import Mapping
from typing import Any

import urllib3
from botocore.httpsession import get_cert_path
from botocore.utils import get_environ_proxies
from urllib3 import exceptions

from lake.aws.answers import AwsResponse

MOST_HOSTS = 64


class UnreachableError(Exception):
    """No complete answer came; the text is a clause that says why. `is_retryable`: whether another try may succeed."""

    def __init__(self, reason: str, *, is_retryable: bool) -> None:
        super().__init__(reason)
        self.is_retryable = is_retryable


class Transport:
    """One pool per host, shared by all threads; keeps up to `parallel` connections to each open.

    Times are seconds. `ca_bundle` is a file of certificates to trust, or "" for those that botocore trusts. HTTPS goes
    through the proxy that HTTPS_PROXY and NO_PROXY name; plain HTTP, which only an endpoint of one's own speaks, goes
    straight.
    """

    def __init__(self, ca_bundle: str, parallel: int, connect: float, read: float) -> None:
        self._options: dict[str, Any] = {
            "num_pools": MOST_HOSTS,
            "maxsize": parallel,
            "ca_certs": ca_bundle or get_cert_path(True),
        }
        self._timeout = urllib3.Timeout(connect=connect, read=read)
        self._direct = urllib3.PoolManager(**self._options)
        self._proxied: dict[str, urllib3.ProxyManager] = {}
        self._proxies: dict[str, str] = {}
        self._lock = threading.Lock()

    def send(self, method: str, origin: str, target: str, headers: Mapping[str, str], body: bytes) -> AwsResponse:
        """Send one request. `target` is path and query, sent exactly as given. Raises UnreachableError."""
        try:
            # The pool is asked for the bare target: the manager would resolve "." and ".." in keys.
            response = self._pool(origin).urlopen(
                method,
                target,
                # A stream is sent piece by piece: whole bytes would have to be gone within one timeout.
                body=io.BytesIO(body) if body else None,
                headers={**headers, "Content-Length": str(len(body))} if body else headers,
                timeout=self._timeout,
                retries=False,
                redirect=False,
                preload_content=True,
                decode_content=False,
            )
        except exceptions.HTTPError as error:
            raise self._unreachable(error) from error
        return AwsResponse(response.status, response.headers, response.data)

    def close(self) -> None:
        for manager in (self._direct, *self._proxied.values()):
            manager.clear()

    def _pool(self, origin: str) -> urllib3.HTTPConnectionPool:
        proxy = self._proxy(origin) if origin.startswith("https:") else ""
        if not proxy:
            return self._direct.connection_from_url(origin)
        with self._lock:
            if proxy not in self._proxied:
                self._proxied[proxy] = urllib3.ProxyManager(proxy, **self._options)
        return self._proxied[proxy].connection_from_url(origin)

    def _proxy(self, origin: str) -> str:
        if origin not in self._proxies:
            self._proxies[origin] = get_environ_proxies(origin).get("https", "")
        return self._proxies[origin]

    def _unreachable(self, error: exceptions.HTTPError) -> UnreachableError:
        match error:
            case exceptions.ProxyError():
                return UnreachableError(f"the proxy was of no help: {error.original_error}", is_retryable=True)
            case exceptions.SSLError():
                return UnreachableError(f"TLS could not be agreed on: {error}", is_retryable=False)
            case exceptions.LocationValueError():
                return UnreachableError(f"the address cannot be used: {error}", is_retryable=False)
            case exceptions.NameResolutionError():
                return UnreachableError("its host name is not known", is_retryable=True)
            case exceptions.ConnectTimeoutError():
                return UnreachableError(f"no connection within {self._timeout.connect_timeout} s", is_retryable=True)
            case exceptions.NewConnectionError():
                return UnreachableError(
                    "the connection was refused or its network cannot be reached", is_retryable=True
                )
            case exceptions.ReadTimeoutError():
                return UnreachableError(f"nothing was sent for {self._timeout.read_timeout} s", is_retryable=True)
        return UnreachableError("the connection broke before the answer was complete", is_retryable=True)
