"""The bucket of one snapshot, made when its run begins."""

from lake.aws.errors import AwsError
from lake.aws.s3 import S3

_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


def ensure_bucket(s3: S3, bucket: str, region: str) -> None:
    """Create a bucket unless it is there. Raises AwsError, also where the name is another account's."""
    try:
        next(iter(s3.list(bucket, "", max_keys=1)), None)
    except AwsError as error:
        if error.code != "NoSuchBucket":
            raise
        _create(s3, bucket, region)


def _create(s3: S3, bucket: str, region: str) -> None:
    # us-east-1 is what S3 takes where no region is named, and it may not be named (CreateBucket, LocationConstraint).
    place = f"<LocationConstraint>{region}</LocationConstraint>" if region != "us-east-1" else ""
    body = (
        f'<CreateBucketConfiguration xmlns="{_NAMESPACE}">{place}</CreateBucketConfiguration>'.encode()
        if place
        else b""
    )
    s3.ask("s3:CreateBucket", bucket, "", method="PUT", body=body, target=f"s3://{bucket}")
