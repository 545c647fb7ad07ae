"""What is loaded before the web processes are forked."""

import gc
import importlib
import sys
import threading

import pytest
from django.db import connections
from django.template import loader

from dashboard.web import warm


def test_loading_the_console_compiles_pages_and_leaves_no_connection_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a mark that allows it, any use of the database fails; a fork would share what stays open."""
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.delitem(sys.modules, "dashboard.wsgi", raising=False)
    compiled: list[str] = []
    done: list[str] = []
    monkeypatch.setattr(warm, "answer_nobody", lambda: done.append("answered"))
    monkeypatch.setattr(connections, "close_all", lambda: done.append("closed"))
    threads = threading.active_count()
    monkeypatch.setattr(loader, "get_template", compiled.append)
    importlib.import_module("dashboard.wsgi")
    assert "coordinator/tables.html" in compiled
    assert done == ["answered", "closed"]
    assert threading.active_count() == threads
