"""What docker-compose.yml promises, read as data: the file itself is tried by whoever deploys it."""

import re

import pytest
import yaml
from django.conf import settings

from dashboard.celery import app

pytestmark = pytest.mark.process

TEXT = (settings.BASE_DIR / "docker-compose.yml").read_text()
SERVICES = yaml.safe_load(TEXT)["services"]


def test_every_queue_has_a_worker():
    commands = " ".join(str(service.get("command", "")) for service in SERVICES.values())
    served = {queue for names in re.findall(r"--queues=(\S+)", commands) for queue in names.split(",")}
    assert served == set(app.amqp.queues)


OF_LEVEE_RUN_OR_THE_IMAGE = {"LEVEE_HOME", "PORT", "LEVEE_SANDBOX"}


@pytest.mark.parametrize("name", [name for name, service in SERVICES.items() if service.get("image") == "levee"])
def test_every_setting_of_the_operators_guide_reaches_every_process(name):
    guide = (settings.BASE_DIR / "docs" / "operating.md").read_text()
    rows = [line.split("|")[1] for line in guide.split("## The processes")[0].splitlines() if line.startswith("| `")]
    named = {found for row in rows for found in re.findall(r"`([A-Z_]+)`", row)}
    assert {"REDIS_URL", "LEVEE_SMTP_URL_FILE", "SPARK_MASTER"} <= named

    assert named - OF_LEVEE_RUN_OR_THE_IMAGE - set(SERVICES[name]["environment"]) == set()


def test_every_published_port_is_on_loopback():
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_no_secret_has_a_value_in_the_file():
    values = [
        value
        for service in SERVICES.values()
        for name, value in service.get("environment", {}).items()
        if re.search("SECRET|PASSWORD|TOKEN|ACCESS_KEY", name)
    ]
    given = [value for value in values if value is not None]  # None: passed through from the shell
    assert given
    assert all("${" in value and ":?" in value for value in given)
