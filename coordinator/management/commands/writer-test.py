# ruff: noqa: N999 - the name of the command
"""`levee writer-test`, as Django finds it: by the name of its file."""

from coordinator.writer_test_command import Command

__all__ = ["Command"]
