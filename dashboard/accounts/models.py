"""What Levee keeps of people beside Django's own user: roles on single connections, and where they are signed in."""

from django.conf import settings
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


class SignedIn(models.Model):
    """One session of a person: from where, since when, and when it last asked for a page."""

    session_key = models.CharField(max_length=40, primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="signed_in")
    ip = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=400, blank=True)
    since = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ("-seen_at",)
        indexes = [models.Index(fields=["user", "-seen_at"], name="signed_in_of_person")]

    def __str__(self) -> str:
        return f"{self.user_id} from {self.ip}"
