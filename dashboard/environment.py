"""Typed readers of environment variables that fail loudly, naming the variable."""

import fcntl
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_home(home: Path) -> Path:
    """Make LEVEE_HOME and close it, with all that is in it, to other users of the machine.

    What this process makes elsewhere is born closed too. Raises ImproperlyConfigured for what this user may not close.
    """
    os.umask(_OTHERS)
    try:
        home.mkdir(parents=True, exist_ok=True)
        if home.stat().st_mode & _OTHERS:
            home.chmod(stat.S_IRWXU)
    except OSError as error:
        raise ImproperlyConfigured(
            f"LEVEE_HOME is {home}, which is no folder that this user may close to others: {error.strerror}."
        ) from error
    return home


def env_bool(name: str, default: bool) -> bool:
    """Read 1/0, true/false, yes/no; anything else raises ImproperlyConfigured."""
    text = os.environ.get(name, "").strip().lower()
    if not text:
        return default
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} is {text!r}: write 1 or 0.")


def env_int(name: str, default: int, *, least: int = 1, most: int = 2**31 - 1) -> int:
    """Read a whole number from `least` to `most`; anything else raises ImproperlyConfigured."""
    text = os.environ.get(name, "").strip()
    with suppress(ValueError):
        if least <= (number := int(text or default)) <= most:
            return number
    raise ImproperlyConfigured(f"{name} is {text!r}: write a whole number from {least:,} to {most:,}.")


def env_list(name: str, default: str = "") -> list[str]:
    """Read a comma-separated list without empty parts."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def env_prices(name: str) -> dict[str, str]:
    """Read item=price with commas between; what is no price of zero or more raises ImproperlyConfigured."""
    pairs = [part.partition("=") for part in env_list(name)]
    for item, equals, price in pairs:
        if not (item and equals and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", price)):
            raise ImproperlyConfigured(
                f"{name} has {item + equals + price!r}: write an item and its price, as in copy_thousand=0.005."
            )
    return {item: price for item, _, price in pairs}


def env_given(name: str) -> str:
    """Return the text in NAME, or in the file that NAME_FILE names, or an empty one."""
    if value := os.environ.get(name):
        return value
    if path := os.environ.get(f"{name}_FILE"):
        try:
            return Path(path).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE names {path}, which cannot be read: {error.strerror}.") from error
    return ""


def kept_secret(file: Path) -> str:
    """Return the random text kept in `file`; the first caller makes it, two at once agree on one."""
    if file.exists() and (text := file.read_text()):
        return text
    with open(os.open(file, os.O_CREAT | os.O_RDWR, 0o600), "r+") as kept:
        fcntl.flock(kept, fcntl.LOCK_EX)
        if not (text := kept.read()):
            text = secrets.token_urlsafe(48)
            kept.write(text)
    return text


def database(url: str, home: Path) -> dict[str, object]:
    """Turn DATABASE_URL into Django's settings; without one, SQLite in WAL mode under LEVEE_HOME, closed to others."""
    if not url:
        return _sqlite(home / "levee.sqlite3")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite(Path(unquote(parts.path)))
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"DATABASE_URL begins with {parts.scheme}://: use postgresql:// or sqlite:///.")
    return _postgresql(parts)


def _sqlite(file: Path) -> dict[str, object]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "OPTIONS": {
            "timeout": 30,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
        },
    }


def _postgresql(parts: SplitResult) -> dict[str, object]:
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", None) or unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }
