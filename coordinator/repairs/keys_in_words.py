"""Keys on S3 as a sentence names them: the zeros before a version are left out."""

import re

from coordinator.protocols.names import STAGED_FOLDERS

_PADDED_VERSION = re.compile(r"(?<![0-9])0{1,19}(?=[0-9])")


def label(key: str) -> str:
    """An object as a person would name it: within its log."""
    return _PADDED_VERSION.sub("", key.partition("_delta_log/")[2] or key)


def short(key: str) -> str:
    """The same for a line of a plan: with its folder in the log alone, and a sign where zeros were left out."""
    folder, _, name = key.rpartition("/")
    parent = folder.rpartition("/")[2]
    shown = "…" + name.lstrip("0") if name[:20].isdecimal() and len(name) > 20 else name
    if name[:20] == "0" * 20:
        shown = f"…0{name[20:]}"
    return f"{parent}/{shown}" if parent in (".tmp", *STAGED_FOLDERS) else shown
