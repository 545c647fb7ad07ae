"""`levee export`: what is declared here, as the file that `levee apply` reads."""

from typing import Any

from dashboard.commands import Failed, JsonCommand
from dashboard.declaration.exporting import stored_document, why_not_the_same
from dashboard.declaration.files import as_toml


class Command(JsonCommand):
    """Print the file; fail where applying it would not be nothing to do."""

    help = "Print what is declared as a TOML file for levee apply; --json prints the same sections as one document."

    def handle(self, *args: Any, **options: Any) -> None:
        document = stored_document()
        self.emit(document, as_toml(document).removesuffix("\n"))
        if trouble := why_not_the_same(document):
            raise Failed(trouble)
