"""Addresses of the lake's pages."""

from django.urls import path

from coordinator.views import (
    coordination,
    coordination_many,
    coordination_new,
    observe,
    repairs,
    stores,
    table,
    table_list,
    writers,
)

urlpatterns = [
    path("tables/", table_list.tables, name="tables"),
    path("tables/repairs/<slug:repair>/", repairs.many, name="repair-many"),
    path("tables/<int:table_id>/", table.overview, name="table"),
    path("tables/<int:table_id>/verdict/", table.verdict, name="table-verdict"),
    path("tables/<int:table_id>/commits/", table.commits, name="table-commits"),
    path("tables/<int:table_id>/commits/<int:version>/", table.commit, name="table-commit"),
    path("tables/<int:table_id>/entries/", table.entries, name="table-entries"),
    path("tables/<int:table_id>/jobs/", table.jobs, name="table-jobs"),
    path("tables/<int:table_id>/activity/", table.activity, name="table-activity"),
    path("tables/<int:table_id>/repairs/", repairs.plan, name="table-repairs"),
    path("tables/<int:table_id>/repairs/<uuid:job_id>/", repairs.confirm, name="table-repair"),
    path("tables/new/", coordination_new.create, name="table-create"),
    path("tables/new/<uuid:job_id>/", coordination_new.create_checks, name="table-create-checks"),
    path("tables/coordination/", coordination_many.index, name="coordination"),
    path("tables/coordination/<slug:operation>/", coordination_many.many, name="coordination-many"),
    path("tables/<int:table_id>/coordination/<slug:operation>/", coordination.start, name="table-coordination"),
    path(
        "tables/<int:table_id>/coordination/<slug:operation>/<uuid:job_id>/",
        coordination.checks,
        name="table-coordination-checks",
    ),
    path("tables/<int:table_id>/writers/", writers.of_table, name="table-writers"),
    path("tables/<int:table_id>/compatibility/", writers.compatibility, name="table-compatibility"),
    path("tables/<int:table_id>/observe/", observe.observe_table, name="table-observe"),
    path("observe/", observe.observe_lake, name="observe"),
    path("stores/", stores.stores, name="stores"),
    path("stores/<int:store_id>/", stores.store, name="store"),
    path("stores/<int:store_id>/writers/", writers.of_store, name="store-writers"),
    path("buckets/", stores.buckets, name="buckets"),
    path("buckets/<int:bucket_id>/", stores.bucket, name="bucket"),
]
