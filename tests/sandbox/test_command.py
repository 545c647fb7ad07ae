"""`python -m sandbox` as another process sees it."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.jvms import JVMS
from tests.living import living
from tests.sandboxlake import end, start_sandbox, wait_for
from tests.waiting import scaled, wait_until

pytestmark = pytest.mark.process


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
        assert wait_until(lambda: group_of_spark(process.pid), 120)
        spark = group_of_spark(process.pid)
        assert wait_until(lambda: "java" in [one.name for one in living(spark)], 120)
        if killed:
            process.kill()
            process.wait(timeout=scaled(20))
        else:
            assert end(process) == 0
        assert wait_until(lambda: not living(spark))


def group_of_spark(sandbox: int) -> int:
    """The child that makes Spark's tables, which leads a process group of its own; 0 before it is there."""
    return next((one.number for one in living(parent=sandbox) if one.number == one.group), 0)
