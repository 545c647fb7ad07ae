"""Modules that are imported when they are needed: most commands need no AWS client, no engine and no alert."""

import importlib
import threading


class AtNeed:
    """Modules that register something where they are imported. `load` may be called often and by several threads."""

    def __init__(self) -> None:
        self._modules: list[str] = []
        self._loading = threading.RLock()

    def name(self, *modules: str) -> None:
        """Add modules by their dotted names."""
        self._modules.extend(modules)

    def load(self) -> None:
        """Import all that was named."""
        with self._loading:
            for module in self._modules:
                importlib.import_module(module)
