"""Addresses of alerts, their rules and recipients, and of messages."""

from django.urls import path

from dashboard.alerts import views

urlpatterns = [
    path("alerts/", views.alerts, name="alerts"),
    path("alerts/acknowledge/", views.acknowledge_alerts, name="alerts-acknowledge"),
    path("alerts/<int:alert_id>/", views.alert, name="alert"),
    path("alerts/<int:alert_id>/reopen/", views.reopen_alert, name="alert-reopen"),
    path("alerts/messages/", views.messages_sent, name="alert-messages"),
    path("alerts/messages/<int:pk>/", views.message, name="alert-message"),
    path("alerts/messages/<int:pk>/again/", views.message_again, name="alert-message-again"),
    path("alerts/rules/", views.rules, name="alert-rules"),
    path("alerts/rules/new/<slug:kind>/", views.new_rule, name="alert-new-rule"),
    path("alerts/rules/<int:pk>/", views.rule, name="alert-rule"),
    path("alerts/rules/<int:pk>/delete/", views.rule_delete, name="alert-rule-delete"),
    path("alerts/recipients/", views.recipients, name="alert-recipients"),
    path("alerts/recipients/<int:pk>/test/", views.recipient_test, name="alert-recipient-test"),
    path("alerts/recipients/<int:pk>/delete/", views.recipient_delete, name="alert-recipient-delete"),
    path("alerts/stop/<str:token>/", views.stop, name="alert-stop"),
    path("me/alerts/", views.own_mails, name="own-mails"),
]
