import os
import socket

import pytest

from dashboard.processes.lock import RunError, home_lock, require_free

pytestmark = pytest.mark.process


def test_a_second_run_in_the_same_home_is_refused_and_told_who_runs(tmp_path):
    refused = pytest.raises(RunError, match=rf"already runs in .* \(process {os.getpid()}\)")
    with home_lock(tmp_path), refused, home_lock(tmp_path):
        pytest.fail("the lock was given twice")


def test_a_taken_port_is_said_in_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(RunError, match=f"Port {port} on 127.0.0.1 is taken: .* PORT=") as error:
            require_free(port)
    assert "\n" not in str(error.value)
