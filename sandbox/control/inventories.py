"""Inventory configurations over HTTP, kept as they were sent, and delivered in time or at once.

moto keeps a part of a configuration, answers with another, and takes the deletion of one for that of the bucket.
"""

import time
from contextlib import suppress
from threading import Thread
from typing import Any

from werkzeug.wrappers import Request, Response

from sandbox.control import stored
from sandbox.control.delivery import Configuration, deliver
from sandbox.control.inventory_files import ENDINGS
from sandbox.control.inventory_rows import OPTIONAL
from sandbox.control.jobs import RuleBook
from sandbox.control.xml import Document, Refusal, read, refused, respond, text
from sandbox.legacy_dynamodb import Application, Environ

ROOT = "InventoryConfiguration"
DELIVERY_PATH = "/_sandbox/inventory"
DAY = 86400


class Inventories:
    """WSGI layer for `?inventory` of a bucket, and for DELIVERY_PATH?bucket=…&id=…&parts=…, which delivers at once.

    What is delivered at once is answered with the key of its manifest.

    An enabled configuration is delivered first after the rules' delivery_seconds, and then daily.
    """

    def __init__(self, application: Application, rules: RuleBook) -> None:
        self.application = application
        self.rules = rules
        self._kept: dict[tuple[str, str], Configuration] = {}

    def __call__(self, environ: Environ, start_response: Any) -> Any:
        request = Request(environ)
        bucket, name = request.path.strip("/"), request.args.get("id", "")
        is_delivery = request.path == DELIVERY_PATH
        if not is_delivery and ("inventory" not in request.args or not bucket or "/" in bucket):
            return self.application(environ, start_response)
        try:
            response = self._deliver(request, name) if is_delivery else self._answer(request, bucket, name)
        except Refusal as refusal:
            response = refused(refusal, is_control=False)
        return response(environ, start_response)

    def _deliver(self, request: Request, name: str) -> Response:
        return Response(deliver(self._find(request.args["bucket"], name), request.args.get("parts", 1, int)))

    def _answer(self, request: Request, bucket: str, name: str) -> Response:
        if stored.bucket(bucket) is None:
            raise Refusal("NoSuchBucket", "The specified bucket does not exist", 404)
        if request.method == "PUT":
            self._put(bucket, name, read(request.get_data(), ROOT))
            return respond("Kept", {})
        return respond(ROOT, self._find(bucket, name).xml)

    def _find(self, bucket: str, name: str) -> Configuration:
        kept = self._kept.get((bucket, name))
        if kept is None:
            raise Refusal("NoSuchConfiguration", "The specified configuration does not exist.", 404)
        return kept

    def _put(self, bucket: str, name: str, xml: Document) -> None:
        kept = _configuration(bucket, name, xml)
        self._kept[bucket, name] = kept
        if text(xml, "IsEnabled") == "true":
            Thread(target=self._keep_delivering, args=(kept,), name=f"inventory-{name}", daemon=True).start()

    def _keep_delivering(self, kept: Configuration) -> None:
        """Until it is replaced."""
        time.sleep(self.rules.now.delivery_seconds)
        while self._kept[kept.source, kept.id] is kept:
            # S3 delivers nothing where it may not, and says nothing either.
            with suppress(Refusal):
                deliver(kept)
            time.sleep(DAY)


def _configuration(bucket: str, name: str, xml: Document) -> Configuration:
    """Raises Refusal where S3 would not take it."""
    to = "Destination/S3BucketDestination"
    fields = tuple((xml.get("OptionalFields") or {}).get("Field", ()))
    configuration = Configuration(
        xml,
        id=name,
        source=bucket,
        destination=stored.split_arn(text(xml, f"{to}/Bucket"))[0],
        destination_prefix=text(xml, f"{to}/Prefix"),
        format=text(xml, f"{to}/Format"),
        prefix=text(xml, "Filter/Prefix"),
        all_versions=text(xml, "IncludedObjectVersions") == "All",
        fields=fields,
    )
    if configuration.format not in ENDINGS or not set(fields) <= set(OPTIONAL):
        raise Refusal("InvalidArgument", "The configuration cannot be used: its Format or a field.")
    return configuration
