"""What became of each planned object: the manifest's row, the report's row and the destination's, side by side."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lake.aws.errors import ARCHIVED
from lake.spark.backups.copying import ALREADY
from lake.spark.backups.encoding import bytes_of

OUTCOMES = ("copied", "already_there", "changed", "vanished", "denied", "too_new", "archived", "failed")
SAFE = ("copied", "already_there")
WORTH_RETRY = ("changed", "denied", "failed")
CLOCKS_APART = timedelta(seconds=60)
"""How far the clock of S3 may be behind the one that said when planning began."""
HYPHEN = ord("-")
NOT_BELIEVED = "ReportNotBelieved"
_TOLD = "ETag="


def side_by_side(planned: Any, reported: Any, there: Any, proofs: Any) -> Any:
    """Planned objects, each with what is known of it, or nulls: as many rows as `planned` has, in their order.

    All are record batches. Added are `r_*` of the report's row and `d_*` of the object at the destination, with whether
    there is one as `r_found` and `d_found`, and `proved_etag`, the destination's ETag of an object that an earlier
    reconciliation found safe with the same size and ETag. Of a key that `reported` has twice, `once` says which counts.
    """
    at = _places(planned, reported)
    if not _answers_all(at, reported.num_rows):
        reported = once(reported, there)
        at = _places(planned, reported)
    rows = _beside(planned, reported, at, "r_")
    rows = _beside(rows, there, _places(planned, there), "d_")
    return _with_proofs(rows, proofs)


def once(reported: Any, there: Any) -> Any:
    """The report's rows, one for each key: an object that succeeded once counts as succeeded.

    Of several successes that one counts whose ETag is `there`: a copy that was made again, as its task was tried again,
    may have another ETag than the first, and the last one stays.
    """
    # The greatest of a key comes first: success before failure, and what is known before what is not.
    told = ("succeeded", "is_there", "http_status", "code", "message")
    order = [("key", "ascending"), *((name, "descending") for name in told)]
    etags = there.column("etag").take(_places(reported, there))
    is_there = _true(pc.equal(reported["message"], pc.binary_join_element_wise(_TOLD, etags, "")))
    rows = reported.take(pc.sort_indices(reported.append_column("is_there", is_there), sort_keys=order))
    keys = rows.column("key")
    is_first = np.ones(rows.num_rows, bool)
    is_first[1:] = pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
    return rows.filter(pa.array(is_first))


def _answers_all(places: Any, count: int) -> bool:
    """Whether each of `count` rows was found: then none can have the key of another, as only one of them would be."""
    is_found = np.zeros(count, bool)
    is_found[places.drop_null().to_numpy()] = True
    return bool(is_found.all())


def with_outcomes(
    rows: Any,
    *,
    began: datetime,
    encryption_key: str,
    copied_until: datetime | None = None,
    reports_whole: bool = True,
) -> Any:
    """Add `outcome`, one of OUTCOMES, and `code`, its cause; `rows` are those of `side_by_side`.

    An object is safe, copied or already_there, only where the destination has it with its size and

    - its ETag; or
    - the ETag that an earlier reconciliation proved to be that of this size and source ETag; or
    - where the two ETags could not be the same (one is of parts, or a KMS key encrypts one of them: S3 User Guide,
      "Checking object integrity"): the ETag that the copy answered with, as the Spark engine reports it, which is as
      good as the endpoint's heed of the source's ETag; or, where the report of success names none, as that of S3 Batch
      Operations, which copies no source of one part into several, a time of writing since planning began and, where
      that is known, until the last such copy ended (`copied_until`).

    Whatever a report says, an object that the destination does not show so is never safe. Without `reports_whole`, a
    part of the reports is missing or altered: what was to be copied, and no line speaks of, is not counted as copied.
    """
    since = _moment(began - CLOCKS_APART)
    until = None if copied_until is None else _moment(copied_until + CLOCKS_APART)
    is_safe = _is_safe(rows, since, until, encryption_key)
    lane, succeeded, found = rows["lane"], rows["r_succeeded"], rows["d_found"]
    is_lane = _is_in(lane, ("copy", "multipart"))
    is_old = _any(
        pc.equal(lane, "already_there"), pc.equal(rows["r_message"], ALREADY), pc.less(rows["d_modified_at"], since)
    )
    failed = pc.invert(succeeded)
    outcome = _case(
        (_is_in(lane, ("too_new", "archived")), lane),
        (_all(is_safe, is_old), "already_there"),
        *(() if reports_whole else ((_all(is_lane, pc.invert(rows["r_found"])), "failed"),)),
        (_all(is_safe, is_lane, failed), "already_there"),
        (is_safe, "copied"),
        (_all(succeeded, found), "changed"),
        (failed, _of_failure(rows)),
        other="failed",
    )
    code = _case(
        (_is_in(outcome, (*SAFE, "too_new", "archived")), ""),
        (_all(succeeded, pc.invert(found)), "NotAtDestination"),
        (succeeded, "OtherContent"),
        (rows["r_found"], pc.coalesce(rows["r_code"], rows["r_http_status"], "Unknown")),
        (pc.equal(lane, "already_there"), "LostFromDestination"),
        other="NotReported" if reports_whole else NOT_BELIEVED,
    )
    return rows.append_column("outcome", outcome).append_column("code", code)


def _is_safe(rows: Any, since: Any, until: Any, encryption_key: str) -> Any:
    there, message = rows["d_etag"], rows["r_message"]
    text = pc.fill_null(message, "")
    rest = pc.utf8_slice_codeunits(text, len(_TOLD))
    told = pc.if_else(_all(pc.starts_with(text, _TOLD), pc.not_equal(text, _TOLD)), rest, None)
    sized = pc.equal(rows["d_size"], rows["size"])
    unlike = _any(
        _is_of_parts(rows["etag"]),
        _is_in(rows["encryption_status"], ("SSE-KMS", "DSSE-KMS", "SSE-C")),
        bool(encryption_key),
    )
    incomparable = _any(unlike, _is_of_parts(there))
    is_silent = _all(pc.is_null(told), pc.not_equal(text, ALREADY))
    exact = _all(sized, pc.equal(there, rows["etag"]))
    as_told = _all(sized, rows["r_succeeded"], pc.equal(there, told), incomparable)
    proved = _all(sized, pc.equal(there, rows["proved_etag"]))
    is_by_it = pc.greater_equal(rows["d_modified_at"], since)
    if until is not None:
        is_by_it = _all(is_by_it, pc.less_equal(rows["d_modified_at"], until))
    written = _all(sized, rows["r_succeeded"], is_silent, unlike, is_by_it)
    return _true(_any(exact, as_told, proved, written))


def _of_failure(rows: Any) -> Any:
    """The outcome of a failed row by its error code, or its HTTP status where the code says nothing."""
    code, status = rows["r_code"], rows["r_http_status"]
    return _case(
        (_any(_is_in(code, ("NoSuchKey", "NoSuchVersion", "NotFound")), pc.equal(status, "404")), "vanished"),
        (_is_in(code, tuple(ARCHIVED)), "archived"),
        (_any(pc.equal(code, "PreconditionFailed"), pc.equal(status, "412")), "changed"),
        (_any(_is_in(code, ("AccessDenied", "AllAccessDisabled")), pc.equal(status, "403")), "denied"),
        other="failed",
    )


def _beside(left: Any, right: Any, at: Any, prefix: str) -> Any:
    """Add the columns of `right`, but its key, under that prefix, and `found`."""
    for name in right.schema.names:
        if name != "key":
            left = left.append_column(f"{prefix}{name}", right.column(name).take(at))
    return left.append_column(f"{prefix}found", pc.is_valid(at))


def _with_proofs(rows: Any, proofs: Any) -> Any:
    if not proofs.num_rows:
        return rows.append_column("proved_etag", pa.nulls(rows.num_rows, pa.string()))
    proof = proofs.take(_places(rows, proofs))
    holds = _all(pc.equal(proof["size"], rows["size"]), pc.equal(proof["etag"], rows["etag"]))
    return rows.append_column("proved_etag", pc.if_else(_true(holds), proof["destination_etag"], None))


def _places(left: Any, right: Any) -> Any:
    """Where in `right` the key of each row of `left` is, or null."""
    return pc.index_in(left.column("key"), value_set=right.column("key"))


def _is_of_parts(etags: Any) -> Any:
    """Whether each ETag is that of several parts, which has a hyphen; unknown of null."""
    data, _ = bytes_of(etags)
    # Nearly always none has one, and to look through all at once is many times as fast.
    if not (data == HYPHEN).any():
        return pc.if_else(pc.is_valid(etags), False, None)
    return pc.match_substring(etags, "-")


def _moment(moment: datetime) -> Any:
    return pa.scalar(moment, pa.timestamp("us", tz="UTC"))


def _is_in(column: Any, values: Sequence[str]) -> Any:
    """Unknown of null."""
    return pc.if_else(pc.is_valid(column), pc.is_in(column, value_set=pa.array(values, pa.string())), None)


def _any(*conditions: Any) -> Any:
    return reduce(pc.or_kleene, conditions)


def _all(*conditions: Any) -> Any:
    return reduce(pc.and_kleene, conditions)


def _true(condition: Any) -> Any:
    """The condition with unknown as false."""
    return pc.fill_null(condition, False)


def _case(*cases: tuple[Any, Any], other: str) -> Any:
    """The value of the first case whose condition is known to be true."""
    conditions = [_true(condition) for condition, _ in cases]
    return pc.case_when(pc.make_struct(*conditions), *(value for _, value in cases), other)
