"""Addresses of jobs."""

from django.urls import path

from dashboard.jobs import views

urlpatterns = [
    path("", views.jobs, name="jobs"),
    path("seen/", views.mark_seen, name="jobs-seen"),
    path("<uuid:job_id>/", views.job, name="job"),
    path("<uuid:job_id>/progress/", views.job_progress, name="job-progress"),
    path("<uuid:job_id>/log.txt", views.job_log, name="job-log"),
    path("<uuid:job_id>/file/", views.job_file, name="job-file"),
    path("<uuid:job_id>/cancel/", views.job_cancel, name="job-cancel"),
]
