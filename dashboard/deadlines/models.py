"""What will be lost or break at a moment, as the sources last told it: pages, mails and the command read these rows."""

from django.db import models


class DueKind(models.TextChoices):
    ENTRY = "entry", "Entries"
    FILE = "file", "Files and logs"
    BACKUP = "backup", "Backups"
    UNKNOWN = "unknown", "Not known"


class Due(models.Model):
    """One deadline. Without `at` its moment is not known; of kind UNKNOWN, something was not read that may have some.

    `happens` is the event in a few words, `lost` what it costs, and `stops` what to do, on the page at `act_path`, or
    why nothing is needed. `subject` and `path` are what it is about. A row without a connection is everybody's.
    """

    source = models.CharField(max_length=32)
    key = models.CharField(max_length=100, unique=True)  # The same for as long as it lasts
    kind = models.CharField(max_length=16)
    at = models.DateTimeField(null=True)
    state = models.CharField(max_length=16)  # dashboard.web.states; "info" needs nobody
    happens = models.TextField()
    lost = models.TextField()
    stops = models.TextField()
    act_path = models.TextField(blank=True)
    subject = models.TextField(blank=True)
    path = models.TextField(blank=True)
    connection = models.ForeignKey("connections.Connection", null=True, on_delete=models.CASCADE, related_name="+")
    # Of a backup, where it writes
    vault_connection = models.ForeignKey(
        "connections.Connection", null=True, on_delete=models.CASCADE, related_name="+"
    )

    class Meta:
        ordering = ("at", "key")
        indexes = [models.Index(fields=["at", "key"], name="due_soonest")]

    def __str__(self) -> str:
        return f"{self.happens}: {self.subject}"


class DueSource(models.Model):
    """When a source last told all that it knows."""

    name = models.CharField(max_length=32, primary_key=True)
    judged_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
