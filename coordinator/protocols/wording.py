"""Numbers, ages, versions and keys on S3 as Levee's sentences write them."""

import re
from collections.abc import Collection, Iterable, Sequence

MINUTE = 60
HOUR = 3_600
DAY = 86_400

_PADDED_VERSION = re.compile(r"(?:(?<=/)|^)0{1,19}(?=[0-9]{1,19}\.)")


def thousands(number: int) -> str:
    """A version or a count in prose: 1,042."""
    return f"{number:,}"


def duration(seconds: float) -> str:
    """A length of time, rounded down to its largest unit: 45 s, 17 min, 5 h, 3 d."""
    whole = max(0, int(seconds))
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if whole >= size:
            return f"{whole // size:,} {unit}"
    return f"{whole} s"


def counted(count: int, one: str, many: str = "") -> str:
    """A count and its noun: 1 entry, 2 entries."""
    return f"{thousands(count)} {one if count == 1 else many or one + 's'}"


def verb(count: int, one: str, many: str) -> str:
    """The form of a verb or noun that fits the count."""
    return one if count == 1 else many


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Parts of a sentence: "a", "a and b", "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def version_list(versions: Iterable[int], most: int = 3) -> str:
    """Versions in prose, runs drawn together: "5", "5 to 9", "5, 7 and 4 more"."""
    return run_list(runs_of(versions), most)


def named_versions(versions: Collection[int]) -> str:
    """The same with its noun: version 4, versions 4 to 7."""
    return f"{verb(len(versions), 'version', 'versions')} {version_list(versions)}"


def they_were(versions: Collection[int]) -> str:
    """The same as the subject of a sentence: version 4 was, versions 4 to 7 were."""
    return f"{named_versions(versions)} {verb(len(versions), 'was', 'were')}"


def run_list(runs: Sequence[tuple[int, int]], most: int = 3) -> str:
    """Runs of versions in prose, each by its first and last: "5", "5 to 9", "5, 7 and 4 more"."""
    shown = [thousands(a) if a == b else f"{thousands(a)} to {thousands(b)}" for a, b in runs[:most]]
    rest = sum(b - a + 1 for a, b in runs[most:])
    return joined([*shown, f"{thousands(rest)} more"] if rest else shown)


def accepted_only(versions: Sequence[int]) -> str:
    """Commits that nobody but their store knows: "commit 5 is accepted and not published"."""
    many = len(versions)
    named = f"{verb(many, 'commit', 'commits')} {version_list(versions)}"
    return f"{named} {verb(many, 'is', 'are')} accepted and not published"


def runs_of(versions: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each run of consecutive versions, ascending."""
    runs: list[tuple[int, int]] = []
    for version in sorted(set(versions)):
        if runs and runs[-1][1] == version - 1:
            runs[-1] = (runs[-1][0], version)
        else:
            runs.append((version, version))
    return runs


def short(key: str) -> str:
    """An object as a person would name it: within its log, and a sign for the zeros before its version."""
    return _PADDED_VERSION.sub("…", key.partition("_delta_log/")[2] or key)
