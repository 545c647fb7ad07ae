"""gunicorn's log of requests, without the links that let in whoever has them."""

from typing import Any

from gunicorn.glogging import Logger  # type: ignore[import-untyped]

from dashboard.web.log_lines import without_links


class AccessLog(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Given to gunicorn by its --logger-class."""

    def atoms(self, *args: Any) -> dict[str, object]:
        found = super().atoms(*args)
        return {name: without_links(value) if isinstance(value, str) else value for name, value in found.items()}
