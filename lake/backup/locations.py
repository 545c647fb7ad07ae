"""Where in S3 a backup reads and writes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BucketPrefix:
    """A part of a bucket; `prefix` is empty or ends in "/". A bucket may hold "{date}": one for each snapshot."""

    bucket: str
    prefix: str = ""

    @property
    def uri(self) -> str:
        return f"s3a://{self.bucket}/{self.prefix}"

    def below(self, path: str) -> "BucketPrefix":
        """What begins with `path` in it."""
        return BucketPrefix(self.bucket, f"{self.prefix}{path}")
