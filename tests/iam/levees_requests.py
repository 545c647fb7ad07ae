"""What IAM is asked for the requests that Levee itself sends, noted at the wire."""

from dataclasses import dataclass, field, replace

import pytest

from lake.aws.answers import AwsResponse
from lake.aws.wire import Request, Wire
from tests.iam.evaluating import Asked
from tests.iam.recording import Sent


@dataclass
class Noted:
    """Every request of S3 and DynamoDB since `forget`, as IAM would be asked for it."""

    region: str
    asked: list[Asked] = field(default_factory=list)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> "Noted":
        real = Wire.send

        def send(wire: Wire, request: Request) -> AwsResponse:
            answer = real(wire, request)
            if request.service in ("s3", "dynamodb"):
                self.asked += replace(_sent(request), status=answer.status).asks(self.region)
            return answer

        monkeypatch.setattr(Wire, "send", send)
        return self

    def forget(self) -> None:
        self.asked.clear()


def _sent(request: Request) -> Sent:
    path, _, query = request.path_and_query.partition("?")
    headers = {name.lower(): value for name, value in request.headers.items()}
    if request.service == "dynamodb":
        headers.setdefault("x-amz-target", f"DynamoDB_20120810.{request.operation.partition(':')[2]}")
    return Sent(request.method, path, query, headers, request.body, 0)
