"""`levee stores`: the commit stores."""

from collections.abc import Mapping
from typing import Any

from coordinator.contract import StoreLine
from coordinator.documents import store_document
from coordinator.models import CommitStore
from dashboard.commands import JsonCommand, columns


class Command(JsonCommand):
    """Print what the database holds of the commit stores, worst first; reads no AWS."""

    def handle(self, *args: Any, **options: Any) -> None:
        documents = [store_document(store) for store in CommitStore.objects.select_related("connection")]
        self.emit(documents, _as_text(documents))


def _as_text(documents: list[StoreLine]) -> list[str]:
    if not documents:
        return ["No commit store is declared: write [[stores]] into a file for `levee apply`."]
    rows = [
        (d["state"], d["kind"], d["tables"], _ttl(d["settings"]), f"{d['connection']}/{d['name']}", d["summary"])
        for d in documents
    ]
    return columns(("STATE", "KIND", "TABLES", "TTL", "STORE", "SUMMARY"), rows)


def _ttl(settings: Mapping[str, object]) -> object:
    status, attribute = settings.get("ttl_status"), settings.get("ttl_attribute")
    return f"{status} {attribute}" if status == "ENABLED" and attribute else status
