"""The same change on many tables in one job: one outcome for each, and a stop only between two tables."""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypedDict, TypeVar

from dashboard.accounts.actor import Actor
from dashboard.audit.log import AuditOutcome, record
from dashboard.jobs.actions import Target
from dashboard.jobs.context import JobCancelled, JobContext, JobFailed, JobResult

T = TypeVar("T")


class TableState(StrEnum):
    """What became of one table."""

    DONE = "done"
    PASSED = "passed"
    ASKED = "asked"
    NOTHING = "nothing_to_do"
    OVERTAKEN = "overtaken"
    REFUSED = "refused"
    FAILED = "failed"


Told = tuple[TableState, str]
"""What became of one table, and its sentence."""


class TableOutcome(TypedDict):
    """One row of the job's page."""

    target_type: str
    target_id: str
    label: str
    state: TableState
    sentence: str


class TableStopped(JobCancelled):
    """The job was stopped at a table, whose outcome this has."""

    def __init__(self, outcome: TableOutcome, by: JobCancelled) -> None:
        super().__init__(by.message)
        self.outcome = outcome
        self.message = by.message


def outcome_of(target: Target, told: Told) -> TableOutcome:
    state, sentence = told
    return {
        "target_type": target.type,
        "target_id": target.id,
        "label": target.label,
        "state": state,
        "sentence": sentence,
    }


def one_after_the_other(
    context: JobContext, tables: Sequence[T], act: str, one: Callable[[T], TableOutcome], *, stop_at_first: bool = False
) -> str:
    """Give `one` each of the tables, and keep its outcomes as they come; returns how many there were of each.

    Raises JobFailed at the end if one failed, JobCancelled where it is stopped; `stop_at_first`: by the first failure.
    """
    total, rows = len(tables), list[TableOutcome]()
    context.result({"outcomes": rows})
    with context.step(f"{act} {tables_in_words(total)}") as step:
        try:
            for table in tables:
                context.check_cancelled()
                row = one(table)
                rows.append(row)
                failed = row["state"] is TableState.FAILED
                said = f"{row['label']}: {row['state'].replace('_', ' ')}."
                context.log(said, level="WARN" if failed else "INFO", step="table")
                context.progress(len(rows), total)
                if failed and stop_at_first:
                    break
        except TableStopped as stop:
            rows.append(stop.outcome)
            raise
        finally:
            step.detail = counts_in_words(rows, total)
        if any(row["state"] is TableState.FAILED for row in rows):
            raise JobFailed("SomeFailed", step.detail)
    return step.detail


def counts_in_words(rows: Sequence[TableOutcome], total: int) -> str:
    """`3 tables: 1 done, 1 nothing to do, 1 refused.`"""
    counts = Counter(row["state"] for row in rows)
    parts = [f"{counts[state]:,} {state.value.replace('_', ' ')}" for state in TableState if counts[state]]
    if left := total - len(rows):
        parts.append(f"{left:,} not reached")
    return f"{tables_in_words(total)}: {', '.join(parts) or 'none reached'}."


def tables_in_words(tables: int) -> str:
    return f"{tables:,} table{'' if tables == 1 else 's'}"


def record_of(
    context: JobContext, target: Target, action: str, kept: JobResult, outcome: AuditOutcome, detail: str
) -> None:
    """Write to the audit log of one table what a job on many did to it."""
    record(
        Actor.worker(context.job.requested_by_name, context.job.requested_by),
        action,
        target_type=target.type,
        target_id=target.id,
        target_label=target.label,
        before=kept.get("before"),
        after=kept.get("after"),
        outcome=outcome,
        detail=detail,
        job=context.job,
        aws_request_ids=kept.get("aws_request_ids", []),
    )
