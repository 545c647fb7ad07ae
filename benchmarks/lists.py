"""Lists of a lake of 100,000 tables against Django admin's list of the same rows, in one gunicorn.

CPU is that of the server and all its children. The deepest page is the one that begins after the last but one.
"""

import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness import ROUNDS, asked

TABLES, REQUESTS, PORT = 100_000, 40, 8151
LISTS = (
    "/tables/", "/tables/?q=table_0999", "/tables/?q=no-such-table", "/stores/", "/buckets/", "/backups/", "/jobs/",
    "/audit/", "/alerts/", "/deadlines/", "/connections/",
)  # fmt: skip
PEER = "/admin/coordinator/deltatable/"


def main() -> None:
    """LEVEE_BENCH_TABLES, _REQUESTS and _ROUNDS set other numbers; DATABASE_URL another database than SQLite."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.lists_settings"
    with tempfile.TemporaryDirectory() as home:
        os.environ["LEVEE_HOME"] = home
        cookie, table = _filled(asked("TABLES", TABLES))
        with _gunicorn(cookie) as cpu_seconds:
            for clients in (1, 8):
                _compare(cookie, [*LISTS, table], clients, cpu_seconds)


def _filled(tables: int) -> tuple[str, str]:
    """Fill a fresh database; return the cookie of somebody who sees all of it, and the page of one table."""
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client
    from django.utils import timezone

    from benchmarks.large_lake import fill
    from coordinator.kept import compact
    from coordinator.models import DeltaTable

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    fill(tables, timezone.now())
    compact()
    client = Client()
    client.force_login(User.objects.create_superuser("mara"))
    return client.cookies["sessionid"].value, f"/tables/{DeltaTable.objects.filter(state='blocked').first().pk}/"  # type: ignore[union-attr]


@contextmanager
def _gunicorn(cookie: str) -> Iterator[Callable[[], float]]:
    """Serve on loopback as `levee run` does; yield what tells the CPU seconds used so far."""
    words = ("dashboard.wsgi", f"--bind=127.0.0.1:{PORT}", "--workers=2", "--threads=8", "--log-level=error")
    kind = "--worker-class=dashboard.web.patient_worker.PatientWorker"
    server = subprocess.Popen([sys.executable, "-m", "gunicorn", *words, kind])
    try:
        deadline = time.monotonic() + 60
        while not _answers(cookie) and time.monotonic() < deadline:
            time.sleep(0.2)
        yield lambda: _cpu_seconds(server.pid)
    finally:
        server.terminate()
        server.wait()


def _answers(cookie: str) -> bool:
    try:
        return _get(http.client.HTTPConnection("127.0.0.1", PORT, timeout=30), "/tables/", cookie) > 0
    except OSError:
        return False


def _get(connection: http.client.HTTPConnection, address: str, cookie: str) -> int:
    """Bytes of the answer; anything but a page is an AssertionError."""
    headers = {"Cookie": f"sessionid={cookie}", "Accept-Encoding": "gzip"}
    connection.request("GET", address, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, f"{address} answered {answer.status}"
    return len(body)


def _cpu_seconds(pid: int) -> float:
    pids = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    ticks = 0
    for one in pids:
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _compare(cookie: str, addresses: list[str], clients: int, cpu_seconds: Callable[[], float]) -> None:
    """A line for each address: CPU and wall a request, and its CPU in units of the peer's, by medians of the rounds."""
    found: dict[str, list[tuple[float, float]]] = {address: [] for address in (PEER, *addresses)}
    for number in range(asked("ROUNDS", ROUNDS) + 1):
        for address in list(found)[:: -1 if number % 2 else 1]:
            lap = _lap(cookie, address, clients, cpu_seconds)
            if number:  # the first warms up
                found[address].append(lap)
    _tell(found, clients)


def _lap(cookie: str, address: str, clients: int, cpu_seconds: Callable[[], float]) -> tuple[float, float]:
    """CPU and wall milliseconds a request."""
    each = asked("REQUESTS", REQUESTS) // clients

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        for _ in range(each):
            _get(connection, address, cookie)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    before, began = cpu_seconds(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    requests = each * clients
    return (cpu_seconds() - before) * 1000 / requests, (time.perf_counter() - began) * 1000 / requests


def _tell(found: Mapping[str, list[tuple[float, float]]], clients: int) -> None:
    print(f"\n{clients} client{'' if clients == 1 else 's'} (load {os.getloadavg()[0]:.1f})")
    print(f"{'':44} {'CPU ms':>8} {'wall ms':>8} {'of the peer':>12}")
    peer = statistics.median(cpu for cpu, _ in found[PEER])
    for address, laps in found.items():
        cpu, wall = (statistics.median(one[place] for one in laps) for place in (0, 1))
        print(f"{address:44} {cpu:8.1f} {wall:8.1f} {cpu / peer:11.2f}x")


if __name__ == "__main__":
    main()
