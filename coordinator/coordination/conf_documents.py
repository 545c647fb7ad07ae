"""Settings of writers as one document: for the page, and for `levee commits conf --json`."""

from dataclasses import asdict

from coordinator.coordination.pasting import cluster_conf, pairs_of, pyspark, spark_submit
from coordinator.coordination.releases import Release
from coordinator.coordination.session_conf import WriterConfig, default_properties, settings_for, warnings_for
from coordinator.writers.contract import ConfJson
from coordinator.writers.names import BROUGHT, PROVIDERS
from coordinator.writers.platforms import platforms_for
from lake.delta.facts import Mechanism


def conf_document(mechanism: Mechanism, config: WriterConfig, release: Release) -> ConfJson:
    """Settings one by one, the same in each syntax to paste, and what no setting says."""
    settings = settings_for(mechanism, config, release)
    packages = release.packages(log_store=mechanism is Mechanism.LOG_STORE)
    pairs = pairs_of(settings)
    coordinated = mechanism is Mechanism.COORDINATED_COMMITS
    return {
        "mechanism": mechanism.value,
        "delta": release.delta,
        "pyspark": release.pyspark,
        "checked": release.checked,
        "packages": list(packages),
        "settings": [asdict(one) for one in settings],
        "new_tables": [asdict(one) for one in default_properties(config)] if coordinated else [],
        "warnings": list(warnings_for(mechanism, config, release)),
        "spark_submit": spark_submit(pairs, packages),
        "pyspark_session": pyspark(pairs, packages),
        "cluster_conf": cluster_conf(pairs, packages),
        "brought": BROUGHT.get(mechanism, ()),
        "providers": _providers(mechanism, release),
        "platforms": platforms_for(mechanism, config, pairs, packages),
    }


def _providers(mechanism: Mechanism, release: Release) -> list[dict[str, str]]:
    """Classes of credentials on AWS: for DynamoDB, which no other mechanism asks, and for S3A of the release."""
    asks_dynamodb = mechanism is not Mechanism.SINGLE_DRIVER
    return [
        {
            "title": one.title,
            "dynamodb": one.dynamodb if asks_dynamodb else "",
            "s3a": one.s3a if release.adds_sdk_v1 else one.dynamodb if one.s3a else "",
        }
        for one in PROVIDERS
    ]
