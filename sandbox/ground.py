"""What must be there before the first table: buckets with their rules, and the commit stores with their TTL."""

from dataclasses import dataclass

from sandbox.client import Client

PROD, RAW, FINANCE = "acme-lake-prod", "acme-lake-raw", "acme-lake-finance"
WATCHED = (f"s3a://{PROD}/warehouse/", f"s3a://{RAW}/", f"s3a://{FINANCE}/")

DELTA_LOG, DELTA_LOG_2022, DELTA_LOG_FINANCE = "delta_log", "delta_log_2022", "delta_log_finance"
DELTA_LOG_EXPORTS, DELTA_COMMITS = "delta_log_exports", "delta_commits"

TMP_DAYS = 3
SPARK_TABLES = 10
"""How many of the sample tables real Spark writes."""


@dataclass(frozen=True, slots=True)
class Store:
    """A DynamoDB table that serves commits; `kind` is the declaration's word; no `ttl_attribute`: TTL is off."""

    name: str
    kind: str
    ttl_attribute: str = ""
    on_demand: bool = True
    point_in_time_recovery: bool = False


STORES = (
    Store(DELTA_LOG, "log_store", ttl_attribute="expireTime", point_in_time_recovery=True),
    Store(DELTA_LOG_2022, "log_store", ttl_attribute="commitTime", on_demand=False),
    Store(DELTA_LOG_FINANCE, "log_store", on_demand=False),
    Store(DELTA_LOG_EXPORTS, "log_store"),
    Store(DELTA_COMMITS, "commit_coordinator", point_in_time_recovery=True),
)


def lay(client: Client, tmp_prefixes: list[str]) -> None:
    """Create buckets and commit stores; `tmp_prefixes` of the production bucket get a rule that clears temp files."""
    for bucket in (PROD, RAW, FINANCE):
        client.create_bucket(bucket)
    if tmp_prefixes:
        client.configure_bucket(PROD, "lifecycle", _lifecycle([(prefix, TMP_DAYS) for prefix in tmp_prefixes]))
    # A rule someone wrote for exports, whose prefix takes in the whole ledger, logs included.
    client.configure_bucket(FINANCE, "lifecycle", _lifecycle([("ledger/", 90)]))
    client.configure_bucket(FINANCE, "versioning", _versioning("Enabled"))
    client.configure_bucket(RAW, "versioning", _versioning("Suspended"))
    for store in STORES:
        create_store(client, store)


def _lifecycle(rules: list[tuple[str, int]]) -> str:
    written = "".join(
        f"<Rule><ID>expire-{number}</ID><Filter><Prefix>{prefix}</Prefix></Filter><Status>Enabled</Status>"
        f"<Expiration><Days>{days}</Days></Expiration></Rule>"
        for number, (prefix, days) in enumerate(rules, start=1)
    )
    return f"<LifecycleConfiguration>{written}</LifecycleConfiguration>"


def _versioning(status: str) -> str:
    return f"<VersioningConfiguration><Status>{status}</Status></VersioningConfiguration>"


def create_store(client: Client, store: Store) -> None:
    """Create one commit store; servers that lack TTL or recovery refuse only stores that ask for them."""
    keys = ("tablePath", "fileName") if store.kind == "log_store" else ("tableId",)
    capacity: dict[str, object] = {"BillingMode": "PAY_PER_REQUEST"}
    if not store.on_demand:
        capacity = {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}
    client.dynamodb(
        "CreateTable",
        TableName=store.name,
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)],
        **capacity,
    )
    if store.ttl_attribute:
        setting = {"AttributeName": store.ttl_attribute, "Enabled": True}
        client.dynamodb("UpdateTimeToLive", TableName=store.name, TimeToLiveSpecification=setting)
    if store.point_in_time_recovery:
        setting = {"PointInTimeRecoveryEnabled": True}
        client.dynamodb("UpdateContinuousBackups", TableName=store.name, PointInTimeRecoverySpecification=setting)


def declaration(origin: str, region: str) -> str:
    """Write the TOML file that declares the sandbox to the console."""
    watches = "".join(f'\n[[watch]]\nconnection = "sandbox"\nuri = "{uri}"\n' for uri in WATCHED)
    stores = "".join(
        f'\n[[stores]]\nconnection = "sandbox"\nname = "{store.name}"\nkind = "{store.kind}"\n' for store in STORES
    )
    return f'[connections.sandbox]\nregion = "{region}"\nendpoint_url = "{origin}"\n{watches}{stores}'
