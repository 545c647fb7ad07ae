"""The stacks a writer may run: which jars belong together, and which classes they bring."""

from dataclasses import dataclass

SDK_V1_BUNDLE = "com.amazonaws:aws-java-sdk-bundle:1.12.262"


@dataclass(frozen=True, slots=True)
class Release:
    """One Delta release with the Spark it is for. hadoop-aws must equal the Hadoop client that pyspark brings.

    `adds_sdk_v1`: the log store and the coordinator need AWS SDK v1, which hadoop-aws 3.4 and newer no longer bring.
    `folder` is where the coordinator's writers stage. `checked` says how far the stack has been run.
    """

    delta: str
    pyspark: str
    package: str
    hadoop_aws: str
    adds_sdk_v1: bool
    folder: str
    checked: str

    @property
    def s3a_provider(self) -> str:
        """The environment's credentials for S3A, whose SDK changed with Hadoop 3.4."""
        return ENVIRONMENT_V1 if self.hadoop_aws.startswith("3.3.") else ENVIRONMENT_V2

    def packages(self, *, log_store: bool) -> tuple[str, ...]:
        """Coordinates for --packages; the log store is a jar of its own."""
        found = [f"io.delta:{self.package}:{self.delta}", f"org.apache.hadoop:hadoop-aws:{self.hadoop_aws}"]
        if log_store:
            found.append(f"io.delta:delta-storage-s3-dynamodb:{self.delta}")
        return (*found, SDK_V1_BUNDLE) if self.adds_sdk_v1 else tuple(found)


ENVIRONMENT_V1 = "com.amazonaws.auth.EnvironmentVariableCredentialsProvider"
ENVIRONMENT_V2 = "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"

RELEASES = (
    Release("4.4.0", "4.2.0", "delta-spark_4.2_2.13", "3.5.0", True, "_staged_commits", "run on S3A"),
    Release("4.3.1", "4.1.1", "delta-spark_4.1_2.13", "3.4.2", True, "_staged_commits", "not run"),
    Release("4.0.1", "4.0.4", "delta-spark_2.13", "3.4.1", True, "_staged_commits", "run on a local file system"),
    Release("3.3.2", "3.5.3", "delta-spark_2.12", "3.3.4", False, "_commits", "not run"),
)


def release_named(delta: str) -> Release:
    """The release, or the newest where none has that name."""
    return next((one for one in RELEASES if one.delta == delta), RELEASES[0])
