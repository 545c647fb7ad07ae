"""Lists on a run's page: the bill, what was left over and why, copy jobs, largest tables, what planning left out."""

from collections.abc import Iterable
from dataclasses import dataclass

from backups.models import CopyJob, FailureGroup, Plan, Run
from backups.outcomes import Outcome
from backups.queries.run_page import OUTCOME_WORDS
from dashboard.web.text import thousands

LANES = {"copy": "Copy", "multipart": "Multipart", "archived": "Archived"}
_JOB_STATES = {
    "Complete": "succeeded",
    "Failed": "failed",
    "Failing": "failed",
    "Cancelled": "cancelled",
    "Cancelling": "cancelling",
    "Suspended": "waiting_for_approval",
}


@dataclass(frozen=True, slots=True)
class BillLine:
    """One item of the estimate, as texts."""

    item: str
    count: str
    price: str
    usd: str


@dataclass(frozen=True, slots=True)
class Bill:
    """The estimate, and what the run came to."""

    lines: tuple[BillLine, ...]
    total: str
    actual: str
    basis: str
    actual_basis: str


@dataclass(frozen=True, slots=True)
class FailureRow:
    """Objects left over for one cause."""

    word: str
    state: str
    code: str
    why: str
    objects: int
    bytes: int
    tables: int
    examples: tuple[str, ...]
    retried: str


@dataclass(frozen=True, slots=True)
class CopyJobRow:
    """One manifest at one engine."""

    state: str
    word: str
    lane: str
    engine: str
    done: int
    failed: int
    total: int
    known_as: str
    detail: str


@dataclass(frozen=True, slots=True)
class RunTableRow:
    """One table: objects to be copied, those there already, and the size of all of it; None is not known.

    `path` is a part of where it is, "" for all others together.
    """

    name: str
    path: str
    objects: int
    share: str
    there: int | None
    bytes: int | None


def bill_of(run: Run) -> Bill | None:
    """None before the estimate."""
    if run.estimate_usd is None:
        return None
    lines = tuple(_bill_line(one) for one in run.estimate_lines if isinstance(one, dict))
    actual = f"{run.actual_usd:,.2f}" if run.actual_usd is not None else ""
    return Bill(
        lines,
        f"{run.estimate_usd:,.2f}",
        actual,
        "List prices in US dollars, each a setting; discounts and taxes left out",
        "the objects that were really asked for, by the same prices",
    )


def failure_rows(run: Run) -> list[FailureRow]:
    return [_failure_row(group) for group in run.failures.all()]


def copy_job_rows(run: Run) -> list[CopyJobRow]:
    return [_copy_job_row(job) for job in run.copy_jobs.all()]


def table_rows(run: Run) -> list[RunTableRow]:
    """The largest tables by what is to be copied of them, and the rest in one row."""
    found = run.tables.get("largest") if isinstance(run.tables, dict) else None
    rows = [row for one in found if (row := _table_row(one, run))] if isinstance(found, list) else []
    rows.sort(key=lambda row: -row.objects)
    rest = run.objects_planned - sum(row.objects for row in rows)
    if rows and rest > 0:
        rows.append(RunTableRow("All others", "", rest, _share(rest, run), None, None))
    return rows


def _table_row(one: object, run: Run) -> RunTableRow | None:
    if not isinstance(one, dict) or not one.get("table"):
        return None
    lanes = [_whole(one.get(lane)) for lane in LANES if lane != "archived"]
    number = sum(lane for lane in lanes if lane is not None)
    there = _whole(one.get("already_there"))
    path = str(one["table"]).strip("/")
    return RunTableRow(
        ".".join(path.split("/")[-2:]), path, number, _share(number, run), there, _whole(one.get("bytes"))
    )


def _whole(number: object) -> int | None:
    return number if isinstance(number, int) else None


def _bill_line(line: dict[str, object]) -> BillLine:
    """As `prices.CostItem` stores it: `count` of single things, `price` in USD for one `unit` of them."""
    count, price = line.get("count"), line.get("price")
    words = f"${price} per {line.get('unit') or 'one'}" if _is_number(price) else ""
    shown = thousands(count) if isinstance(count, int) else ""
    return BillLine(str(line.get("item") or ""), shown, words, _dollars(line.get("usd")))


def _dollars(usd: object) -> str:
    """To the cent; what is less and not nothing says so."""
    if not _is_number(usd):
        return ""
    sum_ = float(str(usd))
    return "< 0.01" if 0 < sum_ < 0.005 else f"{sum_:,.2f}"


def _is_number(text: object) -> bool:
    try:
        float(str(text))
    except ValueError:
        return False
    return True


def _failure_row(group: FailureGroup) -> FailureRow:
    outcome = Outcome(group.outcome) if group.outcome in set(Outcome) else Outcome.FAILED
    state = (
        "attention" if outcome in {Outcome.CHANGED, Outcome.VANISHED, Outcome.TOO_NEW, Outcome.ARCHIVED} else "failed"
    )
    return FailureRow(
        OUTCOME_WORDS[outcome][0],
        state,
        group.code,
        group.cause,
        group.object_count,
        group.bytes,
        group.tables,
        tuple(str(key) for key in group.examples[:10]),
        "Worth a retry" if group.worth_retry else "",
    )


def _copy_job_row(job: CopyJob) -> CopyJobRow:
    state = _JOB_STATES.get(job.status, "running" if job.status else "not_started")
    return CopyJobRow(
        state,
        job.status or "Not created",
        LANES.get(job.lane, job.lane),
        Plan.Engine(job.engine).label,
        job.done,
        job.failed,
        job.total,
        job.aws_job_id,
        job.reason,
    )


def _share(number: int, run: Run) -> str:
    return f"{100 * number / run.objects_planned:.1f} %" if run.objects_planned else ""


@dataclass(frozen=True, slots=True)
class LiveFiles:
    """`unread` are tables that are copied whole, with the reason; `more` of them are not named.

    `inside` and `outside` count files that tables name by absolute paths, `named_by` are the first such tables.
    """

    objects: int
    bytes: int
    unread: tuple[tuple[str, str], ...]
    more: int
    inside: int
    outside: int
    named_by: tuple[str, ...]


def live_files(run: Run) -> LiveFiles | None:
    """None for a run of all files, or one that is not planned yet."""
    said = _mapping(run.tables)
    if "left_out" not in said:
        return None
    left, unread, references = (_mapping(said.get(name)) for name in ("left_out", "unread", "references"))
    named = tuple((str(one["table"]), str(one.get("reason") or "")) for one in _rows(unread))
    return LiveFiles(
        objects=_count(left.get("objects")),
        bytes=_count(left.get("bytes")),
        unread=named,
        more=max(0, _count(unread.get("count")) - len(named)),
        inside=_count(references.get("inside")),
        outside=_count(references.get("outside")),
        named_by=tuple(str(one["table"]) for one in _rows(references)),
    )


def _rows(document: dict[str, object]) -> Iterable[dict[str, object]]:
    found = document.get("examples")
    return [one for one in found if isinstance(one, dict) and "table" in one] if isinstance(found, list) else []


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _count(number: object) -> int:
    return number if isinstance(number, int) else 0
