"""A small client for S3 and DynamoDB servers on this machine: plain HTTP, and a signature nobody checks."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

import urllib3

Body = dict[str, Any]

REGION = "us-west-2"
MODIFIED_AT = "X-Sandbox-Modified-At"


class ClientError(Exception):
    """An answer other than 2xx: HTTP status, the service's error code and its message."""

    def __init__(self, operation: str, status: int, code: str, message: str) -> None:
        super().__init__(f"{operation} failed: {code} ({status}): {message}")
        self.operation = operation
        self.status = status
        self.code = code


class Client:
    """Talks to one origin for S3 and, where it differs, another for DynamoDB. Safe to share between threads."""

    def __init__(self, origin: str, *, region: str = REGION, dynamodb_origin: str = "") -> None:
        self.origin = origin.rstrip("/")
        self.dynamodb_origin = (dynamodb_origin or origin).rstrip("/")
        self.region = region
        self._pool = urllib3.PoolManager(maxsize=16, retries=False, timeout=urllib3.Timeout(30))

    def create_bucket(self, bucket: str) -> None:
        xml = f"<CreateBucketConfiguration><LocationConstraint>{self.region}</LocationConstraint>"
        self._s3("PUT", bucket, data=f"{xml}</CreateBucketConfiguration>".encode())

    def configure_bucket(self, bucket: str, setting: str, xml: str, **parameters: str) -> None:
        """PUT one of a bucket's sub-resources, such as `lifecycle` or `versioning`, and what more names it."""
        data = xml.encode()
        checksum = b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        self._s3("PUT", bucket, query={setting: "", **parameters}, data=data, headers={"Content-MD5": checksum})

    def change_rules(self, rules: Mapping[str, Any]) -> None:
        """Change rules of S3 Batch Operations and S3 Inventory, which only the sandbox's own server has."""
        self._s3("PUT", "_sandbox", "rules", data=json.dumps(rules).encode())

    def put(self, bucket: str, key: str, data: bytes, *, modified_at: float | None = None) -> None:
        """Write an object; `modified_at` (epoch seconds) dates it back, which only the sandbox's server understands."""
        headers = {} if modified_at is None else {MODIFIED_AT: str(modified_at)}
        self._s3("PUT", bucket, key, data=data, headers=headers)

    def get(self, bucket: str, key: str) -> bytes:
        """Read an object; ClientError 404 where there is none."""
        return self._s3("GET", bucket, key).data

    def exists(self, bucket: str, key: str) -> bool:
        try:
            self._s3("HEAD", bucket, key)
        except ClientError as error:
            if error.status == 404:
                return False
            raise
        return True

    def delete(self, bucket: str, key: str) -> None:
        self._s3("DELETE", bucket, key)

    def list(self, bucket: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield (key, size in bytes) of every object under a prefix, in the order of the keys."""
        query = {"list-type": "2", "prefix": prefix}
        while True:
            root = ElementTree.fromstring(self._s3("GET", bucket, query=query).data)  # noqa: S314 - a local server's answer
            space = root.tag.partition("}")[0] + "}" if root.tag.startswith("{") else ""
            for found in root.iter(f"{space}Contents"):
                yield found.findtext(f"{space}Key", ""), int(found.findtext(f"{space}Size", "0"))
            token = root.findtext(f"{space}NextContinuationToken")
            if not token:
                return
            query["continuation-token"] = token

    def dynamodb(self, operation: str, **parameters: Any) -> Body:
        """Call a DynamoDB operation; the error's `code` is DynamoDB's own, such as ConditionalCheckFailedException."""
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Authorization": authorization(self.region, "dynamodb"),
        }
        answer = self._pool.request(
            "POST", f"{self.dynamodb_origin}/", body=json.dumps(parameters).encode(), headers=headers
        )
        body: Body = json.loads(answer.data or b"{}")
        if answer.status >= 300:
            code = str(body.get("__type", "")).rpartition("#")[2]
            raise ClientError(operation, answer.status, code, str(body.get("message", body.get("Message", ""))))
        return body

    def _s3(
        self,
        method: str,
        bucket: str,
        key: str = "",
        *,
        query: Mapping[str, str] | None = None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> urllib3.BaseHTTPResponse:
        path = f"/{bucket}/{quote(key)}" if key else f"/{bucket}"
        url = f"{self.origin}{path}" + (f"?{urlencode(query)}" if query else "")
        signed = {"Authorization": authorization(self.region, "s3"), **(headers or {})}
        answer = self._pool.request(method, url, body=data, headers=signed)
        if answer.status >= 300:
            text = answer.data.decode(errors="replace")
            code = text.partition("<Code>")[2].partition("</Code>")[0]
            message = text.partition("<Message>")[2].partition("</Message>")[0]
            raise ClientError(f"{method} s3://{bucket}/{key}", answer.status, code, message)
        return answer


def authorization(region: str, service: str) -> str:
    """Write an Authorization header that names region and service and signs nothing."""
    scope = f"sandbox/20200101/{region}/{service}/aws4_request"
    return f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0"
