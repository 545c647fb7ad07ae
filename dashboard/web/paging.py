"""Keyset pages: a list continues after the last row that was shown, so depth costs nothing and nothing is counted.

A page's address carries `after`, an opaque cursor of the last row's sort values, signed for the list's own sort. What
no list of this console has written is treated as absent: a stale or hostile address shows the first page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from django.core import signing
from django.db import models
from django.db.models import F, Func, QuerySet, Value
from django.db.models.expressions import OrderBy

Row = TypeVar("Row", bound=models.Model)

SIZES = (20, 50, 100, 200)
_LONGEST_TYPED = 200
MOST_LOOKED_THROUGH = 50_000
"""Rows that one page reads, at the most, where no index finds what its filters ask for."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of an order: a field of the model and its direction. Unknown (null) values come last either way."""

    field: str
    descending: bool = False
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Sort:
    """A total order that a list offers under `key`: all columns run one way, the first alone may be nullable, the last
    is unique.

    `descending` says that it runs against the order it was declared with, which `?sort=-key` asks for.
    """

    key: str
    columns: tuple[Column, ...]
    descending: bool = False

    @property
    def name(self) -> str:
        """What stands in ?sort=."""
        return f"-{self.key}" if self.descending else self.key

    def reversed(self) -> "Sort":
        """The same columns in the other direction; unknown values still come last."""
        columns = tuple(replace(column, descending=not column.descending) for column in self.columns)
        return replace(self, columns=columns, descending=not self.descending)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One page of rows. `next_after` continues the list and is empty on the last page.

    `looked_to` is the last row that was read where that was not the end of the list: further on there may be more.
    """

    rows: tuple[Row, ...]
    next_after: str
    is_first: bool
    size: int
    sort: Sort
    looked_to: Row | None = None


def choose_sort(offered: Sequence[Sort], text: str) -> Sort:
    """Return the offered sort that `text` names, reversed for a leading minus; the first one for anything else."""
    by_key: Mapping[str, Sort] = {sort.key: sort for sort in offered}
    sort = by_key.get(text.removeprefix("-"), offered[0])
    return sort.reversed() if text == f"-{sort.key}" else sort


def choose_size(text: str, default: int = SIZES[1]) -> int:
    """Return the page size that `text` names when it is offered (SIZES), else the default."""
    return int(text) if text in {str(size) for size in SIZES} else default


def as_typed(text: str) -> str:
    """Return what a list is searched for as somebody may have typed it: PostgreSQL refuses a NUL."""
    return text.replace("\0", "").strip()[:_LONGEST_TYPED]


def keyset_page(
    queryset: QuerySet[Row], sort: Sort, after: str, size: int, among: QuerySet[Row] | None = None
) -> Page[Row]:
    """Return up to `size` rows in the order of `sort`, beginning after the cursor `after` (empty: at the beginning).

    `among` are rows of which an index has that order, without unknown values, and from which `queryset` picks some: of
    these a page reads MOST_LOOKED_THROUGH. None: all are read until the page is full.
    """
    values = _read_cursor(queryset.model, sort, after)
    last = None
    if among is not None:
        reach = _part(among, sort.columns, values)[MOST_LOOKED_THROUGH - 1 : MOST_LOOKED_THROUGH]
        last = next(iter(reach), None)
    if last is not None:
        own = [getattr(last, column.field) for column in sort.columns]
        queryset = _compared(queryset, sort.columns, own, " >= " if sort.columns[0].descending else " <= ")
    rows = _rows_after(queryset, sort, values, size + 1)
    has_more = len(rows) > size
    rows = rows[:size]
    if has_more:
        last = None
    continues = rows[-1] if has_more else last
    next_after = _write_cursor(sort, continues) if continues is not None else ""
    return Page(tuple(rows), next_after, is_first=values is None, size=size, sort=sort, looked_to=last)


def ordered(queryset: QuerySet[Row], sort: Sort) -> QuerySet[Row]:
    """Return the rows in the order of `sort`."""
    return queryset.order_by(*(_order(column) for column in sort.columns))


def _order(column: Column) -> OrderBy:
    nulls_last = True if column.nullable else None
    field = F(column.field)
    return field.desc(nulls_last=nulls_last) if column.descending else field.asc(nulls_last=nulls_last)


def _rows_after(queryset: QuerySet[Row], sort: Sort, values: Sequence[Any] | None, number: int) -> list[Row]:
    """Return the next rows in order. Unknown values are read apart, after the known ones: an index of PostgreSQL has
    them at the wrong end for one of the two directions."""
    first, rest = sort.columns[0], sort.columns[1:]
    if not first.nullable:
        return list(_part(queryset, sort.columns, values)[:number])
    rows: list[Row] = []
    if values is None or values[0] is not None:
        known = queryset.filter(**{f"{first.field}__isnull": False})
        rows = list(_part(known, (replace(first, nullable=False), *rest), values)[:number])
        values = None
    if len(rows) < number:
        unknown = queryset.filter(**{f"{first.field}__isnull": True})
        rows += _part(unknown, rest, values and values[1:])[: number - len(rows)]
    return rows


def _part(queryset: QuerySet[Row], columns: Sequence[Column], values: Sequence[Any] | None) -> QuerySet[Row]:
    """The rows after these values, in order."""
    found = queryset.order_by(*map(_order, columns))
    return found if values is None else _compared(found, columns, values, " < " if columns[0].descending else " > ")


def _compared(queryset: QuerySet[Row], columns: Sequence[Column], values: Sequence[Any], sign: str) -> QuerySet[Row]:
    """Rows are compared, for which a database begins in its index at that very row; in alternatives it finds the place
    of the first column alone."""
    fields: list[models.Field[Any, Any]] = [queryset.model._meta.get_field(column.field) for column in columns]  # type: ignore[misc]
    row = [Value(value, field) for value, field in zip(values, fields, strict=True)]
    sides = (Func(*side, template="(%(expressions)s)") for side in ([column.field for column in columns], row))
    condition = Func(*sides, template="%(expressions)s", arg_joiner=sign, output_field=models.BooleanField())
    return queryset.filter(condition)


def _write_cursor(sort: Sort, row: models.Model) -> str:
    fields: list[Any] = [row._meta.get_field(column.field) for column in sort.columns]
    values = [None if getattr(row, field.name) is None else field.value_to_string(row) for field in fields]
    return signing.dumps(values, salt=_salt(type(row), sort))


def _read_cursor(model: type[models.Model], sort: Sort, after: str) -> list[Any] | None:
    """Return the values of a cursor that this list wrote for this sort, or None for anything else."""
    try:
        values = signing.loads(after, salt=_salt(model, sort))
    except signing.BadSignature:
        return None
    fields: list[Any] = [model._meta.get_field(column.field) for column in sort.columns]
    if len(values) != len(fields):  # by another release, whose sort of this name had other columns
        return None
    return [None if value is None else field.to_python(value) for field, value in zip(fields, values, strict=True)]


def _salt(model: type[models.Model], sort: Sort) -> str:
    return f"levee.paging.{model._meta.label}.{sort.name}"
