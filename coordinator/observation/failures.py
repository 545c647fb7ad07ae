"""What kept one table, store or bucket from being read or stored, in the form in which rows keep it."""

import logging
from dataclasses import dataclass

from lake.aws.errors import AwsError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed reading: `code` is AWS's own or one of ours, `text` one sentence, `cause` what was raised."""

    code: str
    text: str
    cause: Exception
    permission: str = ""
    request_id: str = ""

    def __str__(self) -> str:
        return self.text


def failure_of(error: Exception, what: str) -> Failure:
    """Turn an exception into the failure of `what`; one that is not AWS's is a fault of ours and is logged whole."""
    if isinstance(error, AwsError):
        return Failure(error.code, str(error), error, error.permission, error.request_id)
    logger.error("%s failed", what, exc_info=error)
    reason = next(iter(str(error).splitlines()), "").rstrip(".")
    text = f"{what} failed in Levee itself: {type(error).__name__}{': ' if reason else ''}{reason[:300]}."
    return Failure("InternalFailure", text, error)
