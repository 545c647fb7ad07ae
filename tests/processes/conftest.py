import io

import pytest

from dashboard.processes.supervisor import Supervisor


@pytest.fixture
def supervisor():
    """Make supervisors together with what they print; whatever a failed test left running is ended."""
    made = []

    def make(grace_period=5.0):
        out = io.StringIO()
        made.append(Supervisor(out, grace_period=grace_period))
        return made[-1], out

    yield make
    for boss in made:
        boss.request_stop()
        boss.request_stop()
        boss.stop()
