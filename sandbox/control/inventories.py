"""Inventory configurations over HTTP, kept as they were sent, and delivered in time or at once.

moto keeps a part of a configuration, answers with another, and takes the deletion of one for that of the bucket.
"""

import json
from collections.abc import Container, Iterable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import parse_qs, unquote
from xml.etree.ElementTree import Element

from sandbox.control import stored
from sandbox.control.batch import body_of
from sandbox.control.delivery import Configuration, Delivery, deliver, read_delivery
from sandbox.control.inventory_files import ENDINGS
from sandbox.control.inventory_rows import OPTIONAL
from sandbox.control.rules import RuleBook
from sandbox.control.xml import S3_NAMESPACE, Refusal, answer, build, document, error_document, read, text
from sandbox.legacy_dynamodb import Application, Environ

DELIVERY_PATH = "/_sandbox/inventory"
MOST, PAGE = 1000, 100
DAY = 86400
PERIODS = {"Daily": DAY, "Weekly": 7 * DAY}
# Fields that S3 knows and that say nothing here.
UNPLAYED = frozenset({"ObjectLockEventHoldStatus", "ObjectLockEventHoldDuration", "IntelligentTieringReferenceDate"})


class _Kept:
    """One configuration; `gone` is set when it is deleted or replaced."""

    def __init__(self, configuration: Configuration, xml: Element) -> None:
        self.configuration = configuration
        self.xml = xml
        self.gone = Event()


class Inventories:
    """WSGI layer for `?inventory` of a bucket, and for DELIVERY_PATH?bucket=...&id=... (POST), which delivers at once.

    An enabled configuration is delivered first after the rules' delivery_seconds, and then daily or weekly.
    """

    def __init__(self, application: Application, rules: RuleBook) -> None:
        self.application = application
        self.rules = rules
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._lock = Lock()

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        path = unquote(str(environ.get("PATH_INFO", "")))
        if path == DELIVERY_PATH:
            return self._deliver(environ, query, start_response)
        bucket = path.strip("/")
        if "inventory" not in query or not bucket or "/" in bucket:
            return self.application(environ, start_response)
        try:
            status, body = self._answer(environ, bucket, query)
        except Refusal as refusal:
            return answer(start_response, refusal.status, error_document(refusal, is_control=False))
        return answer(start_response, status, body)

    def _answer(self, environ: Environ, bucket: str, query: dict[str, list[str]]) -> tuple[int, bytes]:
        if stored.bucket(bucket) is None:
            raise Refusal("NoSuchBucket", "The specified bucket does not exist", 404)
        method, name = environ["REQUEST_METHOD"], query.get("id", [""])[0]
        if method == "GET" and not name:
            return 200, self._list(bucket, query.get("continuation-token", [""])[0])
        if method == "PUT":
            self._put(bucket, name, read(body_of(environ), "InventoryConfiguration"))
            return 200, b""
        kept = self._find(bucket, name)
        if method == "GET":
            return 200, document(kept.xml, S3_NAMESPACE)
        if method == "DELETE":
            with self._lock:
                self._kept.pop((bucket, name), None)
            kept.gone.set()
            return 204, b""
        raise Refusal("MethodNotAllowed", "The specified method is not allowed against this resource.", 405)

    def _find(self, bucket: str, name: str) -> _Kept:
        kept = self._kept.get((bucket, name))
        if kept is None:
            raise Refusal("NoSuchConfiguration", "The specified configuration does not exist.", 404)
        return kept

    def _put(self, bucket: str, name: str, xml: Element) -> None:
        kept = _Kept(_configuration(bucket, name, xml), xml)
        with self._lock:
            before = self._kept.get((bucket, name))
            if before is None and sum(1 for place in self._kept if place[0] == bucket) >= MOST:
                raise Refusal("TooManyConfigurations", f"A bucket takes {MOST} inventory configurations.")
            self._kept[bucket, name] = kept
        if before is not None:
            before.gone.set()
        if kept.configuration.enabled:
            Thread(target=self._keep_delivering, args=(kept,), name=f"inventory-{name}", daemon=True).start()

    def _list(self, bucket: str, token: str) -> bytes:
        with self._lock:
            found = sorted(
                (name, kept) for (owner, name), kept in self._kept.items() if owner == bucket and name > token
            )
        page = found[:PAGE]
        is_cut = len(found) > PAGE
        root = build("ListInventoryConfigurationsResult", {"IsTruncated": is_cut})
        if is_cut:
            root.append(build("NextContinuationToken", page[-1][0]))
        root.extend(kept.xml for _, kept in page)
        return document(root, S3_NAMESPACE)

    def _keep_delivering(self, kept: _Kept) -> None:
        seconds = self.rules.now.delivery_seconds
        while not kept.gone.wait(seconds):
            # S3 delivers nothing where it may not, and says nothing either.
            with suppress(Refusal):
                deliver(kept.configuration, Delivery())
            seconds = PERIODS[kept.configuration.frequency]

    def _deliver(self, environ: Environ, query: dict[str, list[str]], start_response: Any) -> Iterable[bytes]:
        try:
            how = read_delivery(json.loads(body_of(environ) or b"{}"))
            kept = self._find(query.get("bucket", [""])[0], query.get("id", [""])[0])
            manifest = deliver(kept.configuration, how)
        except Refusal as refusal:
            return answer(start_response, refusal.status, str(refusal).encode(), "text/plain")
        except (ValueError, TypeError) as error:
            return answer(start_response, 400, str(error).encode(), "text/plain")
        return answer(start_response, 200, json.dumps({"manifest": manifest}).encode(), "application/json")


def _configuration(bucket: str, name: str, xml: Element) -> Configuration:
    try:
        return _checked(bucket, name, xml)
    except ValueError as error:
        raise Refusal("InvalidArgument", f"The configuration cannot be used: {error}.") from error


def _checked(bucket: str, name: str, xml: Element) -> Configuration:
    if not name or text(xml, "Id") != name:
        raise ValueError("its Id is not that of the query")
    to = "Destination/S3BucketDestination"
    destination, key = stored.split_arn(text(xml, f"{to}/Bucket"))
    if key:
        raise ValueError("its Destination is no bucket's ARN")
    fields = tuple((field.text or "").strip() for field in xml.iterfind("OptionalFields/Field"))
    choices: tuple[tuple[str, Container[str], str], ...] = (
        (text(xml, f"{to}/Format"), ENDINGS, "Format"),
        (text(xml, "Schedule/Frequency"), PERIODS, "Frequency"),
        (text(xml, "IncludedObjectVersions"), ("All", "Current"), "IncludedObjectVersions"),
        (text(xml, "IsEnabled"), ("true", "false"), "IsEnabled"),
        *((field, {*OPTIONAL, *UNPLAYED}, "OptionalFields") for field in fields),
    )
    for value, known, what in choices:
        if value not in known:
            raise ValueError(f"its {what} is {value!r}")
    return Configuration(
        id=name,
        source=bucket,
        destination=destination,
        destination_prefix=text(xml, f"{to}/Prefix"),
        format=text(xml, f"{to}/Format"),
        frequency=text(xml, "Schedule/Frequency"),
        prefix=xml.findtext("Filter/Prefix") or "",
        all_versions=text(xml, "IncludedObjectVersions") == "All",
        enabled=text(xml, "IsEnabled") == "true",
        fields=fields,
    )
