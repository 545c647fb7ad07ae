"""Texts that Levee itself writes, for tables of each mechanism: the doctor has nothing to say of them."""

from coordinator.coordination.pasting import pairs_of
from coordinator.coordination.releases import RELEASES
from coordinator.coordination.session_conf import WriterConfig, settings_for
from coordinator.writers.platforms import platforms_for
from coordinator.writers.session import ObservedPlace
from lake.delta.facts import Mechanism

CONFIG = WriterConfig("eu-west-1", log_store="locks", coordinator="commits", environment_credentials=True)


def _texts() -> list[tuple[str, ObservedPlace]]:
    found = []
    for mechanism in (Mechanism.LOG_STORE, Mechanism.COORDINATED_COMMITS):
        observed = ObservedPlace(
            uri="s3a://lake/orders",
            mechanism=mechanism,
            region="eu-west-1",
            bucket_region="eu-west-1",
            log_store="locks" if mechanism is Mechanism.LOG_STORE else "",
            coordinator="commits",
        )
        for release in RELEASES:
            packages = release.packages(log_store=mechanism is Mechanism.LOG_STORE)
            pairs = pairs_of(settings_for(mechanism, CONFIG, release))
            for platform in platforms_for(mechanism, CONFIG, pairs, packages):
                if platform.name in ("spark", "kubernetes", "emr", "glue"):
                    found += [(text.text, observed) for text in platform.texts]
    return found


LOCKED = _texts()
