"""What Levee keeps of people beside Django's own user: roles on single connections, and where they are signed in."""

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class Grant(models.Model):
    """A role on one connection. Who has a role everywhere is in the Django group of its name."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="grants")
    connection = models.ForeignKey("connections.Connection", on_delete=models.CASCADE, related_name="grants")
    role = models.CharField(max_length=16)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "connection"], name="one_grant_a_connection")]

    def __str__(self) -> str:
        return f"{self.role} on {self.connection_id}"


class SignedIn(AbstractBaseSession):
    """One session, a stranger's where it has no `user`: from where, since when, and when it last asked for a page."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="signed_in")
    ip = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=400, blank=True)
    since = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-seen_at",)

    def __str__(self) -> str:
        return f"{self.user_id} from {self.ip}"
