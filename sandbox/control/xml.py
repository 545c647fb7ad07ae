"""XML of S3 and S3 Control: requests read without their namespaces, answers written, and refusals in S3's form."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

CONTROL_NAMESPACE = "http://awss3control.amazonaws.com/doc/2018-08-20/"
S3_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found"}
Content = str | int | Mapping[str, Any] | Sequence[Any]


class Refusal(Exception):
    """An error answer: S3's code, an HTTP status and a message."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


def read(data: bytes, root: str) -> Element:
    """The document's root, which must have that local name; namespaces are gone. Raises Refusal MalformedXML."""
    try:
        found = ElementTree.fromstring(data)  # noqa: S314 - sent by a program on this machine
    except ElementTree.ParseError as error:
        raise Refusal("MalformedXML", f"The XML is not well-formed: {error}.") from error
    for element in found.iter():
        element.tag = element.tag.rpartition("}")[2]
    if found.tag != root:
        raise Refusal("MalformedXML", f"The document is a {found.tag}, and a {root} was expected.")
    return found


def text(element: Element, path: str) -> str:
    """Text of the element at a path, without blanks around it."""
    return (element.findtext(path) or "").strip()


def moment(value: str | datetime) -> datetime:
    """A time as moto keeps it or as XML has it, in UTC."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def build(name: str, content: Content) -> Element:
    """An element of text, of named children, or of `member`s for a sequence."""
    element = Element(name)
    _fill(element, content)
    return element


def document(root: Element, namespace: str = CONTROL_NAMESPACE) -> bytes:
    root.set("xmlns", namespace)
    return _bytes(root)


def error_document(refusal: Refusal, *, is_control: bool) -> bytes:
    """S3 Control wraps its error; S3 does not."""
    error = build("Error", {"Code": refusal.code, "Message": str(refusal)})
    if not is_control:
        SubElement(error, "RequestId").text = uuid4().hex[:16].upper()
        return _bytes(error)
    whole = Element("ErrorResponse")
    whole.append(error)
    SubElement(whole, "RequestId").text = str(uuid4())
    return document(whole)


def answer(start_response: Any, status: int, body: bytes, kind: str = "application/xml") -> Iterable[bytes]:
    """One whole WSGI answer."""
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(body))),
        ("x-amz-request-id", uuid4().hex[:16].upper()),
    ]
    start_response(f"{status} {REASONS.get(status, 'Answer')}", headers)
    return [body]


def _bytes(root: Element) -> bytes:
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _fill(element: Element, content: Content) -> None:
    if isinstance(content, Mapping):
        for name, inner in content.items():
            if inner is not None:
                element.append(build(name, inner))
    elif isinstance(content, str | int):
        element.text = str(content)
    else:
        for member in content:
            element.append(build("member", member))
