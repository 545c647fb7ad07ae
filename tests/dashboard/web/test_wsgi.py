"""What is loaded before the web processes are forked."""

import gc
import importlib
import sys
import threading

import pytest
from django.template import loader


def test_loading_the_console_compiles_pages_and_opens_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a mark that allows it, any use of the database fails; a fork would share what was opened."""
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.delitem(sys.modules, "dashboard.wsgi", raising=False)
    compiled: list[str] = []
    threads = threading.active_count()
    monkeypatch.setattr(loader, "get_template", compiled.append)
    importlib.import_module("dashboard.wsgi")
    assert "coordinator/tables.html" in compiled
    assert threading.active_count() == threads
