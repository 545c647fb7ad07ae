"""What real programs ask of S3 and DynamoDB, and what IAM would be asked for each request.

Sources: S3 User Guide, "Required permissions for Amazon S3 API operations"; DynamoDB Developer Guide, "Using IAM policy
conditions for fine-grained access control"; KMS developer guide on S3 and DynamoDB.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.message import Message
from threading import Lock
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

from sandbox.client import REGION
from tests.iam.evaluating import Asked
from tests.serving import Behind, Came, Given, serving

ACCOUNT = "123456789012"
OWN = {"aws:ResourceAccount": ACCOUNT, "aws:PrincipalAccount": ACCOUNT}


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it came, and the status of its answer. `target` is DynamoDB's operation, "" for S3."""

    method: str
    path: str
    query: str
    headers: Message
    body: bytes
    status: int

    @property
    def target(self) -> str:
        return self.headers.get("x-amz-target", "").rpartition(".")[2]

    def asks(self, region: str) -> list[Asked]:
        """What IAM is asked for it; ValueError for a request that is not known here."""
        return _of_dynamodb(self, region) if self.target else _of_s3(self)


@dataclass
class Recorder:
    """Stands in front of one origin and passes everything on, but for what `refuse` says is to fail.

    With `denies` it also does what IAM would: a request of which one part is denied is answered 403, and kept apart. A
    request under way is judged by what was in force when it came, and is forgotten with what came before it.
    """

    behind: Behind
    origin: str = ""
    sent: list[Sent] = field(default_factory=list)
    refuse: Callable[[str, str], bool] = lambda method, query: False
    denies: Callable[[Asked], bool] = lambda asked: False
    denied: list[Asked] = field(default_factory=list)
    region: str = REGION
    _lock: Lock = field(default_factory=Lock)

    def forget(self) -> None:
        with self._lock:
            self.sent, self.denied = [], []

    def asks(self) -> list[Asked]:
        """Everything that was asked and not denied, each time with its own context."""
        with self._lock:
            return [one for sent in self.sent for one in sent.asks(self.region)]

    def answer(self, came: Came) -> Given:
        with self._lock:
            denies, kept, denied = self.denies, self.sent, self.denied
        address = urlsplit(came.path)
        sent = Sent(came.method, address.path, address.query, came.headers, came.body, 0)
        if self.refuse(came.method, address.query):
            given: Given = 400, b"<Error><Code>InvalidRequest</Code><Message>as asked</Message></Error>", {}
        elif denial := self._denial(sent, denies, denied):
            return denial
        else:
            given = self.behind.answer(came)
            if denial := self._denial(replace(sent, status=given[0]), denies, denied):
                return denial
        with self._lock:
            kept.append(replace(sent, status=given[0]))
        return given

    def _denial(self, sent: Sent, denies: Callable[[Asked], bool], kept: list[Asked]) -> Given | None:
        denied = [one for one in sent.asks(self.region) if denies(one)]
        if not denied:
            return None
        with self._lock:
            kept += denied
        if sent.target:
            said = {
                "__type": "com.amazon.coral.service#AccessDeniedException",
                "message": f"not authorized: {denied[0]}",
            }
            return 400, json.dumps(said).encode(), {"Content-Type": "application/x-amz-json-1.0"}
        return 403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>", {}


@contextmanager
def recording(target: str) -> Iterator[Recorder]:
    """Serve on loopback in front of the origin `target`."""
    recorder = Recorder(Behind(target))
    with serving(recorder.answer) as (recorder.origin, _):
        yield recorder


def _of_dynamodb(sent: Sent, region: str) -> list[Asked]:
    body = json.loads(sent.body)
    name = body.get("TableName") or body["ResourceArn"].rpartition(":table/")[2]
    resource = f"arn:aws:dynamodb:{region}:{ACCOUNT}:table/{name}"
    keys = _leading_keys(body)
    context: dict[str, str | tuple[str, ...]] = dict(OWN)
    return [Asked(f"dynamodb:{sent.target}", resource, context | ({"dynamodb:LeadingKeys": keys} if keys else {}))]


