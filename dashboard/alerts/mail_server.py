"""Mail through Django's SMTP back end, one message a connection: refused, or perhaps taken."""

import hashlib
import smtplib
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate, parseaddr
from functools import partial
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend
from django.core.validators import validate_email

from dashboard.alerts.delivery import MessageTransport, NotSent, PerhapsSent
from dashboard.alerts.models import Message
from dashboard.alerts.stopping import stop_url
from dashboard.web.text import one_line

TIMEOUT_SECONDS = 30
# The schemes of LEVEE_SMTP_URL: without encryption, with STARTTLS, with TLS from the first byte.
_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}


def mail_carrier(url: str) -> MessageTransport:
    """Return what sends mail through a server such as smtp+starttls://user:password@host:587.

    Raises ImproperlyConfigured without repeating the password.
    """
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:  # a port above 65,535, or half an address of IPv6
        scheme, host, port = "", None, None
    if scheme not in _PORTS or not host:
        raise ImproperlyConfigured(f"LEVEE_SMTP_URL: write {', '.join(_PORTS)} then ://host:port.")
    server = EmailBackend(
        host,
        port or _PORTS[scheme],
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        use_tls=scheme == "smtp+starttls",
        use_ssl=scheme == "smtps",
        timeout=TIMEOUT_SECONDS,
    )
    return partial(_carry, server)


def _carry(server: EmailBackend, message: Message, handed_over: Callable[[], None]) -> None:
    """Send one message. Raises NotSent, or PerhapsSent where the line broke before the server answered."""
    mail = as_mail(message)
    try:
        try:
            server.open()
        except smtplib.SMTPResponseException as error:
            raise NotSent(_said(error.smtp_code, error.smtp_error)) from error
        except (smtplib.SMTPException, OSError) as error:
            place = f"{server.host}:{server.port}"
            raise NotSent(f"{place} cannot be reached: {error or type(error).__name__}.") from error
        handed_over()
        _send(server, mail)
    finally:
        # How the server takes the goodbye changes nothing about the mail that it has or has not taken.
        with suppress(smtplib.SMTPException, OSError):
            server.close()


def as_mail(message: Message) -> EmailMultiAlternatives:
    """Return the mail with its headers; messages of one cause share a thread.

    Raises NotSent (final) for an address that is none.
    """
    domain = parseaddr(settings.MAIL_FROM)[1].partition("@")[2]
    headers = {
        "Date": formatdate(message.created_at.timestamp()),
        "Message-ID": f"<{message.message_id}@{domain}>",
        "Auto-Submitted": "auto-generated",
    }
    if message.alert is not None:
        cause = hashlib.sha256(f"{message.alert.rule_id}:{message.alert.cause}".encode()).hexdigest()[:16]
        thread = f"<cause-{cause}@{domain}>"
        headers |= {"In-Reply-To": thread, "References": thread}
    if settings.PUBLIC_URL:
        headers["List-Unsubscribe"] = f"<{stop_url(message.address)}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    try:
        validate_email(message.address)
    except ValidationError as error:
        raise NotSent(f"{one_line(message.address)} is not a mail address.", is_final=True) from error
    mail = EmailMultiAlternatives(
        one_line(message.subject), message.text, settings.MAIL_FROM, [message.address], headers=headers
    )
    if message.html:
        mail.attach_alternative(message.html, "text/html")
    return mail


def _send(server: EmailBackend, mail: EmailMultiAlternatives) -> None:
    try:
        server.send_messages([mail])
    except smtplib.SMTPRecipientsRefused as error:
        code, answer = next(iter(error.recipients.values()))
        raise NotSent(_said(code, answer), is_final=500 <= code < 600) from error
    except smtplib.SMTPResponseException as error:
        is_final = isinstance(error, smtplib.SMTPDataError) and 500 <= error.smtp_code < 600
        raise NotSent(_said(error.smtp_code, error.smtp_error), is_final=is_final) from error
    except (smtplib.SMTPException, OSError) as error:
        raise PerhapsSent(f"The line broke before the server said that it had the mail: {error}.") from error


def _said(code: int, answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return f"The mail server said {code} {one_line(text)[:400]}"
