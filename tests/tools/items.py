"""Tests as they are collected, for what sorts, groups and chooses them."""

import pytest


class Item:
    """A test as collected: its name, its marks, and the fixtures it uses."""

    def __init__(self, name: str, *marks: pytest.MarkDecorator, uses: tuple[str, ...] = ()) -> None:
        self.nodeid, self.fixturenames = name, uses
        self.marks = [mark.mark for mark in marks]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next(self.iter_markers(name), None)

    def iter_markers(self, name: str):
        return (mark for mark in self.marks if mark.name == name)

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark.mark)

    @property
    def group(self) -> str:
        mark = self.get_closest_marker("xdist_group")
        return mark.args[0] if mark else ""
