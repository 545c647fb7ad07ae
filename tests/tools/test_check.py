import subprocess
import sys

import pytest
from django.conf import settings

from tools.check import CHECKS
from tools.hosts import HOSTS, named_hosts

pytestmark = pytest.mark.process


@pytest.mark.parametrize("name", ["lint", "format", "types", "imports", "templates"])
def test_each_check_really_runs_its_tool(name):
    how, what = CHECKS[name][:2]
    code = what.replace("'--no-logo'", "'--help'")
    words = [sys.executable, how, code, *(["--help"] if how == "-m" else [])]
    printed = subprocess.run(words, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True).stdout
    assert "usage" in printed.lower()


def test_a_registry_host_is_found_with_its_line():
    host = ".".join(HOSTS[0])
    assert named_hosts(f"first\nindex = https://{host}/simple\n") == [(2, host)]


def test_a_registry_named_without_its_host_is_no_mention():
    assert named_hosts("uv comes from PyPI; jars from Maven Central; Debian's Chromium") == []
