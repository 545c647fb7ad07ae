"""A new coordinated table: its place, its columns by form or as SQL, its store; then checked and confirmed."""

from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from coordinator.coordination import actions
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.columns import COMMON_TYPES, ColumnRow, columns_ddl, one_line, partition_names
from coordinator.coordination.confirmed import CHECK_KIND
from coordinator.coordination.offers import NOTE
from coordinator.models import CommitStore
from coordinator.views.coordination import confirm, have_checked, why_not_check
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import seen
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri

FIRST_ROWS, MORE_ROWS, MOST_ROWS = 6, 6, 300


@dataclass(frozen=True, slots=True)
class NewTableForm:
    """What was typed; `columns` is SQL, beside or instead of the rows."""

    uri: str
    store: str
    rows: list[ColumnRow]
    columns: str
    partition_by: str

    @classmethod
    def read(cls, post: QueryDict) -> "NewTableForm":
        number = min(max(_number(post.get("rows", "")), FIRST_ROWS), MOST_ROWS)
        if "more" in post:
            number = min(number + MORE_ROWS, MOST_ROWS)
        rows = [_row(post, index) for index in range(number)]
        return cls(
            post.get("uri", ""),
            post.get("store", ""),
            rows,
            columns=post.get("columns", ""),
            partition_by=post.get("partition_by", ""),
        )

    def change(self, stores: QuerySet[CommitStore]) -> tuple[CommitStore, CoordinationRequest]:
        """What is to be created, and which of the stores shall coordinate it; ValueError in a sentence."""
        uri = TableUri.parse(self.uri.strip())
        columns, parts = self._columns()
        store = stores.filter(pk=_number(self.store)).first()
        if store is None:
            raise ValueError("Choose the commit store that is to coordinate the table.")
        return store, CoordinationRequest(
            Operation.CREATE, uri.s3a, store=store.name, columns=columns, partition_by=parts
        )

    def _columns(self) -> tuple[str, tuple[str, ...]]:
        by_form, by_sql = columns_ddl(self.rows), one_line(self.columns)
        if by_form and by_sql:
            raise ValueError("The columns are given twice: empty the rows of the form, or the SQL.")
        if not by_form and not by_sql:
            raise ValueError("Name at least one column, by the form or as SQL.")
        if by_form:
            return by_form, partition_names(self.rows)
        return by_sql, tuple(part.strip() for part in self.partition_by.split(",") if part.strip())


@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Name a new table, its columns and its store; POST has the place checked."""
    form, error = NewTableForm.read(request.POST), ""
    stores = seen(request, CommitStore).select_related("connection").order_by("connection__name", "kind", "name")
    if request.method == "POST" and "more" not in request.POST:
        try:
            store, change = form.change(stores)
        except ValueError as refusal:
            error = str(refusal)
        else:
            check = partial(actions.check, Actor.from_request(request), store.connection, change)
            return have_checked(request, check, "table-create-checks")
    context = {
        "form": form,
        "error": error,
        "types": COMMON_TYPES,
        "may_have_more": len(form.rows) < MOST_ROWS,
        "stores": stores,
        "note": NOTE,
        "why_not": why_not_check(request, {store.connection for store in stores}),
    }
    return render(request, "coordinator/table_create.html", context, status=422 if error else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def create_checks(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Show the checks of a new table's place; POST has it created."""
    jobs = (
        seen(request, Job)
        .select_related("connection")
        .filter(kind=CHECK_KIND, params__operation=Operation.CREATE.value, connection__isnull=False)
    )
    job = get_object_or_404(jobs, pk=job_id)
    return confirm(request, job, reverse("table-create-checks", args=[job.pk]), reverse("table-create"), None)


def _row(post: QueryDict, index: int) -> ColumnRow:
    return ColumnRow(
        post.get(f"name-{index}", ""),
        post.get(f"type-{index}", ""),
        post.get(f"required-{index}") == "yes",
        post.get(f"partition-{index}") == "yes",
        post.get(f"comment-{index}", ""),
    )


def _number(text: str) -> int:
    """A row's number or primary key; 0 for what is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0
