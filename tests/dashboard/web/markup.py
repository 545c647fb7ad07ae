"""Reading a page as a browser's parser does, to ask what its elements are rather than what its text looks like."""

import re
from collections import Counter
from html.parser import HTMLParser

from django.http import HttpResponse

_BLOCK = r"(?:d[dt]|h[1-6]|li|p|t[dh])\b"


def flat(answer: HttpResponse) -> str:
    """The source of a page as it is shown: white space is one blank, and none where a block begins or ends, or a tag.

    Of what is preformatted it says less than the page.
    """
    text = re.sub(r"\s+", " ", answer.content.decode()).replace(" >", ">")
    return re.sub(rf"(<{_BLOCK}[^>]*>) | (?=</{_BLOCK}>)", r"\1", text)


class Markup(HTMLParser):
    """The elements of a page: tag names with their attributes, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def inline(self) -> list[str]:
        """Return what a strict content policy would refuse: styles, scripts without a file, handlers, script links."""
        return [fault for tag, attributes in self.elements for fault in _faults(tag, attributes)]

    def repeated_ids(self) -> list[str]:
        """Return the ids that stand on more than one element."""
        counts = Counter(attributes["id"] for _, attributes in self.elements if "id" in attributes)
        return [name for name, number in counts.items() if number > 1]

    def broken_references(self) -> list[str]:
        """Return the ids that a label, a description or a fragment's target names and that no element has."""
        known = {attributes["id"] for _, attributes in self.elements if "id" in attributes}
        names = ("for", "aria-labelledby", "aria-describedby", "popovertarget")
        wanted = {attributes[name] for _, attributes in self.elements for name in names if name in attributes}
        wanted |= {
            attributes["hx-target"].removeprefix("#") for _, attributes in self.elements if "hx-target" in attributes
        }
        return sorted(wanted - known)


def _faults(tag: str, attributes: dict[str, str]) -> list[str]:
    faults = [f"<{tag} {name}>" for name in attributes if name == "style" or name.startswith(("on", "hx-on"))]
    if tag == "style" or (tag == "script" and "src" not in attributes):
        faults.append(f"<{tag}>")
    faults += [
        f"{name}={value}"
        for name, value in attributes.items()
        if value.lower().lstrip().startswith(("javascript:", "js:"))
    ]
    return faults
