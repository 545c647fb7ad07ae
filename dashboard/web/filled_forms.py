"""A finished page with a form of it filled in: what was typed before is set in the page's own fields. Pure.

Nothing is filled in that a person cannot see, and no password.
"""

from collections.abc import Collection, Mapping, Sequence
from html import escape, unescape
from html.parser import HTMLParser
from itertools import accumulate
from urllib.parse import urlsplit

Fields = Mapping[str, Sequence[str]]
Attributes = dict[str, str | None]
ACT = "act"
"""The hidden field that tells forms of one address apart."""
_TICKED = {"checkbox", "radio"}
_LEFT_ALONE = {"password", "hidden", "file", "submit", "button", "image", "reset"}


def filled(html: str, actions: Collection[str], fields: Fields, note: str) -> str:
    """Return the page with the forms that post to one of `actions` filled in, each with `note` (HTML) as its beginning.

    An action is a path, or "" for a form that posts to where its page is.
    """
    forms = _Forms(html, actions, fields, note)
    forms.feed(html)
    for start, end, text in sorted(forms.edits, reverse=True):
        html = html[:start] + text + html[end:]
    return html


class _Forms(HTMLParser):
    """Finds what has to be written where: `edits` are begin, end and new text of pieces of the page."""

    def __init__(self, html: str, actions: Collection[str], fields: Fields, note: str) -> None:
        super().__init__(convert_charrefs=False)
        self.edits: list[tuple[int, int, str]] = []
        self._html, self._actions, self._fields, self._note = html, actions, fields, note
        self._lines = [0, *accumulate(len(line) + 1 for line in html.split("\n"))]
        self._of_form: list[tuple[int, int, str]] | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given, start = dict(attrs), self._at()
        end = start + len(self.get_starttag_text() or "")
        if tag == "form":
            posts = (given.get("method") or "").lower() == "post"
            is_meant = posts and urlsplit(given.get("action") or "").path in self._actions
            self._of_form = [(end, end, self._note)] if is_meant else None
        elif self._of_form is not None:
            self._of_field(tag, given, start, end)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._of_form is not None:
            self.edits += self._of_form
            self._of_form = None

    def _of_field(self, tag: str, given: Attributes, start: int, end: int) -> None:
        name = given.get("name") or ""
        typed = self._fields.get(name)
        if tag == "input" and name == ACT and typed != [given.get("value")]:
            self._of_form = None  # another form of the same address
        elif tag == "input":
            self._of_input(given, typed, start, end)
        elif tag == "textarea" and typed is not None:
            self._edit(end, self._html.index("</textarea", end), escape(typed[0]))
        elif tag == "select":
            self._select = name
        elif tag == "option" and (chosen := self._fields.get(self._select)) is not None:
            said = unescape(self._html[end : self._html.index("<", end)]).strip()
            self._edit(start, end, _tag(tag, given, selected=given.get("value", said) in chosen))

    def _of_input(self, given: Attributes, typed: Sequence[str] | None, start: int, end: int) -> None:
        kind = (given.get("type") or "text").lower()
        if kind in _TICKED:
            ticked = (given.get("value") or "on") in (typed or ())
            self._edit(start, end, _tag("input", given, checked=ticked))
        elif kind not in _LEFT_ALONE and typed is not None:
            self._edit(start, end, _tag("input", {**given, "value": typed[0]}))

    def _edit(self, start: int, end: int, text: str) -> None:
        if self._of_form is not None:
            self._of_form.append((start, end, text))

    def _at(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column


def _tag(name: str, attributes: Attributes, **switches: bool) -> str:
    """A start tag; each of `switches` is there where it is True, whatever it was before."""
    kept = {key: value for key, value in attributes.items() if key not in switches}
    written = [f' {key}="{escape(value)}"' if value is not None else f" {key}" for key, value in kept.items()]
    return f"<{name}{''.join(written)}{''.join(f' {key}' for key, on in switches.items() if on)}>"
