"""Nothing that grows with the bucket comes to the driver: each place where rows do says why they are few."""

import ast
from collections.abc import Iterator
from pathlib import Path

import lake.spark

ROOMS = Path(lake.spark.__file__).parent
FILES = sorted([*ROOMS.glob("backups/*.py"), *ROOMS.glob("jobs/backup_*.py")])
BRINGS = frozenset({"collect", "toArrow", "toLocalIterator", "toPandas"})
"""Others, as first() and take(), bring as many rows as they are asked for."""
BOUNDED = {
    "inventory.kept_inventory": "a row for each file of up to half a million objects",
    "planned.planned_files": "a row for each file of up to a million objects",
    "manifests.write_manifests": "a row for each manifest of up to a million objects",
    "backup_copy.run": "a row for each task",
    "backup_prove.run": "a row for each of a few hundred tables",
    "backup_reconcile.groups_of": "a row for each outcome and error code",
}


def brought(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """The calls that bring rows to the driver, with the function at the module's top that holds them."""
    for top in tree.body:
        for node in ast.walk(top):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in BRINGS:
                yield getattr(top, "name", ""), node


def is_limited(call: ast.Call) -> bool:
    """Whether it asks for the rows of a limit, as far as the same expression tells."""
    assert isinstance(call.func, ast.Attribute)
    below = call.func.value
    return isinstance(below, ast.Call) and isinstance(below.func, ast.Attribute) and below.func.attr == "limit"


def places(files: list[Path]) -> set[str]:
    return {
        f"{path.stem}.{function}"
        for path in files
        for function, call in brought(ast.parse(path.read_text()))
        if not is_limited(call)
    }


def test_rows_come_to_the_driver_only_where_their_number_is_bounded() -> None:
    assert places(FILES) <= set(BOUNDED)
