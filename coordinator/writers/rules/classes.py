"""Rules about classes: of log stores, and of what gives credentials."""

from collections.abc import Iterator, Sequence

from coordinator.coordination.session_conf import COORDINATOR
from coordinator.protocols.verdict import Severity
from coordinator.writers.names import (
    CLASSES,
    HADOOP,
    LOG_STORE_CLASS,
    PROVIDERS,
    STORAGE_PACKAGES,
    TEST_CLASS,
    TO_V1,
    TO_V2,
    existing_class,
)
from coordinator.writers.session import (
    CLASS_KEYS,
    DoctorRule,
    PastedSetting,
    SettingChange,
    Trouble,
    WriterSession,
    is_log_store_class,
    named,
    removed,
    set_besides,
    set_to,
)
from coordinator.writers.stack import is_before_3_4, stack_of

_S3A_CLASS = "spark.delta.logStore.s3a.impl"
_S3A_PROVIDER = "fs.s3a.aws.credentials.provider"
_S3A_FILE_SYSTEM = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_V2_PACKAGE, _V1_PACKAGE, _S3A_PACKAGE = "software.amazon.awssdk.", "com.amazonaws.", "org.apache.hadoop.fs.s3a."
_REMAPPED = frozenset(
    f"com.amazonaws.auth.{name}"
    for name in (
        "AnonymousAWSCredentials",
        "EC2ContainerCredentialsProviderWrapper",
        "InstanceProfileCredentialsProvider",
        "EnvironmentVariableCredentialsProvider",
    )
)


