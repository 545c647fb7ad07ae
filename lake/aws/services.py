"""Rare questions to AWS's services of the query protocol: who asks (STS), what they may (IAM), what was measured."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import botocore.parsers
import botocore.session

from lake.aws.answers import malformed, read_error
from lake.aws.endpoints import Endpoints, RequestUrl
from lake.aws.wire import Request, Wire

_MODELS = {"sts": "sts", "iam": "iam", "monitoring": "cloudwatch"}
_VERSIONS = {"sts": "2011-06-15", "iam": "2010-05-08", "monitoring": "2010-08-01"}
_ACTION_PREFIXES = {"sts": "sts", "iam": "iam", "monitoring": "cloudwatch"}


class Services:
    """STS, IAM and CloudWatch of one connection. All that is asked here are reads."""

    def __init__(self, wire: Wire, endpoints: Endpoints, region: str) -> None:
        self._wire = wire
        self._endpoints = endpoints
        self._region = region

    def ask(self, service: str, operation: str, parameters: Mapping[str, str], target: str = "") -> dict[str, Any]:
        """One operation of "sts", "iam" or "monitoring", its parameters in the query protocol's flat names.

        Raises AwsError.
        """
        name = f"{_ACTION_PREFIXES[service]}:{operation}"
        region = self._endpoints.signing_region(service, self._region)
        request = Request(
            operation=f"{service}:{operation}",
            target=target,
            place=RequestUrl(self._endpoints.origin(service, self._region), "/"),
            region=region,
            method="POST",
            headers={"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
            body=urlencode({"Action": operation, "Version": _VERSIONS[service], **parameters}).encode(),
        )
        answer = self._wire.send(request)
        if answer.status != 200:
            raise read_error(answer, name, target)
        try:
            shape = _model(service).operation_model(operation).output_shape
            said: dict[str, Any] = botocore.parsers.create_parser("query").parse(
                {"status_code": 200, "headers": answer.headers, "body": answer.body}, shape
            )
        except (botocore.parsers.ResponseParserError, KeyError, ValueError, AttributeError) as error:
            raise malformed(answer, f"the answer cannot be read: {error}", name, target) from error
        return said


@cache
def _model(service: str) -> Any:
    return botocore.session.Session().get_service_model(_MODELS[service])
