"""`levee export`: what is declared here, as the file that `levee apply` reads."""

from typing import Any

from dashboard.commands import Failed, JsonCommand
from dashboard.declaration.differences import DeclaredChange, read_declaration
from dashboard.declaration.files import as_toml
from dashboard.declaration.reading import DeclarationError
from dashboard.declaration.sections import Section, sections


class Command(JsonCommand):
    """Print the file; fail where applying it would not be nothing to do."""

    def handle(self, *args: Any, **options: Any) -> None:
        document = stored_document()
        self.emit(document, as_toml(document).removesuffix("\n"))
        if trouble := why_not_the_same(document):
            raise Failed(trouble)


def stored_document() -> dict[str, object]:
    """Every section that holds something, as reading the file would give it. No credentials: none are stored."""
    found = {section.key: _written(section) for section in sections()}
    return {key: tables for key, tables in found.items() if tables}


def why_not_the_same(document: dict[str, object]) -> str:
    """Say where applying the document would not end with nothing to do; "" where it would."""
    try:
        declared = read_declaration(document)
    except DeclarationError as error:
        return f"`levee apply` refuses what is stored: {error}"
    for section in sections():
        stored = {item.name: item.values for item in section.stored()}
        for item in declared.get(section.key, ()):
            if (before := stored.get(item.name)) != item.values:
                return (
                    f"`levee apply` of this would still {DeclaredChange(section.what, item.name, before, item.values)}."
                )
    return ""


def _written(section: Section) -> Any:
    return section.written(list(section.stored()))
