"""`levee person NAME`: add a person, or change role, address, password or access of one."""

import secrets
import sys
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandParser

from dashboard.accounts.access import role_of
from dashboard.accounts.actor import Actor
from dashboard.accounts.models import Grant
from dashboard.accounts.people import PersonChange, change_person, find_person
from dashboard.accounts.roles import Role
from dashboard.accounts.sessions import end_sessions
from dashboard.commands import JsonCommand, UsageError
from dashboard.connections.models import Connection


class Command(JsonCommand):
    """Save the person and say what was done; a new one without a password gets one, printed once."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name")
        parser.add_argument("--role", choices=[role.value for role in Role], help="everywhere; a new person needs one")
        parser.add_argument("--email", help="the address for mails")
        parser.add_argument(
            "--grant", action="append", default=[], metavar="CONNECTION=ROLE", help="on one connection; empty: none"
        )
        door = parser.add_mutually_exclusive_group()
        door.add_argument("--out", dest="is_active", action="store_false", default=None, help="may not sign in")
        door.add_argument("--in", dest="is_active", action="store_true", help="may sign in again")
        parser.add_argument("--end-sessions", action="store_true", help="sign the person out everywhere")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from the first line of stdin"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        known = find_person(options["name"])
        if known is None and options["role"] is None and not options["grant"]:
            raise UsageError(f"There is nobody called {options['name']} yet: say which --role or --grant they get.")
        change = PersonChange(
            role=Role(options["role"]) if options["role"] else None,
            email=options["email"],
            is_active=options["is_active"],
            grants=_grants(options["name"], options["grant"]),
        )
        given = _read_password() if options["password_stdin"] else ""
        made = "" if known or given else secrets.token_urlsafe(15)
        try:
            user = change_person(Actor.command(), options["name"], change, password=given or made)
        except ValidationError as error:
            raise UsageError(" ".join(error.messages)) from error
        role = role_of(user)
        document: dict[str, object] = {"name": user.username, "role": role, "created": known is None}
        text = [f"{'Changed' if known else 'Added'} {user.username}, {role or 'no role everywhere'}."]
        if options["end_sessions"]:
            document["sessions_ended"] = end_sessions(Actor.command(), user)
        if made:
            document["password"] = made
            text.append(f"Password, shown this once: {made}")
        self.emit(document, text)


def _grants(name: str, given: list[str]) -> dict[int, Role] | None:
    """Return what the person has on connections afterwards; None: nothing about that was said."""
    if not given:
        return None
    held = {grant.connection_id: Role(grant.role) for grant in Grant.objects.filter(user__username=name)}
    for text in given:
        connection, separator, role = text.partition("=")
        found = Connection.objects.filter(name=connection).first()
        if found is None or not separator or (role and role not in set(Role)):
            raise UsageError(f"{text!r}: write CONNECTION=ROLE with a connection that is declared and a role.")
        held.pop(found.pk, None)
        held |= {found.pk: Role(role)} if role else {}
    return held


def _read_password() -> str:
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise UsageError("Nothing came on stdin: pipe the password into the command.")
    return password
