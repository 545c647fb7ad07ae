"""`python -m sandbox` as another process sees it."""

import os
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.jvms import JVMS
from tests.sandboxlake import end, start_sandbox, wait_for
from tests.waiting import scaled

pytestmark = pytest.mark.process


def group_is_empty(group: int, seconds: float = 10) -> bool:
    """Wait until no process of the group is left."""
    until = time.monotonic() + scaled(seconds)
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def group_of_spark(sandbox: int, seconds: float = 120) -> int:
    """Wait for the child that makes Spark's tables; it leads a process group of its own."""
    until = time.monotonic() + scaled(seconds)
    while time.monotonic() < until:
        for status in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                parent, group = map(int, status.read_text().rpartition(")")[2].split()[1:3])
                if parent == sandbox and group == int(status.parent.name):
                    return group
        time.sleep(0.02)
    raise AssertionError("the sandbox started no Spark")


def test_the_endpoint_is_announced_and_taken_back(tmp_path: Path) -> None:
    process = start_sandbox(tmp_path, "--no-spark")
    line = wait_for(process, "S3, DynamoDB and STS on")[-1]
    assert (tmp_path / "sandbox" / "endpoint").read_text() == line.split()[-1]
    assert line.split()[-1] in (tmp_path / "sandbox" / "lake.toml").read_text()
    wait_for(process, "all tables are there")
    assert not (tmp_path / "sandbox" / "making").exists()
    assert end(process) == 0
    assert not (tmp_path / "sandbox" / "endpoint").exists()


@pytest.mark.slow
def test_a_taken_port_is_said_in_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    process = start_sandbox(tmp_path, "--no-spark")
    try:
        port = wait_for(process, "S3, DynamoDB and STS on")[-1].strip().rpartition(":")[2]
        second = start_sandbox(tmp_path / "second", "--no-spark", "--port", port)
        assert second.wait(timeout=scaled(20)) == 1
        assert capfd.readouterr().err == f"sandbox: port {port} is taken: choose another with --port.\n"
    finally:
        end(process)


def has_jvm(group: int, seconds: float = 120) -> bool:
    """Wait until the group's JVM runs."""
    until = time.monotonic() + scaled(seconds)
    while time.monotonic() < until:
        for name in Path("/proc").glob("[0-9]*/comm"):
            with suppress(OSError):
                if name.read_text() == "java\n" and os.getpgid(int(name.parent.name)) == group:
                    return True
        time.sleep(0.05)
    return False


@pytest.mark.spark
@pytest.mark.parametrize("killed", [False, True], ids=["asked to end", "killed"])
def test_spark_and_its_jvm_end_with_the_sandbox(tmp_path: Path, killed: bool) -> None:
    from tests.sparksession import JARS_HOME

    (tmp_path / "jars").symlink_to(JARS_HOME / "jars")
    with ExitStack() as stack:
        stack.enter_context(JVMS.room())
        process = start_sandbox(tmp_path)
        stack.callback(end, process)
        wait_for(process, "S3, DynamoDB and STS on")
        spark = group_of_spark(process.pid)
        assert has_jvm(spark)
        if killed:
            process.kill()
            process.wait(timeout=scaled(20))
        else:
            assert end(process) == 0
        assert group_is_empty(spark)
