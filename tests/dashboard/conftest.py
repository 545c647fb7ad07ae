"""Bare templates, for tests of what a view hands over."""

import copy
from typing import Any

import pytest

NAMES = ("accounts/login.html", "accounts/me.html", "audit/list.html", "jobs/list.html", "error.html")
BARE = {name: name for name in NAMES} | {
    "jobs/detail.html": "page {% partialdef job inline %}job {{ job.state }}{% endpartialdef %}"
}


@pytest.fixture
def bare_templates(settings: Any) -> None:
    """Replace the pages' templates by their names, so that a test of a view fails for the view's reasons alone."""
    templates = copy.deepcopy(settings.TEMPLATES)
    options = templates[0]["OPTIONS"]
    options["loaders"] = [("template_partials.loader.Loader", [("django.template.loaders.locmem.Loader", BARE)])]
    options["context_processors"] = []
    settings.TEMPLATES = templates
