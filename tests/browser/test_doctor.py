"""Settings pasted into a real browser: the findings are sound and fit, with and without script."""

import pytest

from dashboard.accounts.roles import Role
from tests.browser.test_accessibility import judged
from tests.lazily import lazily

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

WRONG = """spark-submit --packages io.delta:delta-spark_2.13:4.0.1,org.apache.hadoop:hadoop-aws:3.3.4 \\
  --conf spark.delta.logStore.s3a.impl=io.delta.storage.DynamoDBLogStore \\
  --conf spark.delta.DynamoDBLogStore.region=eu-west-1 \\
  --conf spark.hadoop.fs.s3a.secret.key=hunter2 \\
  --conf spark.hadoop.fs.s3a.performance.flags=create job.py s3a://lake/orders
"""


@pytest.mark.parametrize(
    ("width", "theme", "javascript"), [(1440, "light", True), (390, "dark", True), (390, "light", False)]
)
def test_a_pasted_command_is_examined(visit, width, theme, javascript):
    visitor = visit(width=width, theme=theme, javascript=javascript)
    page = visitor.page
    visitor.sign_in(Role.VIEWER)
    visitor.open("/doctor/")
    page.get_by_label("Settings", exact=True).fill(WRONG)
    page.get_by_role("button", name="Examine").click()

    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(page.locator("table.cards")).to_contain_text("S3DynamoDBLogStore.ddb.region=eu-west-1")
    expect(page.locator("main")).not_to_contain_text("hunter2")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if javascript:
        assert judged(page) == []