def _dead_class(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.classes:
        if _is_dead(entry.value):
            right = existing_class(entry.value)
            yield Trouble(
                entry.key,
                f"No release has the class {entry.value}.",
                "The session ends in ClassNotFoundException at its first table, or runs with jars of a fork.",
                f"{entry.key} = {right}" if right else "A class that Delta has for these paths.",
                (named(entry, right),) if right else (),
            )


def _is_dead(name: str) -> bool:
    """Whether Delta has no such class: in a package of its log stores, or the DynamoDB one's name in another."""
    is_ours = name.lower().startswith(STORAGE_PACKAGES)
    is_named = name.rpartition(".")[2].lower() == LOG_STORE_CLASS.rpartition(".")[2].lower()
    return (is_ours or is_named) and name not in (*CLASSES, TEST_CLASS)


def _test_class(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.classes:
        if entry.value == TEST_CLASS:
            yield set_to(
                entry,
                LOG_STORE_CLASS,
                "This class fails one step in ten on purpose: it is of Delta's tests.",
                "Commits stay unfinished at random, and wait for the next reader to finish them.",
            )


def _other_class(session: WriterSession) -> Iterator[Trouble]:
    if not session.wants_log_store:
        return
    for entry in session.classes:
        takes_lock = is_log_store_class(entry.value) or _is_dead(entry.value)
        is_for_all = entry.key in CLASS_KEYS
        is_of_s3 = is_for_all or entry.key.removesuffix(".impl").endswith((".s3", ".s3a", ".s3n"))
        if entry.is_known and not takes_lock and is_of_s3:
            yield Trouble(
                entry.key,
                f"{entry.value} takes no lock in DynamoDB, and other settings here are of the log store.",
                "Its commits and those of the log store overwrite each other.",
                f"{_S3A_CLASS if is_for_all else entry.key} = {LOG_STORE_CLASS}",
                _for_s3a(session, [entry]) if is_for_all else (named(entry, LOG_STORE_CLASS),),
            )


def _for_s3a(session: WriterSession, for_all: Sequence[PastedSetting]) -> tuple[SettingChange, ...]:
    """The class for s3a:// in place of that for all schemes."""
    wanted = () if "s3a" in session.impls else (SettingChange("", _S3A_CLASS, LOG_STORE_CLASS),)
    return (*(removed(entry) for entry in for_all), *wanted)


def _class_and_scheme(session: WriterSession) -> Iterator[Trouble]:
    whole, impls = session.of(*CLASS_KEYS), session.impls
    if not whole or not impls:
        return
    yield Trouble(
        whole[0].key,
        f"It sets the class of all schemes, and {next(iter(impls.values())).key} that of one.",
        "The session ends in an error that names both: Delta takes one form or the other.",
        "One key per scheme, and no class for all.",
        _for_s3a(session, whole),
    )


def _class_for_all(session: WriterSession) -> Iterator[Trouble]:
    """The one class for every scheme: tables on HDFS or a local disk then ask DynamoDB too."""
    whole = session.of(*CLASS_KEYS)
    if whole and not session.impls and is_log_store_class(whole[0].value):
        schemes = sorted({"s3a", *session.schemes} & {"s3", "s3a", "s3n"})
        changes = [SettingChange("", f"spark.delta.logStore.{scheme}.impl", LOG_STORE_CLASS) for scheme in schemes]
        yield Trouble(
            whole[0].key,
            "The log store of S3 is set for every scheme.",
            "Tables that are not on S3 take their locks in DynamoDB as well.",
            f"spark.delta.logStore.s3a.impl = {LOG_STORE_CLASS}",
            (*(removed(entry) for entry in whole), *changes),
        )


def _dynamodb_provider(session: WriterSession) -> Iterator[Trouble]:
    hadoop = stack_of(session).hadoop_in_use
    entries = (*session.log_store("credentials.provider"), *session.of(f"{COORDINATOR}.awsCredentialsProviderName"))
    for entry in entries:
        is_v2 = entry.value.startswith(_V2_PACKAGE)
        is_s3a_v2 = entry.value.startswith(_S3A_PACKAGE) and bool(hadoop) and not is_before_3_4(hadoop)
        if is_v2 or is_s3a_v2:
            wanted = TO_V1.get(entry.value, PROVIDERS[0].dynamodb)
            kind = "AWS SDK v2" if is_v2 else f"S3A of Hadoop {hadoop}, which is of AWS SDK v2"
            yield set_to(
                entry,
                wanted,
                f"The class is of {kind}; DynamoDB is asked through v1.",
                "The first commit ends in ClassCastException.",
            )


def _s3a_provider(session: WriterSession) -> Iterator[Trouble]:
    """Hadoop 3.4 and newer take a few names of v1 for those of v2, and others only where SDK v1 is there."""
    stack = stack_of(session)
    for entry in session.hadoop(_S3A_PROVIDER):
        classes = [one.strip() for one in entry.value.split(",") if one.strip()]
        wanted = [_for_hadoop(one, stack.hadoop_in_use) for one in classes]
        wrong = next((one for one, other in zip(classes, wanted, strict=True) if one != other), "")
        if wrong:
            generation = "v1" if wrong.startswith(_V1_PACKAGE) else "v2"
            yield set_to(
                entry,
                ",".join(wanted),
                f"{wrong} is of AWS SDK {generation}; S3A of Hadoop {stack.hadoop_in_use} is not.",
                "No table can be opened, unless that SDK happens to be on the class path.",
            )


def _for_hadoop(name: str, hadoop: str) -> str:
    if not hadoop:
        return name
    if is_before_3_4(hadoop):
        return TO_V1.get(name, name) if name.startswith(_V2_PACKAGE) else name
    return name if name in _REMAPPED else TO_V2.get(name, name)


def _s3_without_file_system(session: WriterSession) -> Iterator[Trouble]:
    if session.platform in ("emr", "glue", "databricks") or "s3" not in session.schemes or session.hadoop("fs.s3.impl"):
        return
    yield set_besides(
        f"{HADOOP}fs.s3.impl",
        _S3A_FILE_SYSTEM,
        "A path here begins with s3://, which Hadoop itself does not know.",
        "The first access ends in 'No FileSystem for scheme \"s3\"'.",
    )


def _emrfs(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.hadoop("fs.s3.impl"):
        if entry.value.endswith(".EmrFileSystem"):
            yield set_to(
                entry,
                _S3A_FILE_SYSTEM,
                "s3:// is EMRFS here, and EMRFS is not S3A.",
                "No setting of fs.s3a. counts for such a path, and a table has two file systems by its spelling.",
            )


_AUTH = "CredentialProviderListFactory, Hadoop 3.4 and newer"
RULES = (
    DoctorRule("dead-class", Severity.WARNING, "delta-io/delta #339; S3DynamoDBLogStore since 1.2.0", _dead_class),
    DoctorRule("test-class", Severity.CRITICAL, "FailingS3DynamoDBLogStore, of Delta's tests", _test_class),
    DoctorRule("class-without-lock", Severity.CRITICAL, "S3SingleDriverLogStore, 4.4.0", _other_class),
    DoctorRule(
        "class-and-scheme", Severity.WARNING, "LogStoreProvider.checkLogStoreConfConflicts, 4.4.0", _class_and_scheme
    ),
    DoctorRule("class-for-all-schemes", Severity.INFO, "LogStoreProvider.createLogStore, 4.4.0", _class_for_all),
    DoctorRule(
        "sdk-of-dynamodb", Severity.WARNING, "ReflectionUtils.createAwsCredentialsProvider, 4.4.0", _dynamodb_provider
    ),
    DoctorRule("sdk-of-s3a", Severity.WARNING, _AUTH, _s3a_provider),
    DoctorRule("s3-without-file-system", Severity.WARNING, "core-default.xml, Hadoop 3.5.0", _s3_without_file_system),
    DoctorRule("emrfs", Severity.WARNING, "EMR's guide from EMRFS to S3A, 7.10", _emrfs),
)
