"""What lies under static/: vendored files as published, a stylesheet that can be read, a script that is small."""

import hashlib
import re
from pathlib import Path

import pytest
from django.conf import settings

STATIC = Path(settings.BASE_DIR, "static")
CSS = (STATIC / "levee.css").read_text()
COLOUR = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);")
TOKENS = {name: (light, dark) for name, light, dark in COLOUR.findall(CSS)}
GROUNDS = ("ground", "surface", "sunken", "hover", "press")
TINTS = ("ok-tint", "held-tint", "warn-tint", "crit-tint", "accent-tint")
TEXT = [
    *((text, ground) for text in ("ink", "ink-2", "ink-3", "accent") for ground in GROUNDS),
    *((text, tint) for text in ("ink", "ink-2", "ink-3", "accent") for tint in TINTS),
    *((tone, ground) for tone in ("ok", "held", "warn", "crit") for ground in GROUNDS),
    *((tone, f"{tone}-tint") for tone in ("ok", "held", "warn", "crit")),
]
PARTS = [
    *(("edge", ground) for ground in ("surface", "ground", "sunken")),
    *((part, "surface") for part in ("cell", "ok-fill", "accent-fill", "crit-fill")),
]


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT)
def test_text_is_readable_on_every_ground(text: str, ground: str, scheme: int) -> None:
    assert contrast(TOKENS[text][scheme], TOKENS[ground][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("part", "ground"), PARTS)
def test_edges_and_bars_are_seen(part: str, ground: str, scheme: int) -> None:
    assert contrast(TOKENS[part][scheme], TOKENS[ground][scheme]) >= 3


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("fill", ["accent-fill", "crit-fill"])
def test_white_words_are_readable_on_filled_buttons(fill: str, scheme: int) -> None:
    assert contrast("#fff", TOKENS[fill][scheme]) >= 4.5


def test_every_token_that_is_used_is_defined() -> None:
    defined = set(re.findall(r"(--[\w-]+):", CSS))
    assert set(re.findall(r"var\((--[\w-]+)", CSS)) <= defined


def test_vendored_files_are_those_that_were_published() -> None:
    sums = list((STATIC / "vendor").glob("*/SHA256SUMS"))
    assert sums
    for file in sums:
        named = dict(reversed(line.split("  ")) for line in file.read_text().splitlines())
        assert set(named) == {path.name for path in file.parent.iterdir()} - {"SHA256SUMS"}
        for name, digest in named.items():
            assert hashlib.sha256((file.parent / name).read_bytes()).hexdigest() == digest


def test_the_script_is_one_small_file() -> None:
    assert len((STATIC / "levee.js").read_text().splitlines()) <= 60
    assert [path.name for path in STATIC.glob("*.js")] == ["levee.js"]
