"""The processes of this machine that are more than zombies."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Living(NamedTuple):
    """One process; `group` is that of its process group."""

    number: int
    name: str
    parent: int
    group: int


def living(group: int | None = None, *, parent: int | None = None) -> list[Living]:
    """The processes of a group, or the children of a process."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            head, _, rest = entry.read_text().rpartition(")")
            state, parent_of_it, group_of_it = rest.split()[:3]
            one = Living(int(entry.parent.name), head.partition("(")[2], int(parent_of_it), int(group_of_it))
            if state not in "ZX" and (one.group == group or one.parent == parent):
                found.append(one)
    return found
