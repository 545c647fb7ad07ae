"""A file of every section, and the command that applies it."""

from pathlib import Path

from django.core.management import call_command

WHOLE = """
[connections.prod]
region = "us-west-2"

[[watch]]
connection = "prod"
uri = "s3a://acme-lake-prod/warehouse/"

[[stores]]
connection = "prod"
name = "delta_log"
kind = "log_store"

[[plans]]
name = "warehouse-daily"
connection = "prod"
source = "s3a://acme-lake-prod/warehouse/"
destination = "s3a://acme-vault/warehouse/"
"""
NOTHING_LEFT = "watch = []\nstores = []\nplans = []\n[connections]\n"
NOTHING_TO_CHANGE = "Nothing to change: the declaration is stored already."


def apply(folder: Path, text: str, *options: str) -> None:
    file = folder / "lake.toml"
    file.write_text(text)
    call_command("apply", str(file), *options)
