"""The pages of repairs as a browser uses them: forms are read from the page and posted back."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from django.test import Client

from coordinator.models import DeltaTable
from dashboard.jobs.models import Job
from tests.coordinator.repairs.console import Console
from tests.dashboard.web.markup import flat

PUBLISH = {"repair": "publish-commit", "code": "C2", "version": "3"}
ABANDON = {"repair": "abandon-commit", "code": "C11", "version": "3"}


def body(answer: Any) -> str:
    return unescape(flat(answer))


def confirm_page(client: Client, console: Console, table: DeltaTable, asked: dict[str, str] = PUBLISH) -> str:
    return plan_page(client, console, f"/tables/{table.pk}/repairs/", asked)


def plan_page(client: Client, console: Console, address: str, asked: Mapping[str, Any]) -> str:
    """Ask for a plan, let the worker make it, and return the address of its page."""
    answer = client.post(address, asked)
    assert answer.status_code == 303, body(answer)
    console.run(Job.objects.latest("created_at"))
    return str(answer["Location"])


def fields(html: str, action: str) -> dict[str, str]:
    """The hidden fields of the form that posts to an address."""
    form = html.partition(f'action="{action}"')[2].partition("</form>")[0]
    assert form, f"no form posts to {action}"
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))


def confirm(client: Client, address: str, **typed: str) -> Any:
    html = body(client.get(address))
    return client.post(address, fields(html, address) | typed)


def bulk_fields(client: Client, query: str = "", repair: str = "publish-commit") -> dict[str, str]:
    html = body(client.get(f"/tables/repairs/{repair}/{query}"))
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', html))
