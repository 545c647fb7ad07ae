"""Backup plans as declared; `levee apply` writes them."""

from django.db import models


class Plan(models.Model):
    """What is to be copied, from where to where, how often, and what it may cost."""

    class Engine(models.TextChoices):
        S3_BATCH = "s3-batch", "S3 Batch Operations"
        SPARK = "spark", "Spark"

    name = models.CharField(max_length=64, unique=True)
    connection = models.ForeignKey("connections.Connection", on_delete=models.PROTECT, related_name="plans")
    vault_connection = models.ForeignKey("connections.Connection", on_delete=models.PROTECT, related_name="vault_plans")
    source = models.CharField(max_length=1100, help_text="s3a:// URI")
    destination = models.CharField(
        max_length=1100, help_text="s3a:// URI; {date} in the bucket's name: one per snapshot"
    )
    inventory = models.CharField(max_length=1100, blank=True, help_text="s3a:// URI; empty: the source is listed")
    minimum_lag_hours = models.PositiveIntegerField(default=24)
    engine = models.CharField(max_length=16, choices=Engine.choices, default=Engine.S3_BATCH)
    schedule = models.CharField(max_length=64, blank=True, help_text="cron, UTC; empty: by hand")
    objective_hours = models.PositiveIntegerField(default=36)
    cost_ceiling_usd = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    keep = models.JSONField(default=dict, help_text="{daily, weekly, monthly}")

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
