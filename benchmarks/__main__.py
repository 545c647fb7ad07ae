"""`python -m benchmarks [NAME ...]` runs the named benchmarks, or all: the modules here that have a `main`."""

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Callable

import benchmarks

NOT_BENCHMARKS = frozenset({"__main__", "answers", "backup_data", "backup_session", "harness", "server"})


def main_of(name: str) -> Callable[[], None] | None:
    """The `main` of that module, which is imported only now: a benchmark must not need what another one needs."""
    main: Callable[[], None] | None = getattr(importlib.import_module(f"benchmarks.{name}"), "main", None)
    return main


def run() -> None:
    available = sorted({module.name for module in pkgutil.iter_modules(benchmarks.__path__)} - NOT_BENCHMARKS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Levee against its peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(available)}; all if omitted")
    names = parser.parse_args().names or available
    unknown = [name for name in names if name not in available]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(available)}")
    for name in names:
        main = main_of(name)
        if main:
            main()
            sys.stdout.flush()


if __name__ == "__main__":
    run()
