"""A console beside moto, with its pauses left out."""

from tests.coordinator.settings.conftest import _no_pauses, _own_environment, console  # noqa: F401
