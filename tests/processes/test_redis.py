import os
import stat
from pathlib import Path

import pytest
from kombu import Connection

from dashboard.processes import redis
from dashboard.processes.programs import redis_server
from tests.processes.builders import short_folder, wait_for
from tests.waiting import scaled

pytestmark = pytest.mark.process


def started(supervisor, home):
    server = redis.find_server()
    assert server is not None, redis.NO_SERVER
    redis.prepare(home)
    boss, _ = supervisor(home)
    boss.start(redis_server(server, home))
    wait_for(lambda: redis.answers(home))
    return boss


def test_the_socket_is_for_this_user_alone(supervisor):
    with short_folder() as home:
        boss = started(supervisor, home)
        mode = stat.S_IMODE(redis.socket_path(home).stat().st_mode)
        boss.stop()
        assert mode == 0o700


def test_a_folder_with_spaces_reaches_the_broker(supervisor):
    with short_folder() as folder:
        home = folder / "a b%20c"
        boss = started(supervisor, home)
        with Connection(redis.broker_url(home)) as connection:
            connection.ensure_connection(max_retries=1, timeout=scaled(5))
            assert connection.connected
        boss.stop()


def test_a_server_that_was_left_behind_is_shut_down(supervisor):
    with short_folder() as home:
        boss = started(supervisor, home)
        boss.request_stop()  # so that it is not started again
        redis.shut_down(home)
        wait_for(lambda: not redis.answers(home))
        boss.stop()

        assert not redis.socket_path(home).exists()


def test_a_long_home_gets_a_short_socket_outside_it():
    home = Path("/srv/" + "x" * 120)
    path = redis.socket_path(home)
    assert len(os.fsencode(path)) <= redis.LONGEST_SOCKET_PATH
    assert path == redis.socket_path(home)
    assert path != redis.socket_path(Path("/srv/" + "y" * 120))


def test_a_server_on_path_serves_where_the_wheel_has_none(monkeypatch, tmp_path):
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(redis, "find_spec", lambda _name: None)
    assert redis.find_server() == program


def test_a_foreign_socket_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(PermissionError, match="belongs to someone else"):
        redis.prepare(tmp_path)
