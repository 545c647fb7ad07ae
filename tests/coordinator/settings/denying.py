"""One operation of AWS denied, failed or watched at the wire, whoever asks for it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lake.aws.answers import AwsResponse
from lake.aws.errors import IAM_ACTIONS, AwsError
from lake.aws.services import Services
from lake.aws.wire import Request, Wire

ARN = "arn:aws:iam::111122223333:user/levee"


@dataclass
class Gate:
    """`deny` names operations ("dynamodb:UpdateTable"), `answers` says what some get; `before` is called with each
    request that goes through.
    """

    denied: set[str] = field(default_factory=set)
    answers: dict[str, AwsResponse] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    before: Callable[[Request], None] = lambda request: None

    def deny(self, operation: str) -> None:
        self.denied.add(operation)

    def install(self, monkeypatch) -> "Gate":
        real = Wire.send

        def send(wire: Wire, request: Request) -> AwsResponse:
            self.sent.append(request.operation)
            if request.operation in self.denied:
                return denied(request.operation)
            if request.operation in self.answers:
                return self.answers[request.operation]
            self.before(request)
            return real(wire, request)

        monkeypatch.setattr(Wire, "send", send)
        ask = Services.ask

        def ask_unless_denied(services: Services, service: str, operation: str, *given: Any, **more: Any) -> Any:
            name = f"{service}:{operation}"
            self.sent.append(name)
            if name in self.denied:
                raise AwsError("AccessDenied", f"User: {ARN} is not authorized to perform: {name}", permission=name)
            return ask(services, service, operation, *given, **more)

        monkeypatch.setattr(Services, "ask", ask_unless_denied)
        return self


def denied(operation: str) -> AwsResponse:
    message = f"User: {ARN} is not authorized to perform: {IAM_ACTIONS.get(operation, operation)}"
    if operation.startswith("dynamodb:"):
        return AwsResponse(403, {}, f'{{"__type": "x#AccessDeniedException", "message": "{message}"}}'.encode())
    return AwsResponse(403, {}, f"<Error><Code>AccessDenied</Code><Message>{message}</Message></Error>".encode())
