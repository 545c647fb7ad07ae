import pytest
from django.core.management import call_command


@pytest.fixture
def apply(tmp_path, capsys):
    """Apply a file of this text; returns what is printed."""

    def run(text: str, *options: str) -> str:
        file = tmp_path / "lake.toml"
        file.write_text(text)
        call_command("apply", str(file), *options)
        return capsys.readouterr().out

    return run
