"""The lifecycle configuration of a bucket as S3 sent it, rule by rule in S3's own bytes, and writing it back.

Rules that nobody asked to change are never rebuilt from what was understood of them: their bytes go back as they came.
"""

import hashlib
import xml.parsers.expat
from base64 import b64encode
from collections import Counter
from dataclasses import dataclass
from typing import Any

import botocore.serialize

from lake.aws.access import Lake
from lake.aws.answers import AwsResponse, malformed, request_id
from lake.aws.buckets import parse_answer, s3_operation
from lake.aws.errors import AwsError
from lake.aws.s3 import OWNER_HEADER

MINIMUM_SIZE_HEADER = "x-amz-transition-default-minimum-object-size"
_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_ROOT = "LifecycleConfiguration"
_CONTAINERS = frozenset({"Rule", "Filter", "And"})


@dataclass(frozen=True, slots=True)
class RawRule:
    """One rule: `xml` is the whole element as it came; `tree` the same as (name, text, children), for comparing.

    `old_form` says that its prefix stands beside the status and not in a Filter; S3 refuses a configuration that holds
    rules of both forms.
    """

    id: str
    xml: str
    old_form: bool
    tree: "Tree"


Tree = tuple[str, str, tuple["Tree", ...]]


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """All rules in order. `minimum_size` is the bucket's default for transitions, which a PUT without it resets."""

    rules: tuple[RawRule, ...] = ()
    minimum_size: str = ""

    @property
    def digest(self) -> str:
        """A hash of every byte of every rule, in order."""
        told = "\n".join([self.minimum_size, *(rule.xml for rule in self.rules)])
        return hashlib.sha256(told.encode()).hexdigest()[:32]

    @property
    def body(self) -> bytes:
        inner = "".join(rule.xml for rule in self.rules)
        return f'<{_ROOT} xmlns="{_NAMESPACE}">{inner}</{_ROOT}>'.encode()


class LifecycleUnreadable(ValueError):
    """XML that is no lifecycle configuration, or holds what cannot be sent back byte for byte."""


def read_lifecycle(lake: Lake, bucket: str) -> Lifecycle:
    """The configuration, empty where there is none. Raises AwsError, MalformedAnswer among them."""
    target, operation = f"s3://{bucket}", "s3:GetBucketLifecycleConfiguration"
    try:
        answer = lake.s3.ask(operation, bucket, "", query={"lifecycle": ""}, target=target)
    except AwsError as error:
        if error.code == "NoSuchLifecycleConfiguration":
            return Lifecycle()
        raise
    try:
        return Lifecycle(split_rules(answer.body), answer.headers.get(MINIMUM_SIZE_HEADER, ""))
    except LifecycleUnreadable as reason:
        raise malformed(answer, str(reason), operation, target) from reason


def write_lifecycle(lake: Lake, bucket: str, lifecycle: Lifecycle, *, owner: str = "") -> str:
    """Replace the whole configuration, or delete it where no rule is left; returns the request's id.

    `owner` is the account that must own the bucket, "" for any. S3 knows no condition for this write: read before and
    after. Raises AwsError.
    """
    headers = {OWNER_HEADER: owner} if owner else {}
    if not lifecycle.rules:
        return request_id(_send(lake, bucket, "s3:DeleteBucketLifecycle", "DELETE", headers, b""))
    body = lifecycle.body
    headers["Content-MD5"] = b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
    if lifecycle.minimum_size:
        headers[MINIMUM_SIZE_HEADER] = lifecycle.minimum_size
    return request_id(_send(lake, bucket, "s3:PutBucketLifecycleConfiguration", "PUT", headers, body))


def _send(lake: Lake, bucket: str, operation: str, method: str, headers: dict[str, str], body: bytes) -> AwsResponse:
    return lake.s3.ask(
        operation,
        bucket,
        "",
        method=method,
        query={"lifecycle": ""},
        headers=headers,
        body=body,
        target=f"s3://{bucket}",
    )


def is_owned_by(lake: Lake, bucket: str, account: str) -> bool | None:
    """Whether the account owns the bucket (HeadBucket with and without the expected owner); None where not known.

    Raises AwsError where the bucket is missing or cannot be reached at all.
    """
    target = f"s3://{bucket}"
    try:
        lake.s3.ask("s3:HeadBucket", bucket, "", method="HEAD", headers={OWNER_HEADER: ""}, target=target)
    except AwsError as error:
        if error.is_access_denied:
            return None
        raise
    headers = {OWNER_HEADER: account}
    try:
        lake.s3.ask("s3:HeadBucket", bucket, "", method="HEAD", headers=headers, target=target)
    except AwsError as error:
        if error.is_access_denied:
            return False
        raise
    return True


