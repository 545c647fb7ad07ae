"""The command line of every process that an embedded Levee consists of."""

import sys
from pathlib import Path

from dashboard.processes import redis
from dashboard.processes.supervisor import CHECKOUT, Program

WEB_WORKERS, WEB_THREADS = 2, 8
AWS_THREADS = 8

# Celery warns root of pickled messages; these workers accept JSON alone.
_WITHOUT_ROOT_WARNING = {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}


def redis_server(server: Path, home: Path) -> Program:
    """The broker; the workers need it until they have ended."""
    return Program("redis", redis.command(server, home), stops_last=True)


def sandbox(home: Path, port: int, *, spark: bool = True) -> Program:
    """The lake on this machine, with or without the tables that real Spark writes."""
    without = () if spark else ("--no-spark",)
    return Program("sandbox", (*_python("sandbox"), "--port", str(port), "--home", str(home), *without))


def web(port: int) -> Program:
    """The console's pages, on loopback alone."""
    command = (
        *_python("gunicorn"),
        "dashboard.wsgi",
        f"--bind=127.0.0.1:{port}",
        f"--workers={WEB_WORKERS}",
        "--worker-class=dashboard.web.patient_worker.PatientWorker",
        f"--threads={WEB_THREADS}",
        "--graceful-timeout=5",
        "--no-control-socket",
        "--preload",
    )
    return Program("web", command)


def workers() -> tuple[Program, ...]:
    """One worker for each kind of waiting: on the database, on AWS, on Spark."""
    return (
        _worker("default", "default,alerts", "--pool=threads", "--concurrency=1"),
        _worker("aws", "aws", "--pool=threads", f"--concurrency={AWS_THREADS}"),
        _worker("spark", "spark", "--pool=threads", "--concurrency=1"),
    )


def beat(home: Path) -> Program:
    """The clock that ticks; its memory of the last ticks lies under LEVEE_HOME."""
    schedule = home / "beat" / "schedule"
    schedule.parent.mkdir(parents=True, exist_ok=True)
    return Program("beat", (*_celery("beat", ":clock"), f"--schedule={schedule}", "--pidfile=", "--loglevel=WARNING"))


def command(name: str, *words: str) -> Program:
    """One of Levee's own commands, as a program that ends."""
    return Program(name, (sys.executable, str(CHECKOUT / "manage.py"), name, *words))


def _worker(name: str, queues: str, *options: str) -> Program:
    words = (f"--queues={queues}", f"--hostname={name}@%h", *options, "--without-gossip", "--without-mingle")
    command = (*_celery("worker"), *words, "--loglevel=WARNING")
    return Program(f"worker-{name}", command, _WITHOUT_ROOT_WARNING, queues=tuple(queues.split(",")))


def _celery(verb: str, app: str = "") -> tuple[str, ...]:
    return (*_python("celery"), "--quiet", f"--app=dashboard.celery{app}", verb)


def _python(module: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module)
