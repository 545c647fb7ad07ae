"""What of Spark's own log comes with a job."""

from pathlib import Path

import pytest

from lake.spark.worker_log import MOST_LINES, MOST_OF_JOB, LogTail


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "worker.log"
    file.write_text("of the job before\n")
    return file


def write(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


def test_whole_lines_of_this_job_are_told_once_and_without_secrets(log: Path) -> None:
    tail = LogTail(log)
    write(log, "WARN fs.s3a.secret.key=abcdef\n\n\tat org.apache.spark.Stack(Stack.scala:1)\nERROR half")
    assert tail.new_lines() == ("WARN fs.s3a.secret.key=********",)
    write(log, " and half\x00\n")
    assert tail.new_lines() == ("ERROR half and half\ufffd",)
    assert tail.new_lines() == ()


def test_how_a_python_of_spark_ends_is_no_news_and_another_traceback_is(log: Path) -> None:
    tail, traceback = LogTail(log), 'Traceback (most recent call last):\n  File "/x/pyspark/daemon.py", line 95\n'
    write(log, f"{traceback}BrokenPipeError: [Errno 32] Broken pipe\n" * 2 + "ERROR more\n")
    assert tail.new_lines() == ("ERROR more",)
    write(log, f"{traceback}ValueError: 1\n")
    assert len(tail.new_lines()) == 3


def test_the_log_of_another_worker_is_read_from_its_beginning(log: Path) -> None:
    tail = LogTail(log)
    log.write_text("a new worker, which has written more\n")
    tail.begin_anew()
    assert tail.new_lines() == ("a new worker, which has written more",)


@pytest.mark.parametrize("line", ["short", "x" * 4000])
def test_of_many_lines_the_newest_are_told_and_that_there_are_more(log: Path, line: str) -> None:
    tail = LogTail(log)
    write(log, "".join(f"{number} {line}\n" for number in range(100)))
    first, *rest = tail.new_lines()
    assert "left out" in first
    assert len(rest) == (MOST_LINES if line == "short" else 16)
    assert rest[-1].startswith("99 ")
    assert max(map(len, rest)) <= 500


def test_a_job_that_is_told_much_is_told_its_end_all_the_same(log: Path) -> None:
    tail, told = LogTail(log), 0
    for number in range(MOST_OF_JOB + 10):
        write(log, f"{number}\n")
        told += len(tail.new_lines())
    assert told == MOST_OF_JOB
    assert tail.new_lines(last=True) == tuple(str(number) for number in range(MOST_OF_JOB, MOST_OF_JOB + 10))
