"""`levee person NAME --role ROLE`: add a person, or change one's role or password."""

import sys
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandParser

from dashboard.accounts.actor import Actor
from dashboard.accounts.people import NameReserved, Saved, save_person
from dashboard.accounts.roles import Role
from dashboard.commands import JsonCommand, UsageError


class Command(JsonCommand):
    """Save the person and say what was done; a new one without a password gets one, printed once."""

    help = "Add a person, or change the role or the password of one."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name")
        parser.add_argument("--role", required=True, choices=[role.value for role in Role])
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from the first line of stdin"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        password = _read_password() if options["password_stdin"] else ""
        try:
            saved = save_person(Actor.command(), options["name"], Role(options["role"]), password)
        except NameReserved as error:
            raise UsageError(str(error)) from error
        except ValidationError as error:
            raise UsageError(" ".join(error.messages)) from error
        document = {"name": saved.user.username, "role": saved.role, "created": saved.is_new}
        self.emit({**document, "password": saved.password} if saved.password else document, _as_text(saved))


def _read_password() -> str:
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise UsageError("Nothing came on stdin: pipe the password into the command.")
    return password


def _as_text(saved: Saved) -> list[str]:
    done = "Added" if saved.is_new else "Changed"
    lines = [f"{done} {saved.user.username}, {saved.role}."]
    return [*lines, f"Password, shown this once: {saved.password}"] if saved.password else lines
