import stat
from pathlib import Path

import pytest
from kombu import Connection

from dashboard.processes import redis
from dashboard.processes.programs import redis_server
from dashboard.web.health import redis_answers
from tests.processes.builders import short_folder, wait_for
from tests.waiting import scaled

pytestmark = pytest.mark.process


def test_a_socket_in_a_folder_with_spaces_reaches_the_broker_and_is_for_this_user_alone(supervisor):
    server = redis.find_server()
    assert server is not None, redis.NO_SERVER
    boss, _ = supervisor()
    with short_folder() as folder:
        home = folder / "a b%20c"
        redis.prepare(home)
        boss.start(redis_server(server, home))
        wait_for(lambda: redis_answers(redis.broker_url(home)))
        with Connection(redis.broker_url(home)) as connection:
            connection.ensure_connection(max_retries=1, timeout=scaled(5))
            assert connection.connected
        mode = stat.S_IMODE(redis.socket_path(home).stat().st_mode)
        boss.stop()
        assert mode == 0o700


def test_a_home_too_long_for_a_socket_is_refused():
    with pytest.raises(OSError, match="choose a shorter LEVEE_HOME"):
        redis.prepare(Path("/srv/" + "x" * 120))


def test_a_server_on_path_serves_where_the_wheel_has_none(monkeypatch, tmp_path):
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(redis, "find_spec", lambda _name: None)
    assert redis.find_server() == program
