"""Numbers and times as pages and mails write them. Pure functions; what is unknown is written Unknown, never 0."""

import re
from datetime import UTC, datetime, timedelta

UNKNOWN = "Unknown"
HEADLINE = 90
"""Characters that a headline may have."""
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z“])")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
# As above, without tab and line ends.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SIZES = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


def thousands(number: object) -> str:
    """Write a whole number with separators, 1,042; text stays as it is, None is Unknown."""
    if number is None or number == "":
        return UNKNOWN
    return f"{number:,}" if isinstance(number, int) else str(number)


def plain(value: object) -> str:
    """Write a value of a settings document for a terminal: yes, no, none, what a list or a table holds; None is
    Unknown."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list):
        within = any(isinstance(one, list | dict) for one in value)
        return ("; " if within else " ").join(map(plain, value)) or "none"
    return str(value) or "-"


def file_size(size: object) -> str:
    """Write bytes in decimal units: 4,212 B below 10 kB, then 47 KB, 61.4 GB; None is Unknown."""
    if not isinstance(size, int | float):
        return UNKNOWN
    if abs(size) < 10_000:
        return f"{int(size):,} B"
    scaled, unit = float(size), 0
    while abs(scaled) >= 999.5 and unit < len(_SIZES) - 1:
        scaled, unit = scaled / 1000, unit + 1
    return f"{scaled:.1f} {_SIZES[unit]}" if abs(scaled) < 99.95 and unit > 1 else f"{scaled:,.0f} {_SIZES[unit]}"


def duration(length: object) -> str:
    """Write a timedelta or seconds: 0.1 s, 21 s, 3 min 20 s, 2 h 5 min, 4 d 3 h; None is Unknown."""
    if isinstance(length, timedelta):
        length = length.total_seconds()
    if not isinstance(length, int | float):
        return UNKNOWN
    if length < 9.95:
        return f"{max(length, 0):.1f} s"
    seconds = round(length)
    for unit, name, part, part_name in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= unit:
            rest = seconds % unit // part
            return f"{seconds // unit} {name}" + (f" {rest} {part_name}" if rest else "")
    return f"{seconds} s"


def relative(moment: datetime, now: datetime) -> str:
    """Write how far `moment` lies from `now`: 12 s ago, 41 min ago, 31 h ago, 3 d ago, in 22 h, or its date."""
    seconds = (now - moment).total_seconds()
    length = abs(seconds)
    if length < 1:
        return "now"
    if length < 60:
        span = f"{int(length)} s"
    elif length < 3_600:
        span = f"{int(length // 60)} min"
    elif length < 48 * 3_600:
        span = f"{int(length // 3_600)} h"
    elif length < 60 * 86_400:
        span = f"{int(length // 86_400)} d"
    else:
        return f"{utc(moment):%d %b %Y}"
    return f"{span} ago" if seconds > 0 else f"in {span}"


def visible(text: str) -> str:
    """Write control characters and marks of direction as numbers, \\u202e: they move cursors and turn sentences."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: object) -> str:
    """Return text without line breaks, control and direction marks: for a header, or a line of a mail."""
    return _UNPRINTABLE.sub(" ", str(text)).strip()


def shortened(text: str, most: int) -> str:
    """Return text of at most so many characters; what is cut ends in …, after a whole word where one ends near."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    whole = cut.rpartition(" ")[0]
    return f"{(whole if len(whole) > most * 2 // 3 else cut).rstrip(' ,.:;')}…"


def exact(moment: datetime) -> str:
    """Write the moment to the second, 2026-11-20 09:41:58 UTC."""
    return f"{utc(moment):%Y-%m-%d %H:%M:%S} UTC"


def utc(moment: datetime) -> datetime:
    """Return the moment in UTC; one without a zone is taken to be UTC already."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def headline(text: str, short: str = "") -> tuple[str, str]:
    """A text as a headline of at most 90 characters and what is to be read below it, "" where the headline is all.

    A first sentence that is short enough is taken out of the text; `short` stands above a longer one.
    """
    if len(text) <= HEADLINE:
        return text, ""
    first, *rest = sentences(text)
    return (first, " ".join(rest)) if rest and len(first) <= HEADLINE else (short, text)


def sentences(text: str) -> list[str]:
    return _BETWEEN_SENTENCES.split(text)
