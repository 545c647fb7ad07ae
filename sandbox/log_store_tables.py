"""The sample tables of log stores, and of none, that this process writes: each in a state of its own."""

import time
from dataclasses import dataclass

from sandbox import accidents, growth
from sandbox.client import Client
from sandbox.delta_files import IN_COMMIT_TIMESTAMP, Shape
from sandbox.ground import DELTA_LOG, DELTA_LOG_2022, DELTA_LOG_EXPORTS, DELTA_LOG_FINANCE, FINANCE, PROD, RAW, TMP_DAYS
from sandbox.growth import Growth, Mishap
from sandbox.log_store_writer import LogStoreTable

CATALOGUED = ("catalogManaged", "vacuumProtocolCheck", IN_COMMIT_TIMESTAMP)
ORDERS = Shape(("order_id long", "channel string", "amount double"))
LEDGER = Shape(("entry_id long", "account string", "amount double"))
EVENTS = Shape(("event_id long", "kind string"))
SESSIONS = Shape(("session_id long", "country string", "seconds double", "day date"), partition_by=("day",))


MEMBERS = Shape(("member_id long", "tier string", "spent double", "day date"), partition_by=("day",))
REWARDS = Shape(("reward_id long", "title string", "points double"))
REDEMPTIONS = Shape(("redemption_id long", "reward string", "points double"))
PRICES = Shape(("price_id long", "currency string", "amount double"), features=CATALOGUED)
REVIEWS = Shape(("review_id long", "words string"), features=("collations-preview",))


@dataclass(frozen=True, slots=True)
class Sample:
    """A table to make: `commits` laid down over `hours`, then what happened to it. `says` is for the log.

    `afterwards` is what befalls it once the sandbox's backup has it.

    `store` is "" where the lake's commit stores hold nothing of the table.
    """

    bucket: str
    key: str
    store: str
    shape: Shape
    commits: int
    hours: float
    happened: Mishap
    says: str
    ended_hours_ago: float = 3
    afterwards: Mishap | None = None

    @property
    def uri(self) -> str:
        return f"s3a://{self.bucket}/{self.key}"

    def make(self, client: Client) -> Growth:
        grown = Growth(LogStoreTable(client, self.store, self.bucket, self.key), self.shape)
        grown.history(
            self._times(),
            ttl_works=self.store == DELTA_LOG,
            keep_temp_files_after=time.time() - TMP_DAYS * 86_400 if self.bucket == PROD else 0,
        )
        self.happened(grown)
        return grown

    def _times(self) -> list[float]:
        """Spread the commits evenly up to the time the laid-down history ends."""
        end = time.time() - self.ended_hours_ago * 3600
        return [end - (self.commits - 1 - number) * self.hours * 3600 / self.commits for number in range(self.commits)]


SAMPLES = (
    Sample(PROD, "warehouse/sales/orders", DELTA_LOG, ORDERS, 59, 240, growth.none, "healthy, 60 commits"),
    Sample(
        PROD,
        "warehouse/sales/order_items",
        DELTA_LOG,
        ORDERS,
        14,
        30,
        growth.pending_unpublished,
        "pending, no file, and a rule that takes its temp file within four days",
    ),
    Sample(PROD, "warehouse/sales/refunds", DELTA_LOG, ORDERS, 9, 48, growth.pending_published, "pending, published"),
    Sample(PROD, "warehouse/web/sessions", DELTA_LOG, SESSIONS, 11, 96, growth.none, "healthy, partitioned by day"),
    Sample(PROD, "warehouse/inventory/stock_levels", DELTA_LOG, ORDERS, 17, 20, growth.lost_file, "a lost file"),
    Sample(
        PROD, "warehouse/inventory/reservations", DELTA_LOG, ORDERS, 7, 20, growth.spinning_writer, "a spinning writer"
    ),
    Sample(PROD, "warehouse/marketing/campaigns", DELTA_LOG, EVENTS, 6, 16, growth.stale_entry, "a stale entry"),
    Sample(
        PROD, "warehouse/marketing/email_sends", DELTA_LOG, EVENTS, 5, 12, growth.losing_writers, "temp files of losers"
    ),
    Sample(
        PROD,
        "warehouse/export/Kundenaufträge 2026",
        DELTA_LOG_EXPORTS,
        ORDERS,
        4,
        60,
        growth.none,
        "spaces and unicode, a store whose TTL can be switched on",
    ),
    Sample(
        PROD,
        "warehouse/loyalty/rewards",
        "",
        REWARDS,
        5,
        100,
        growth.without_store,
        "healthy until somebody drops it",
        afterwards=accidents.dropped,
    ),
    Sample(
        PROD,
        "warehouse/loyalty/members",
        "",
        MEMBERS,
        10,
        240,
        growth.without_store,
        "healthy until a clean-up takes too much",
        ended_hours_ago=30,
        afterwards=accidents.too_much_deleted,
    ),
    Sample(
        PROD,
        "warehouse/loyalty/redemptions",
        DELTA_LOG,
        REDEMPTIONS,
        7,
        20,
        growth.pending_unpublished,
        "pending, until a rule takes the file that waits",
        afterwards=accidents.temp_file_taken,
    ),
    Sample(RAW, "events/clicks", DELTA_LOG, EVENTS, 12, 18, growth.foreign_writer, "someone bypasses the log store"),
    Sample(RAW, "events/page_views", DELTA_LOG, EVENTS, 8, 15, growth.two_domains, "written as s3a:// and as s3://"),
    Sample(RAW, "legacy/customers_2022", DELTA_LOG_2022, ORDERS, 3, 90, growth.old_writer, "an old writer's entries"),
    Sample(RAW, "landing/crm_contacts", DELTA_LOG, EVENTS, 0, 0, growth.never_created, "never created"),
    Sample(FINANCE, "ledger/payments", DELTA_LOG_FINANCE, LEDGER, 21, 200, growth.none, "healthy, store without TTL"),
    Sample(FINANCE, "ledger/journal_entries", DELTA_LOG_FINANCE, LEDGER, 10, 70, growth.lost_commit, "a lost commit"),
    Sample(FINANCE, "ledger/invoices", DELTA_LOG_FINANCE, LEDGER, 5, 30, growth.lost_temp_file, "a lost temp file", 98),
    Sample(PROD, "warehouse/sales/price_list", "", PRICES, 6, 60, growth.without_store, "a catalogue commits for it"),
    Sample(PROD, "warehouse/web/reviews", "", REVIEWS, 7, 40, growth.without_store, "a feature Delta 4.4 lacks"),
    Sample(
        RAW, "partners/shipments", "", ORDERS, 9, 30, growth.known_by_temp_files_alone, "a store of another account"
    ),
    Sample(RAW, "legacy/readings_2021", "", EVENTS, 2, 50, growth.emptied_log, "a log without a commit"),
)


def temp_prefixes(bucket: str) -> list[str]:
    """Return the `.tmp/` prefix of each sample table of a log store in a bucket, for its lifecycle rule."""
    return [f"{sample.key}/_delta_log/.tmp/" for sample in SAMPLES if sample.store and sample.bucket == bucket]