def split_rules(body: bytes) -> tuple[RawRule, ...]:
    """The rules of a configuration, each with its own bytes. Raises LifecycleUnreadable."""
    reader = _Reader(body)
    reader.parse()
    return tuple(reader.rules)


def parse_rule(xml: str) -> RawRule:
    """One `<Rule>` element as text. Raises LifecycleUnreadable where it is anything else."""
    rules = split_rules(f"<{_ROOT}>{xml}</{_ROOT}>".encode())
    if len(rules) != 1 or rules[0].xml != xml:
        raise LifecycleUnreadable("this is not one rule")
    return rules[0]


def sdk_rules(lifecycle: Lifecycle) -> list[dict[str, Any]]:
    """Every rule in the shape of the AWS SDKs' JSON, as the AWS CLI takes them.

    Raises LifecycleUnreadable where what an SDK would write of it is not the rule again: then it holds what SDKs of
    today do not know.
    """
    try:
        answer = AwsResponse(200, {}, lifecycle.body)
        rules: list[dict[str, Any]] = parse_answer(answer, "GetBucketLifecycleConfiguration", "").get("Rules", [])
        given = {"Bucket": "any", "LifecycleConfiguration": {"Rules": rules}}
        operation = s3_operation("PutBucketLifecycleConfiguration")
        written = botocore.serialize.create_serializer("rest-xml").serialize_to_request(given, operation)
    except (AwsError, ValueError, TypeError, AttributeError) as error:
        raise LifecycleUnreadable(f"the rules are none that AWS SDKs know: {error}") from error
    same_moments = lifecycle.body.replace(b".000Z<", b"Z<")
    for before, after in zip(split_rules(same_moments), split_rules(written["body"]), strict=True):
        if before.tree != after.tree:
            (element, *_), *_ = sorted((Counter(before.tree[2]) - Counter(after.tree[2])) or before.tree[2])
            name = f"rule {before.id}" if before.id else "a rule without a name"
            raise LifecycleUnreadable(f"AWS SDKs do not know all of {element}, which {name} holds")
    return rules


class _Reader:
    """Expat over the whole answer: remembers where each rule begins and ends."""

    def __init__(self, body: bytes) -> None:
        self.rules: list[RawRule] = []
        self._body = body
        self._parser = xml.parsers.expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.XmlDeclHandler = self._declared
        self._open: list[tuple[str, list[str], list[Tree]]] = []
        self._begin = 0

    def parse(self) -> None:
        try:
            self._body.decode()
            self._parser.Parse(self._body, True)
        except (xml.parsers.expat.ExpatError, UnicodeDecodeError) as error:
            raise LifecycleUnreadable(f"the lifecycle configuration is not well-formed: {error}") from error

    def _refuse(self, *_: object) -> None:
        raise LifecycleUnreadable("the lifecycle configuration holds a document type")

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        if (encoding or "utf-8").lower() not in ("utf-8", "us-ascii"):
            raise LifecycleUnreadable(f"the lifecycle configuration is in {encoding}, not in UTF-8")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        depth = len(self._open)
        if (depth == 0 and name != _ROOT) or ":" in name or (depth > 0 and attributes):
            raise LifecycleUnreadable(
                f"the lifecycle configuration holds an element {name[:60]!r} that S3 does not use"
            )
        if depth == 1:
            self._begin = self._parser.CurrentByteIndex
        self._open.append((name, [], []))

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1][1].append(text)

    def _end(self, name: str) -> None:
        _, texts, children = self._open.pop()
        # White space between elements says nothing; in a prefix or a tag it does.
        text = "" if children or name in _CONTAINERS else "".join(texts)
        tree: Tree = (name, text, tuple(children))
        if len(self._open) > 1:
            self._open[-1][2].append(tree)
        elif len(self._open) == 1 and name == "Rule":
            self._keep(tree)

    def _keep(self, tree: Tree) -> None:
        end = self._body.index(b">", self._parser.CurrentByteIndex) + 1
        parts = {child[0]: child[1] for child in tree[2]}
        xml_text = self._body[self._begin : end].decode()
        self.rules.append(RawRule(parts.get("ID", ""), xml_text, "Prefix" in parts, _ordered(tree)))


def _ordered(tree: Tree) -> Tree:
    """The same element with its children sorted: S3 gives them in no promised order."""
    name, text, children = tree
    return name, text, tuple(sorted(_ordered(child) for child in children))
