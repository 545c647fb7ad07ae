"""What is written to logs stays one line, moves no terminal, and holds no link that lets somebody in."""

import logging
from datetime import timedelta
from types import SimpleNamespace

from gunicorn.config import Config

from dashboard.web.access_log import AccessLog
from dashboard.web.log_lines import LineFormatter

FORMATTER = LineFormatter("%(levelname)s %(name)s %(message)s")


def line(text: str, *args: object, **fields: object) -> str:
    record = logging.LogRecord("levee", logging.WARNING, "x.py", 1, text, args, None)
    record.__dict__.update(fields)
    return FORMATTER.format(record)


def test_a_name_with_line_ends_makes_no_second_line() -> None:
    assert line("Observed %s.", "a\nERROR levee All is lost\r\n") == (
        "WARNING levee Observed a\\nERROR levee All is lost\\r\\n."
    )


def test_a_name_moves_no_cursor_and_turns_no_sentence() -> None:
    assert line("Observed \x1b[2J\u202eabc") == "WARNING levee Observed \\u001b[2J\\u202eabc"


def test_a_traceback_keeps_its_lines() -> None:
    assert line("Failed", exc_text="Traceback:\n  file").endswith("Failed\nTraceback:\n  file")


def test_a_link_that_lets_in_is_cut() -> None:
    assert line("Not Found: /welcome/MQ/c4x-PLANTED/") == "WARNING levee Not Found: /welcome/…"
    assert "PLANTED" not in line("GET http://levee/alerts/stop/InBMQU5URUQi:PLANTED/ 200")


def test_the_log_of_requests_cuts_it_in_address_and_referrer() -> None:
    address = "/welcome/MQ/c4x-PLANTED/"
    environ = {
        "REQUEST_METHOD": "GET",
        "RAW_URI": address,
        "PATH_INFO": address,
        "QUERY_STRING": "",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_REFERER": f"https://levee.acme.example{address}",
    }
    headers = SimpleNamespace(headers=[("REFERER", environ["HTTP_REFERER"])])
    answer = SimpleNamespace(status="200 OK", headers=[], sent=1)
    atoms = AccessLog(Config()).atoms(answer, headers, environ, timedelta(seconds=1))
    assert atoms["r"] == "GET /welcome/… HTTP/1.1"
    assert "PLANTED" not in str(atoms)
