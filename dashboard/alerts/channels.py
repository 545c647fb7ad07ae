"""The channels of this deployment: mail where a server is set up, webhooks where origins are listed."""

from django.conf import settings

from dashboard.alerts import webhook
from dashboard.alerts.delivery import MessageTransport
from dashboard.alerts.mail_server import mail_carrier
from dashboard.alerts.outbox import MAIL


def transports() -> dict[str, MessageTransport]:
    """Return what carries each channel; what is not set up is left out, and its messages wait."""
    found: dict[str, MessageTransport] = {}
    if url := smtp_url():
        found[MAIL] = mail_carrier(url)
    if settings.WEBHOOK_ORIGINS:
        found["webhook"] = webhook.carry_plain
        found["slack"] = webhook.carry_slack
    return found


def smtp_url() -> str:
    """Return LEVEE_SMTP_URL, or the sandbox's own server where there is one."""
    if settings.SMTP_URL:
        return str(settings.SMTP_URL)
    if not settings.SANDBOX:
        return ""
    try:
        return str(settings.SANDBOX_SMTP_FILE.read_text().strip())
    except OSError:
        return ""
