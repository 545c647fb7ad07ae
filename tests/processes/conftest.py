import io

import pytest

from dashboard.processes.supervisor import Supervisor


@pytest.fixture
def supervisor(tmp_path):
    """Make supervisors together with what they print; whatever a failed test left running is ended.

    What the processes say is in `logs` of the test's folder.
    """
    made = []

    def make(grace_period=5.0):
        out = io.StringIO()
        made.append(Supervisor(out, tmp_path / "logs", grace_period=grace_period))
        return made[-1], out

    yield make
    for boss in made:
        boss.request_stop()
        boss.request_stop()
        boss.stop()
