"""What Spark raises, as one sentence: its exceptions carry whole plans and stack traces."""

import re
from typing import Any

from lake.spark.messages import SparkError
from lake.spark.troubles import trouble_of

LONGEST = 500

_CONDITION = re.compile(r"\[([A-Z0-9_.]+)\]\s*")
_SQLSTATE = re.compile(r"\s*SQLSTATE: \w+")
_JAVA = re.compile(r"^:?\s*(?:[\w.$]+\.)?([\w$]*(?:Exception|Error)): (.*)", re.DOTALL)
# The last cause of a Java stack trace is the first thing that went wrong.
_CAUSE = re.compile(r"^Caused by: [\w.$]+: (.+)$", re.MULTILINE)
# How version 1 of the AWS SDK ends each message.
_AWS_SUFFIX = re.compile(r"\s*\(Service: [^()]*\)")
# Delta 4.4.0 finds no item, and trips over that.
_ITEM_MISSING = re.compile(r'NullPointerException: Cannot invoke "java\.util\.Map\.get')


class SparkRefused(Exception):
    """Spark was not asked, for the reason in this one sentence, which says what to do."""


def describe(error: BaseException) -> SparkError:
    """Tell an exception in one sentence, with its condition where Spark or Delta gives one."""
    kind, text = type(error).__name__, _message(error)
    if (java := _JAVA.match(text)) is not None:
        kind, text = java[1], java[2]
    if (trouble := trouble_of(kind, str(error))) is not None:
        return trouble
    found = _CONDITION.match(text)
    condition = _condition(error) or (found[1] if found else "")
    if kind == "CommitCoordinatorGetCommitsFailedException" and _ITEM_MISSING.search(text):
        return SparkError(kind, condition, "The commit coordinator's DynamoDB table holds no item of this table.")
    sentence = first_sentence(text[found.end() :] if found else text) or kind
    causes = _CAUSE.findall(text)
    cause = first_sentence(causes[-1]) if causes else ""
    return SparkError(
        kind, condition, full_stop(sentence if not cause or cause in sentence else f"{sentence} ({cause})")
    )


def full_stop(sentence: str) -> str:
    """A sentence that another one may follow; Spark and Java end theirs as they like."""
    return sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."


def first_sentence(text: str) -> str:
    """Cut at the end of the first sentence or paragraph; line breaks inside one become spaces."""
    paragraph = re.split(r"\n\s*\n|\n\s*at |\nJVM stacktrace", text.strip(), maxsplit=1)[0]
    joined = _AWS_SUFFIX.sub("", _SQLSTATE.sub("", re.sub(r"\s+", " ", paragraph))).strip()
    end = re.search(r"[.!?](?= [A-Z])", joined)
    sentence = joined[: end.end()] if end else joined
    return sentence if len(sentence) <= LONGEST else sentence[: LONGEST - 1] + "…"


def _message(error: BaseException) -> str:
    """py4j tells its own call first, the Java exception on the next line."""
    # getMessage() would ask Spark's own list of conditions, which has none of Delta's, and fails.
    text = str(error)
    _, called, java = text.partition("An error occurred while calling ")
    return java.partition("\n")[2] if called else text


def _condition(error: BaseException) -> str:
    getter: Any = getattr(error, "getCondition", None)
    try:
        return str((getter() if callable(getter) else "") or "")
    except Exception:  # noqa: BLE001 - it asks a JVM that may be gone
        return ""
