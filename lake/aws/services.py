"""Rare questions to AWS's services of the query protocol: who asks (STS), what they may (IAM), what was measured."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import botocore.parsers
import botocore.serialize
import botocore.session

from lake.aws.answers import malformed, read_error
from lake.aws.endpoints import Endpoints, RequestUrl
from lake.aws.wire import Request, Wire

_MODELS = {"sts": "sts", "iam": "iam", "monitoring": "cloudwatch"}


class Services:
    """STS, IAM and CloudWatch of one connection. All that is asked here are reads."""

    def __init__(self, wire: Wire, endpoints: Endpoints, region: str) -> None:
        self._wire = wire
        self._endpoints = endpoints
        self._region = region

    def ask(self, service: str, operation: str, parameters: Mapping[str, Any], target: str = "") -> dict[str, Any]:
        """One operation of "sts", "iam" or "monitoring" in the shapes of the AWS SDKs. Raises AwsError."""
        name, model = f"{_MODELS[service]}:{operation}", _model(service).operation_model(operation)
        # Nothing is validated: AWS refuses by itself what it does not take.
        serializer = botocore.serialize.create_serializer("query", include_validation=False)
        form = serializer.serialize_to_request(dict(parameters), model)["body"]
        region = self._endpoints.signing_region(service, self._region)
        request = Request(
            operation=f"{service}:{operation}",
            target=target,
            place=RequestUrl(self._endpoints.origin(service, self._region), "/"),
            region=region,
            method="POST",
            headers={"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
            body=urlencode(form).encode(),
        )
        answer = self._wire.send(request)
        if answer.status != 200:
            raise read_error(answer, name, target)
        try:
            said: dict[str, Any] = botocore.parsers.create_parser("query").parse(
                {"status_code": 200, "headers": answer.headers, "body": answer.body}, model.output_shape
            )
        except (botocore.parsers.ResponseParserError, KeyError, ValueError, AttributeError) as error:
            raise malformed(answer, f"the answer cannot be read: {error}", name, target) from error
        return said


@cache
def _model(service: str) -> Any:
    return botocore.session.Session().get_service_model(_MODELS[service])
