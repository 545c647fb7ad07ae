"""Inventory configurations over HTTP, kept as they were sent, and delivered in time or at once.

moto keeps a part of a configuration, answers with another, and takes the deletion of one for that of the bucket.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, unquote
from xml.etree.ElementTree import Element

from sandbox.control import stored
from sandbox.control.batch import body_of
from sandbox.control.delivery import Configuration, Delivery, deliver
from sandbox.control.inventory_files import ENDINGS
from sandbox.control.inventory_rows import OPTIONAL
from sandbox.control.rules import RuleBook
from sandbox.control.xml import S3_NAMESPACE, Refusal, answer, document, error_document, read, text
from sandbox.legacy_dynamodb import Application, Environ

DELIVERY_PATH = "/_sandbox/inventory"
DAY = 86400
PERIODS = {"Daily": DAY, "Weekly": 7 * DAY}


class _Kept:
    """One configuration; `gone` is set when it is replaced."""

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

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        path = unquote(str(environ.get("PATH_INFO", "")))
        bucket, name = path.strip("/"), query.get("id", [""])[0]
        try:
            if path == DELIVERY_PATH:
                how = Delivery(**json.loads(body_of(environ) or b"{}"))
                manifest = deliver(self._find(query["bucket"][0], name).configuration, how)
                return answer(start_response, 200, json.dumps({"manifest": manifest}).encode(), "application/json")
            if "inventory" not in query or not bucket or "/" in bucket:
                return self.application(environ, start_response)
            if stored.bucket(bucket) is None:
                raise Refusal("NoSuchBucket", "The specified bucket does not exist", 404)
            if environ["REQUEST_METHOD"] == "PUT":
                self._put(bucket, name, read(body_of(environ), "InventoryConfiguration"))
                return answer(start_response, 200, b"")
            return answer(start_response, 200, document(self._find(bucket, name).xml, S3_NAMESPACE))
        except Refusal as refusal:
            return answer(start_response, refusal.status, error_document(refusal, is_control=False))

    def _find(self, bucket: str, name: str) -> _Kept:
        kept = self._kept.get((bucket, name))
        if kept is None:
            raise Refusal("NoSuchConfiguration", "The specified configuration does not exist.", 404)
        return kept

    def _put(self, bucket: str, name: str, xml: Element) -> None:
        kept = _Kept(_configuration(bucket, name, xml), xml)
        if before := self._kept.get((bucket, name)):
            before.gone.set()
        self._kept[bucket, name] = kept
        if text(xml, "IsEnabled") == "true":
            Thread(target=self._keep_delivering, args=(kept,), name=f"inventory-{name}", daemon=True).start()

    def _keep_delivering(self, kept: _Kept) -> None:
        seconds = self.rules.now.delivery_seconds
        while not kept.gone.wait(seconds):
            # S3 delivers nothing where it may not, and says nothing either.
            with suppress(Refusal):
                deliver(kept.configuration, Delivery())
            seconds = PERIODS[text(kept.xml, "Schedule/Frequency")]


def _configuration(bucket: str, name: str, xml: Element) -> Configuration:
    """Raises Refusal where S3 would not take it."""
    to = "Destination/S3BucketDestination"
    fields = tuple((field.text or "").strip() for field in xml.iterfind("OptionalFields/Field"))
    configuration = Configuration(
        id=name,
        source=bucket,
        destination=stored.split_arn(text(xml, f"{to}/Bucket"))[0],
        destination_prefix=text(xml, f"{to}/Prefix"),
        format=text(xml, f"{to}/Format"),
        prefix=xml.findtext("Filter/Prefix") or "",
        all_versions=text(xml, "IncludedObjectVersions") == "All",
        fields=fields,
    )
    is_known = configuration.format in ENDINGS and text(xml, "Schedule/Frequency") in PERIODS
    if not is_known or not set(fields) <= set(OPTIONAL) or text(xml, "Id") != name:
        raise Refusal("InvalidArgument", "The configuration cannot be used: its Id, Format, Frequency or a field.")
    return configuration
