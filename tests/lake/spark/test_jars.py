"""The real lock file is read; fetching runs against a stand-in for `java`, so no test needs a network."""

import hashlib
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lake.spark import jars
from lake.spark.jars import LOCK, JarsError, class_path, fetch, ivy_module, read_lock

FAKE_JAVA = """#!{python}
import pathlib, shutil, sys
root = pathlib.Path({root!r})
with (root / "runs").open("a") as runs:
    runs.write("run\\n")
if (root / "failure").exists():
    print((root / "failure").read_text())
    sys.exit(1)
target = pathlib.Path(sys.argv[sys.argv.index("-retrieve") + 1]).parent
target.mkdir(parents=True)
for jar in (root / "mirror").iterdir():
    shutil.copy(jar, target)
"""


class Mirror:
    """A `java` that delivers what lies in a folder, and the lock file that pins it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.home = root / "home"
        self.lock = root / "jars.lock"
        (root / "mirror").mkdir()
        (root / "bin").mkdir()
        java = root / "bin" / "java"
        java.write_text(FAKE_JAVA.format(python=sys.executable, root=str(root)))
        java.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(root))
        self.pin("delta", b"delta bytes")
        self.pin("hadoop", b"hadoop bytes")

    def pin(self, name: str, data: bytes) -> None:
        (self.root / "mirror" / f"{name}-1.0.jar").write_bytes(data)
        with self.lock.open("a") as lines:
            lines.write(f"spark org.example:{name}:1.0 {hashlib.sha256(data).hexdigest()}\n")

    def fetch(self) -> None:
        fetch(self.home, lock=self.lock, ivy=self.root / "ivy.jar")

    @property
    def runs(self) -> int:
        return len((self.root / "runs").read_text().splitlines())

    def jar(self, name: str) -> Path:
        return self.home / "jars" / "spark" / f"{name}-1.0.jar"


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    return Mirror(tmp_path, monkeypatch)


def test_the_lock_pins_every_jar_by_its_checksum() -> None:
    pinned = read_lock(LOCK.read_text())
    assert Counter(jar.configuration for jar in pinned) == {"spark": 49, "dynamodb-local": 78}
    assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in pinned)
    assert len({(jar.configuration, jar.file_name) for jar in pinned}) == len(pinned)


def test_ivy_is_asked_for_the_pinned_files_and_nothing_they_depend_on() -> None:
    module = ivy_module(read_lock("spark org.example:native:1.0@so abc\n"))
    assert 'transitive="false"' in module
    assert '<artifact name="native" type="so" ext="so"/>' in module


def test_fetched_jars_are_on_the_class_path(mirror: Mirror) -> None:
    mirror.fetch()
    assert mirror.jar("delta").read_bytes() == b"delta bytes"
    assert class_path(mirror.home) == f"{mirror.home}/jars/spark/*"


def test_what_is_fetched_is_told_with_its_size_and_seconds(mirror: Mirror) -> None:
    mirror.pin("large", bytes(2_000_000))
    told: list[str] = []
    fetch(mirror.home, lock=mirror.lock, ivy=mirror.root / "ivy.jar", say=told.append)
    assert told == ["fetching 3 jars for spark", "3 of 3 jars, 2 MB, 0 s"]


def test_a_changed_date_is_checked_by_sum_not_downloaded(mirror: Mirror) -> None:
    mirror.fetch()
    mirror.jar("delta").touch()
    mirror.fetch()
    assert mirror.runs == 1


def test_a_damaged_jar_is_fetched_again(mirror: Mirror) -> None:
    mirror.fetch()
    mirror.jar("delta").write_bytes(b"damaged")
    mirror.fetch()
    assert mirror.jar("delta").read_bytes() == b"delta bytes"


def test_a_stray_jar_alone_is_noticed(mirror: Mirror) -> None:
    mirror.fetch()
    mirror.jar("stray").write_bytes(b"other")
    mirror.fetch()
    assert not mirror.jar("stray").exists()


def test_a_wrong_sum_names_the_jar_and_both_sums_and_installs_nothing(mirror: Mirror) -> None:
    (mirror.root / "mirror" / "delta-1.0.jar").write_bytes(b"tampered")
    with pytest.raises(JarsError) as caught:
        mirror.fetch()
    wanted, found = hashlib.sha256(b"delta bytes").hexdigest(), hashlib.sha256(b"tampered").hexdigest()
    assert all(word in str(caught.value) for word in ("delta-1.0.jar", wanted, found))
    assert not mirror.jar("hadoop").exists()


def test_a_jar_that_was_not_delivered_is_named(mirror: Mirror) -> None:
    (mirror.root / "mirror" / "delta-1.0.jar").unlink()
    with pytest.raises(JarsError, match=r"delta-1\.0\.jar was not delivered"):
        mirror.fetch()


def test_no_network_is_said_with_what_ivy_said(mirror: Mirror) -> None:
    (mirror.root / "failure").write_text(
        ":: problems summary ::\n\tServer access error at url delta.jar (java.net.ConnectException: refused)\n"
    )
    with pytest.raises(JarsError, match=r"check the network .*ConnectException: refused"):
        mirror.fetch()


def test_without_java_the_sentence_says_what_to_install(mirror: Mirror) -> None:
    (mirror.root / "bin" / "java").unlink()
    with pytest.raises(JarsError, match="install a full Java 17 or newer"):
        mirror.fetch()


def test_two_at_once_download_once(mirror: Mirror) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: mirror.fetch(), range(2)))
    assert mirror.runs == 1


def test_the_command_fails_with_one_sentence(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEVEE_HOME", str(mirror.home))
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert jars.main([]) == 1
    assert capsys.readouterr().err.startswith("No java was found in JAVA_HOME (/nowhere)")
