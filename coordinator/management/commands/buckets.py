"""`levee buckets`: the buckets that hold Delta tables."""

from typing import Any

from coordinator.contract import BucketLine
from coordinator.documents import bucket_document
from coordinator.models import Bucket
from dashboard.commands import JsonCommand, columns


class Command(JsonCommand):
    """Print what the database holds of the buckets, worst first; reads no AWS."""

    def handle(self, *args: Any, **options: Any) -> None:
        documents = [bucket_document(bucket) for bucket in Bucket.objects.select_related("connection")]
        self.emit(documents, _as_text(documents))


def _as_text(documents: list[BucketLine]) -> list[str]:
    if not documents:
        return ["No bucket is known: write [[watch]] into a file for `levee apply`, then `levee observe`."]
    rows = [(d["state"], d["tables"], f"{d['connection']}/{d['name']}", d["summary"]) for d in documents]
    return columns(("STATE", "TABLES", "BUCKET", "SUMMARY"), rows)