def _leading_keys(body: dict[str, object]) -> tuple[str, ...]:
    """Values of the partition key: of an item or a key by its name, of a query whatever it compares with."""
    for holder in ("Item", "Key"):
        item = body.get(holder)
        if isinstance(item, dict):
            return tuple(item[name]["S"] for name in ("tablePath", "tableId") if name in item)
    conditions = body.get("KeyConditions")
    if isinstance(conditions, dict):
        return (conditions["tablePath"]["AttributeValueList"][0]["S"],)
    values = body.get("ExpressionAttributeValues")
    if "KeyConditionExpression" in body and isinstance(values, dict):
        return tuple(one["S"] for one in values.values() if "S" in one)
    return ()


def _of_s3(sent: Sent) -> list[Asked]:
    bucket, _, key = unquote(sent.path).removeprefix("/").partition("/")
    query = parse_qs(sent.query, keep_blank_values=True)
    of_bucket, of_object = f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/{key}"
    if not key:
        return _of_bucket(sent, bucket, query)
    match sent.method:
        case "GET" if "uploadId" in query:
            return [_asked("s3:ListMultipartUploadParts", of_object)]
        case "GET" | "HEAD":
            found = [_asked("s3:GetObject", of_object)]
            # Without s3:ListBucket S3 answers 403 for an object that is not there.
            return [*found, _asked("s3:ListBucket", of_bucket)] if sent.status == 404 else found
        case "PUT" if source := sent.headers.get("x-amz-copy-source"):
            return [
                _asked("s3:GetObject", f"arn:aws:s3:::{unquote(source).lstrip('/').partition('?')[0]}"),
                _asked("s3:PutObject", of_object),
            ]
        case "PUT":
            return [_asked("s3:PutObject", of_object)]
        case "POST" if "restore" in query:
            return [_asked("s3:RestoreObject", of_object)]
        case "POST" if "uploads" in query or "uploadId" in query:
            return [_asked("s3:PutObject", of_object)]
        case "DELETE" if "uploadId" in query:
            return [_asked("s3:AbortMultipartUpload", of_object)]
        case "DELETE":
            return [_asked("s3:DeleteObject", of_object)]
    raise ValueError(f"{sent.method} {sent.path}?{sent.query} is not known")


_SETTINGS = {
    ("GET", "versioning"): "s3:GetBucketVersioning",
    ("GET", "lifecycle"): "s3:GetLifecycleConfiguration",
    ("PUT", "lifecycle"): "s3:PutLifecycleConfiguration",
    ("DELETE", "lifecycle"): "s3:PutLifecycleConfiguration",
    ("GET", "replication"): "s3:GetReplicationConfiguration",
    ("GET", "encryption"): "s3:GetEncryptionConfiguration",
    ("GET", "intelligent-tiering"): "s3:GetIntelligentTieringConfiguration",
}


def _of_bucket(sent: Sent, bucket: str, query: dict[str, list[str]]) -> list[Asked]:
    arn = f"arn:aws:s3:::{bucket}"
    if setting := next(
        (action for (method, name), action in _SETTINGS.items() if method == sent.method and name in query), ""
    ):
        return [_asked(setting, arn)]
    if sent.method == "POST" and "delete" in query:
        keys = [one.text or "" for one in ElementTree.fromstring(_plain(sent)).iter() if one.tag.endswith("Key")]  # noqa: S314
        return [_asked("s3:DeleteObject", f"{arn}/{key}") for key in keys]
    if sent.method == "GET" and not set(query) - _LISTING:
        said = {"s3:prefix": query["prefix"][0]} if "prefix" in query else {}
        return [_asked("s3:ListBucket", arn, said)]
    if sent.method == "HEAD":
        return [_asked("s3:ListBucket", arn)]
    raise ValueError(f"{sent.method} {sent.path}?{sent.query} is not known")


_LISTING = {
    "list-type",
    "prefix",
    "delimiter",
    "max-keys",
    "start-after",
    "continuation-token",
    "encoding-type",
    "fetch-owner",
}


def _plain(sent: Sent) -> bytes:
    """The body without the framing of aws-chunked."""
    body = sent.body
    return body[body.index(b"<") : body.rindex(b">") + 1]


def _asked(action: str, resource: str, said: dict[str, str] | None = None) -> Asked:
    return Asked(action, resource, {**OWN, **(said or {})})
