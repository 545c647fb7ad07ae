"""Deadlines as an iCalendar file (RFC 5545): one event each, in UTC."""

from collections.abc import Iterable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from dashboard.deadlines.models import Due
from dashboard.web.text import one_line

_STAMP = "%Y%m%dT%H%M%SZ"
_LONGEST = 75
"""Octets of a line without its end; what is longer goes on in the next one, after a blank (3.1)."""


def calendar(dues: Iterable[Due], now: datetime, url: str) -> str:
    """Write those that have a moment. An event keeps its UID for as long as the deadline lasts; `url` is Levee's."""
    host = urlsplit(url).hostname or "levee"
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Levee//Deadlines//EN"]
    for due in dues:
        if due.at is not None:
            lines += [
                "BEGIN:VEVENT",
                f"UID:{due.key}@{host}",
                f"DTSTAMP:{now.astimezone(UTC):{_STAMP}}",
                f"DTSTART:{due.at.astimezone(UTC):{_STAMP}}",
                f"SUMMARY:{_text(f'{due.happens}: {due.subject}')}",
                f"DESCRIPTION:{_text(f'{due.lost} {due.stops}')}",
                f"URL:{url}{due.path}",
                "END:VEVENT",
            ]
    return "".join(f"{_folded(line)}\r\n" for line in (*lines, "END:VCALENDAR"))


def _text(value: str) -> str:
    """A value of type TEXT (3.3.11), on one line."""
    for character in "\\;,":
        value = value.replace(character, f"\\{character}")
    return one_line(value)


def _folded(line: str) -> str:
    folded, length = "", 0
    for character in line:
        octets = len(character.encode())
        if length + octets > _LONGEST:
            folded, length = f"{folded}\r\n ", 1
        folded, length = folded + character, length + octets
    return folded
