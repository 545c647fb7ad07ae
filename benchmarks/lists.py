"""Lists of a lake of 100,000 tables against Django admin's list of the same rows, in one gunicorn.

CPU is that of the server and all its children. The deepest page begins after the last table but forty.
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
from dataclasses import dataclass, field

from benchmarks.harness import ROUNDS, asked, cpu_seconds

TABLES, REQUESTS, PORT = 100_000, 40, 8151
LISTS = (
    "/tables/", "/tables/?q=table_0999", "/tables/?q=no-such-table", "/stores/", "/buckets/", "/backups/",
    "/jobs/?size=20", "/audit/?size=20", "/alerts/", "/deadlines/", "/connections/",
)  # fmt: skip
PEER = "/admin/coordinator/deltatable/"


def main() -> None:
    """LEVEE_BENCH_TABLES, _REQUESTS and _ROUNDS set other numbers; DATABASE_URL another database than SQLite."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.lists_settings"
    with tempfile.TemporaryDirectory() as home:
        os.environ["LEVEE_HOME"] = home
        cookie, *addresses = _filled(asked("TABLES", TABLES))
        with _gunicorn(cookie) as cpu_seconds:
            for clients in (1, 8):
                _compare(cookie, [*LISTS, *addresses], clients, cpu_seconds)


def _filled(tables: int) -> tuple[str, str, str]:
    """Fill a fresh database; return the cookie of somebody who sees all of it, the deepest page and that of a table."""
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client
    from django.utils import timezone

    from benchmarks.large_lake import fill
    from coordinator.kept import compact
    from coordinator.models import DeltaTable
    from coordinator.queries.table_list import SORTS, TableFilter, table_page

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    fill(tables, timezone.now())
    compact()
    client = Client()
    client.force_login(User.objects.create_superuser("mara"))
    deep = table_page(TableFilter(), SORTS[0], "", DeltaTable.objects.filter(gone_at=None).count() - 40).next_after
    blocked = DeltaTable.objects.filter(state="blocked").values_list("pk", flat=True)[0]
    return client.cookies["sessionid"].value, f"/tables/?after={deep}", f"/tables/{blocked}/"


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
        yield lambda: cpu_seconds(server.pid)
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


@dataclass
class Laps:
    """CPU milliseconds a request by lap, requests a second by lap, and the wall milliseconds of each request."""

    cpu: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)


def _compare(cookie: str, addresses: list[str], clients: int, cpu_seconds: Callable[[], float]) -> None:
    """Ask for every address in every round, A B then B A, and tell the medians; the first round warms up."""
    found = {address: Laps() for address in (PEER, *addresses)}
    for number in range(asked("ROUNDS", ROUNDS) + 1):
        for address in list(found)[:: -1 if number % 2 else 1]:
            _lap(cookie, address, clients, cpu_seconds, found[address] if number else Laps())
    _tell(found, clients)


def _lap(cookie: str, address: str, clients: int, cpu_seconds: Callable[[], float], laps: Laps) -> None:
    each = asked("REQUESTS", REQUESTS) // clients

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        for _ in range(each):
            began = time.perf_counter()
            _get(connection, address, cookie)
            laps.walls.append((time.perf_counter() - began) * 1000)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    before, began = cpu_seconds(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    requests = each * clients
    laps.cpu.append((cpu_seconds() - before) * 1000 / requests)
    laps.rate.append(requests / (time.perf_counter() - began))


def _tell(found: Mapping[str, Laps], clients: int) -> None:
    print(f"\n{clients} client{'' if clients == 1 else 's'} (load {os.getloadavg()[0]:.1f})")
    print(f"{'':34} {'CPU ms':>7} {'of the peer':>11} {'requests/s':>10} {'of the peer':>11} {'p95 ms':>7}")
    peer_cpu, peer_rate = (statistics.median(laps) for laps in (found[PEER].cpu, found[PEER].rate))
    for address, laps in found.items():
        cpu, rate = statistics.median(laps.cpu), statistics.median(laps.rate)
        p95 = statistics.quantiles(laps.walls, n=20)[-1]
        print(f"{address[:34]:34} {cpu:7.1f} {cpu / peer_cpu:10.2f}x {rate:10.1f} {rate / peer_rate:10.2f}x {p95:7.1f}")


if __name__ == "__main__":
    main()
