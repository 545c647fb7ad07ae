import pytest

from tests.dashboard.declaration.builders import apply as apply_in


@pytest.fixture
def apply(tmp_path, capsys):
    """Apply a file of this text; returns what is printed."""

    def run(text: str, *options: str) -> str:
        apply_in(tmp_path, text, *options)
        return capsys.readouterr().out

    return run
