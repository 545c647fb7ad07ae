"""Lines of logs: one for each event whatever it names, and none that lets a reader in by the link of somebody else."""

import logging
import re

from dashboard.web.text import visible

# The links that let in whoever has them: setting a first password, stopping mails.
_LINKS = re.compile(r"(/welcome/|/alerts/stop/)[^\s\"?]+")


def without_links(text: str) -> str:
    return _LINKS.sub(r"\1…", text)


class LineFormatter(logging.Formatter):
    """A message on one line, without control characters; a traceback follows on lines of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        return super().formatMessage(record).replace("\n", "\\n").replace("\r", "\\r")

    def format(self, record: logging.LogRecord) -> str:
        return visible(without_links(super().format(record)))
