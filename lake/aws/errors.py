"""The one exception of this room: what AWS, or an endpoint that speaks like it, answered instead of data."""

import re

ACCESS_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AllAccessDisabled"})
MISSING = frozenset(
    {"NoSuchBucket", "NoSuchKey", "NoSuchVersion", "ResourceNotFoundException", "TableNotFoundException"}
)
CONDITION_FAILED = frozenset({"ConditionalCheckFailedException", "ConditionalRequestConflict", "PreconditionFailed"})
ARCHIVED = frozenset({"InvalidObjectState", "ObjectNotInActiveTierError"})
THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequests",
        "TooManyRequestsException",
    }
)
OF_CREDENTIALS = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidToken",
        "NoCredentials",
        "SignatureDoesNotMatch",
        "TokenRefreshRequired",
        "UnrecognizedClientException",
    }
)
NOT_OFFERED = frozenset({"InvalidAction", "NotImplemented", "UnknownOperationException"})
# Operations whose IAM action is not simply the operation's own name (Service Authorization Reference, Amazon S3).
IAM_ACTIONS = {
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:HeadObject": "s3:GetObject",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:GetBucketLifecycleConfiguration": "s3:GetLifecycleConfiguration",
    "s3:GetBucketReplication": "s3:GetReplicationConfiguration",
    "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "s3:ListBucketIntelligentTieringConfigurations": "s3:GetIntelligentTieringConfiguration",
    "s3:PutBucketLifecycleConfiguration": "s3:PutLifecycleConfiguration",
    "s3:DeleteBucketLifecycle": "s3:PutLifecycleConfiguration",
    "s3:GetBucketInventoryConfiguration": "s3:GetInventoryConfiguration",
    "s3:PutBucketInventoryConfiguration": "s3:PutInventoryConfiguration",
}
NAMED_ACTION = re.compile(r"not authorized to perform:? ([a-z0-9-]+:[A-Za-z]+)")


class AwsError(Exception):
    """A request that did not give its answer.

    `code` is AWS's own error code, or one of ours: BadConfiguration, ConditionsUnsupported, ConnectionFailed,
    InvalidName, MalformedAnswer, NoCredentials, UnknownRegion, WrongRegion. `operation` is "service:Operation",
    `target` the bucket, object or table asked for, `request_id` what AWS support wants to hear. `permission` is the IAM
    action that is missing, or "".
    """

    def __init__(
        self, code: str, message: str, request_id: str = "", operation: str = "", permission: str = "", target: str = ""
    ) -> None:
        super().__init__(code, message, request_id, operation, permission, target)
        self.code = code
        self.message = message
        self.request_id = request_id
        self.operation = operation
        self.permission = permission
        self.target = target

    @property
    def is_access_denied(self) -> bool:
        return self.code in ACCESS_DENIED

    @property
    def is_missing(self) -> bool:
        return self.code in MISSING

    @property
    def is_archived(self) -> bool:
        """Whether S3 has to restore the object from its archive before it reads or copies it."""
        return self.code in ARCHIVED

    @property
    def is_condition_failed(self) -> bool:
        """Whether a conditional write was refused for its condition: this request has written nothing.

        An attempt before it may have: a write whose answer was lost is sent again and refused by its own success.
        Whoever is refused reads what is there.
        """
        return self.code in CONDITION_FAILED

    @property
    def is_not_offered(self) -> bool:
        """Whether the endpoint has no such operation, as one that only speaks like AWS may not."""
        return self.code in NOT_OFFERED

    @property
    def is_throttle(self) -> bool:
        return self.code in THROTTLED

    def __str__(self) -> str:
        what = self.operation or "The request"
        where = f" on {self.target}" if self.target else ""
        said = " ".join(self.message.split()).rstrip(".") or "no reason was given"
        facts = self.code if not self.request_id else f"{self.code}, request {self.request_id}"
        cure = f"; the permission {self.permission} is missing" if self.permission else ""
        return f"{what}{where} failed: {said} ({facts}){cure}."


def missing_permission(operation: str, message: str) -> str:
    """The IAM action an access-denied answer is about: the one it names, else the one its operation needs."""
    named = NAMED_ACTION.search(message)
    if named:
        return named.group(1)
    return IAM_ACTIONS.get(operation, operation)
