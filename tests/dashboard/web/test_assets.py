"""What lies under static/: vendored files as published, a stylesheet that can be read, a script that is small."""

import hashlib
import re
from pathlib import Path

from django.conf import settings

STATIC = Path(settings.BASE_DIR, "static")
CSS = (STATIC / "levee.css").read_text()


def test_every_token_that_is_used_is_defined() -> None:
    defined = set(re.findall(r"(--[\w-]+):", CSS))
    assert set(re.findall(r"var\((--[\w-]+)", CSS)) <= defined


def test_vendored_files_are_those_that_were_published() -> None:
    folders = (STATIC / "vendor", Path(settings.BASE_DIR, "tests/browser/vendor"))
    sums = [file for folder in folders for file in folder.glob("*/SHA256SUMS")]
    assert {file.parent.parent for file in sums} == set(folders)
    for file in sums:
        named = dict(reversed(line.split("  ")) for line in file.read_text().splitlines())
        assert set(named) == {path.name for path in file.parent.iterdir()} - {"SHA256SUMS"}
        for name, digest in named.items():
            assert hashlib.sha256((file.parent / name).read_bytes()).hexdigest() == digest
