"""What a page must not hold, found by reading it as a browser would."""

from html.parser import HTMLParser

URL_ATTRIBUTES = {"href", "src", "action", "formaction", "poster", "data", "ping", "xlink:href", "srcset"}
LOADS = {"script", "link", "img", "iframe", "object", "embed", "source", "video", "audio", "frame", "use", "image"}
FORBIDDEN = {"style", "iframe", "object", "embed", "base", "frame", "frameset", "applet"}


class Page(HTMLParser):
    """Reads a page; `faults` are sentences, `forms` one entry for each form that posts: whether it has its token."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self._form: str | None = None
        self._has_token = False
        self._in_script = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes += given
        if tag in FORBIDDEN:
            self.faults.append(f"<{tag}>")
        for name, value in given.items():
            self._check_attribute(tag, name, value)
        if tag == "script":
            self._in_script = given.get("type") != "application/json"
            if self._in_script and "src" not in given:
                self.faults.append("an inline <script>")
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh" and "url" in given.get("content", ""):
            self.faults.append(f"a refresh to {given['content']}")
        self._note_form(tag, given)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._in_script = False
        if tag == "form" and self._form is not None:
            if not self._has_token:
                self.faults.append(f"a form to {self._form} without its token")
            self._form = None

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.faults.append(f"inline script: {data.strip()[:60]}")

    def _check_attribute(self, tag: str, name: str, value: str) -> None:
        if name == "style" or name.startswith("on") or name.startswith("hx-on"):
            self.faults.append(f"{name}={value[:60]!r} on <{tag}>")
        if name == "srcdoc":
            self.faults.append(f"srcdoc on <{tag}>")
        if name in URL_ATTRIBUTES:
            self._check_url(tag, name, "".join(value.split()).lower())

    def _check_url(self, tag: str, name: str, url: str) -> None:
        if url.startswith(("javascript:", "vbscript:")) or (url.startswith("data:") and tag not in {"img", "link"}):
            self.faults.append(f"{name}={url[:60]} on <{tag}>")
        if tag in LOADS and url.startswith(("http:", "https:", "//")):
            self.faults.append(f"<{tag}> loads {url[:60]}")

    def _note_form(self, tag: str, given: dict[str, str]) -> None:
        if tag == "form" and given.get("method", "get").lower() == "post":
            self._form, self._has_token = given.get("action", "itself"), False
            if given.get("action", "/").startswith(("http:", "https:", "//")):
                self.faults.append(f"a form posts to {given['action']}")
        if tag == "input" and given.get("name") == "csrfmiddlewaretoken" and given.get("value"):
            self._has_token = True
