"""Packages that cost seconds to import, for test modules that are collected far more often than their tests are run."""

from importlib import import_module
from typing import Any


class _Lazily:
    """Stands for a module, or for one of its names, and imports the module wherever it is used."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # pytest asks whatever a test module holds for __test__ and the like, which must not count as a use.
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return getattr(self._found(), attribute)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._found()(*args, **kwargs)

    def _found(self) -> Any:
        module = import_module(self._module)
        return getattr(module, self._name) if self._name else module


def lazily(module: str, name: str = "") -> Any:
    """Return what stands for `import module`, or for `from module import name`, until the first use.

    `pa = lazily("pyarrow")` reads on as the import does: attributes and calls reach the real thing. Neither
    `isinstance` nor an annotation may name it; an annotation goes into quotes. Unlike importlib's LazyLoader it leaves
    `sys.modules` alone, so that the product, in whatever thread, never meets a module that is half there.
    """
    return _Lazily(module, name)
