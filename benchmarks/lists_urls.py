"""The console's addresses, and Django's own list of the same tables under /admin/."""

from django.contrib import admin
from django.urls import include, path

from coordinator.models import DeltaTable


@admin.register(DeltaTable)
class DeltaTableAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """At its best: no second count, related rows joined, the same order and size of page as the console's list."""

    list_display = (
        "state", "name", "mechanism", "published_version", "last_commit_at", "unpublished_count", "bucket",
        "observed_at", "connection", "store",
    )  # fmt: skip
    list_select_related = ("connection", "store")
    list_per_page = 20
    ordering = ("state_rank", "name", "id")
    search_fields = ("name",)
    show_full_result_count = False


urlpatterns = [path("admin/", admin.site.urls), path("", include("dashboard.urls"))]
