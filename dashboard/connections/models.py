"""Connections: an AWS account and region that Levee may read. Credentials come from the standard AWS chain."""

from django.db import models


class Connection(models.Model):
    """An account and region; `access()` in dashboard.connections.access turns it into a way to talk to AWS."""

    name = models.CharField(max_length=64, unique=True)
    region = models.CharField(max_length=32)
    role_arn = models.CharField(max_length=256, blank=True)  # Role to assume; empty: the chain's own identity
    external_id = models.CharField(max_length=256, blank=True)
    endpoint_url = models.CharField(max_length=256, blank=True)
    dynamodb_endpoint_url = models.CharField(max_length=256, blank=True)
    read_only = models.BooleanField(default=False)  # Changes of its lake are shown, never made
    # Account by bucket, as first seen: S3 is asked to refuse what another account owns
    bucket_owners = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def s3(self) -> str:
        """Which S3 it talks to: bucket names are unique within a partition of AWS; an endpoint of one's own is a world
        of its own."""
        partitions = ("cn-", "us-gov-", "us-iso")
        return self.endpoint_url.rstrip("/") or next((one for one in partitions if self.region.startswith(one)), "aws")

    @property
    def own_endpoint(self) -> str:
        """Where its DynamoDB answers if that is not AWS itself, as an origin; else ""."""
        return (self.dynamodb_endpoint_url or self.endpoint_url).rstrip("/")
