"""The job that makes a file of the tables that a filter lets through."""

from coordinator.queries.table_list import OUTSIDE, SORTS, TableFilter, export_rows
from dashboard.connections.protection import backups
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.exports import QUEUE, ExportParams, make_file
from dashboard.jobs.registry import job_kind
from dashboard.web.paging import choose_sort


class TableExportParams(ExportParams):
    sort: str


@job_kind("export-tables", queue=QUEUE, verb="list.export", changes_lake=False)
def export_tables(context: JobContext, params: TableExportParams) -> str:
    chosen = TableFilter(**{**params["wanted"], "only": tuple(params["wanted"]["only"])})
    connection = context.job.connection
    # Whoever may see the job's connection may have the file: it must hold nothing of one that took over the name.
    if chosen.connection != (connection.name if connection else ""):
        raise JobFailed("ConnectionGone", "The connection has been removed or renamed since: ask for the file again.")
    if chosen.plan not in ("", *OUTSIDE, *backups().plans(None)):
        raise JobFailed("PlanGone", "The plan has been removed or renamed since: ask for the file again.")
    return make_file(context, export_rows(chosen, choose_sort(SORTS, params["sort"])), params["form"])
