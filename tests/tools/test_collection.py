"""Collection is paid for by every run, however small, and once more by every worker."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

HEAVY = {"deltalake", "duckdb", "flask", "moto", "pandas", "playwright", "py4j", "pyarrow", "pyspark"}
PLUGIN = """
import sys

def pytest_collection_finish(session):
    sys.stderr.write(" ".join(["collected", str(len(session.items)), *sorted(sys.modules)]))
"""


def collected(tmp_path: Path, *arguments: str) -> tuple[int, set[str]]:
    """How many tests a pytest of its own collects, and the packages it has imported by then."""
    (tmp_path / "reporting.py").write_text(PLUGIN)
    code = f"import sys, pytest; sys.path.append({str(tmp_path)!r}); sys.exit(pytest.main(sys.argv[1:]))"
    options = ["--collect-only", "-qq", "-p", "reporting", "-p", "no:cacheprovider"]
    words = [sys.executable, "-c", code, *options, *arguments]
    done = subprocess.run(words, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    _, count, *modules = done.stderr[done.stderr.index("collected ") :].split()
    return int(count), {module.partition(".")[0] for module in modules}


@pytest.mark.slow
def test_no_test_module_imports_what_is_slow_to_import(tmp_path: Path) -> None:
    count, packages = collected(tmp_path)
    assert count > 5_000
    assert HEAVY & packages == set()


@pytest.mark.slow
@pytest.mark.parametrize("package", ["pyarrow", "moto"])
def test_such_an_import_would_be_seen(package: str, tmp_path: Path) -> None:
    module = tmp_path / "test_slow.py"
    module.write_text(f"import {package}\n\ndef test_it(): pass\n")
    count, packages = collected(tmp_path, "--rootdir", str(tmp_path), "-c", "pyproject.toml", str(module))
    assert count == 1
    assert package in packages
