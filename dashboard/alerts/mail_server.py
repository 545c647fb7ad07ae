"""Mail over SMTP, one message a connection, told apart at every step: refused, or perhaps taken."""

import re
import smtplib
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, parseaddr
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from dashboard.alerts.delivery import NotSent, PerhapsSent
from dashboard.alerts.models import Alert, Message
from dashboard.alerts.stopping import stop_url
from dashboard.web.text import one_line

TIMEOUT_SECONDS = 30
_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}


@dataclass(frozen=True)
class MailServer:
    """Where mail is handed to. `security`: smtp (none), smtp+starttls or smtps."""

    security: str
    host: str
    port: int
    user: str = ""
    password: str = ""

    @classmethod
    def parse(cls, url: str) -> "MailServer":
        """Read smtp+starttls://user:password@host:587. Raises ImproperlyConfigured without repeating the password."""
        try:
            parts = urlsplit(url)
            scheme, host, port = parts.scheme, parts.hostname, parts.port
        except ValueError:  # a port above 65,535, or half an address of IPv6
            scheme, host, port = "", None, None
        if scheme not in _PORTS or not host:
            raise ImproperlyConfigured(f"LEVEE_SMTP_URL: write {', '.join(_PORTS)} then ://host:port.")
        return cls(scheme, host, port or _PORTS[scheme], unquote(parts.username or ""), unquote(parts.password or ""))

    def carry(self, message: Message, handed_over: Callable[[], None]) -> None:
        """Send one message. Raises NotSent, or PerhapsSent where the line broke after the last byte."""
        sender, mail = parseaddr(settings.MAIL_FROM)[1], as_mail(message)
        try:
            smtp = self._connect()
            try:
                _envelope(smtp, sender, message.address)
                _hand_over(smtp, mail.as_bytes(policy=SMTP), handed_over)
            finally:
                _part(smtp)
        except smtplib.SMTPResponseException as error:
            raise NotSent(_said(error.smtp_code, error.smtp_error)) from error
        except (smtplib.SMTPException, OSError) as error:
            raise NotSent(f"{self.host}:{self.port} cannot be reached: {error or type(error).__name__}.") from error

    def _connect(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self.security == "smtps":
            smtp: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT_SECONDS, context=context)
        else:
            smtp = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_SECONDS)
        try:
            smtp.ehlo()
            if self.security == "smtp+starttls":
                smtp.starttls(context=context)
                smtp.ehlo()
            if self.user:
                smtp.login(self.user, self.password)
        except BaseException:
            smtp.close()
            raise
        return smtp


def as_mail(message: Message) -> EmailMessage:
    """Return the mail with its headers; messages of one alert, and of its returns, share a thread.

    Raises NotSent (final) for an address that no header can hold.
    """
    mail = EmailMessage(policy=SMTP)
    domain = parseaddr(settings.MAIL_FROM)[1].partition("@")[2]
    mail["From"] = settings.MAIL_FROM
    mail["To"] = _address(message.address)
    mail["Subject"] = one_line(message.subject)
    mail["Date"] = formatdate(message.created_at.timestamp())
    mail["Message-ID"] = f"<{message.message_id}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    if message.alert is not None:
        thread = f"<alert-{first_of_thread(message.alert).pk}@{domain}>"
        mail["In-Reply-To"] = thread
        mail["References"] = thread
    if settings.PUBLIC_URL:
        mail["List-Unsubscribe"] = f"<{stop_url(message.address)}>"
        mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    mail.set_content(message.text)
    if message.html:
        mail.add_alternative(message.html, subtype="html")
    return mail


def first_of_thread(alert: Alert) -> Alert:
    """Return the alert that this one, perhaps over others, has returned from."""
    for _ in range(100):
        if alert.returned_from is None:
            return alert
        alert = alert.returned_from
    return alert


def _address(text: str) -> Address:
    try:
        return Address(addr_spec=text)
    except (HeaderParseError, ValueError, IndexError) as error:
        raise NotSent(f"{one_line(text)} is not a mail address.", is_final=True) from error


def _envelope(smtp: smtplib.SMTP, sender: str, recipient: str) -> None:
    code, answer = smtp.mail(sender)
    if code != 250:
        raise NotSent(_said(code, answer))
    code, answer = smtp.rcpt(recipient)
    if code not in {250, 251}:
        raise NotSent(_said(code, answer), is_final=500 <= code < 600)


def _hand_over(smtp: smtplib.SMTP, data: bytes, handed_over: Callable[[], None]) -> None:
    """Send the mail itself. From its last byte to the answer nobody knows whether it was taken."""
    smtp.putcmd("data")
    code, answer = smtp.getreply()
    if code != 354:
        raise NotSent(_said(code, answer), is_final=500 <= code < 600)
    handed_over()
    try:
        smtp.send(_dotted(data))
        code, answer = smtp.getreply()
    except (smtplib.SMTPException, OSError) as error:
        raise PerhapsSent(f"The line broke before the server said that it had the mail: {error}.") from error
    if code != 250:
        raise NotSent(_said(code, answer), is_final=500 <= code < 600)


def _part(smtp: smtplib.SMTP) -> None:
    """Say goodbye. How the server takes that changes nothing about the mail that it has or has not taken."""
    with suppress(smtplib.SMTPException, OSError):
        smtp.quit()
    smtp.close()


def _dotted(data: bytes) -> bytes:
    """Return the mail as RFC 5321 carries it: a line's leading dot doubled, a lone dot at the end."""
    doubled = re.sub(rb"(?m)^\.", b"..", data)
    return doubled + (b"" if doubled.endswith(b"\r\n") else b"\r\n") + b".\r\n"


def _said(code: int, answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return f"The mail server said {code} {one_line(text)[:400]}"
