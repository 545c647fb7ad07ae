"""A file of every section."""

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
