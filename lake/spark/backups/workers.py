"""What Spark's Python workers hold for good."""

from functools import cache
from gc import collect, freeze


@cache
def keep_modules() -> None:
    """Take what is loaded by now out of all later collections of garbage; ask for it at the end of a task.

    Spark's daemon collects garbage after each task (pyspark/daemon.py), before the worker takes the next one. Where
    botocore, numpy, pyarrow and pandas are loaded that takes 40 ms, a good part of a task's time, and finds nothing.
    """
    collect()
    freeze()
