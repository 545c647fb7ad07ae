from pathlib import Path

import pytest

from lake.spark.session import SHORT_LIVED_JVM, LakeEndpoint, session_settings
from lake.spark.settings import WorkerSettings, session_conf
from lake.spark.sql import delta_path, quote_text


@pytest.mark.parametrize(
    ("uri", "quoted"),
    [
        ("s3a://lake/orders", "delta.`s3a://lake/orders`"),
        ("s3a://lake/Kundenaufträge 2026", "delta.`s3a://lake/Kundenaufträge 2026`"),
        ("s3a://lake/a`b", "delta.`s3a://lake/a``b`"),
        ("s3a://lake/a` ; DROP TABLE x; --", "delta.`s3a://lake/a`` ; DROP TABLE x; --`"),
    ],
)
def test_a_location_is_quoted_for_sql(uri: str, quoted: str) -> None:
    assert delta_path(uri) == quoted


@pytest.mark.parametrize("uri", ["", "s3a://lake/a\nb", "s3a://lake/\x00", "s3a://lake/\x7f"])
def test_a_location_with_control_characters_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match="is no table location"):
        delta_path(uri)


def test_a_text_is_quoted_for_sql() -> None:
    assert quote_text("it's a \\ path") == r"'it\'s a \\ path'"


def test_a_text_with_control_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="control characters"):
        quote_text("a\nb")


@pytest.mark.parametrize(("folder", "has_sockets"), [("/s", True), (f"/{'s' * 59}", True), (f"/{'s' * 60}", False)])
def test_python_is_reached_through_sockets_of_the_sessions_folder_where_their_paths_are_short_enough(
    folder: str, has_sockets: bool
) -> None:
    given = WorkerSettings(LakeEndpoint("us-east-1", "http://127.0.0.1:1"))
    conf = session_conf(given, Path("/home"), Path(folder))
    assert conf.get("spark.python.unix.domain.socket.dir") == (folder if has_sockets else None)
    assert ("spark.python.unix.domain.socket.enabled" in conf) is has_sockets


def settings(endpoint: LakeEndpoint) -> dict[str, str]:
    return session_settings(endpoint, jars="/jars/*", scratch=Path("/scratch"))


def test_aws_itself_needs_no_endpoint_and_keeps_the_standard_credentials() -> None:
    found = settings(LakeEndpoint("eu-central-1"))
    assert found["spark.hadoop.fs.s3a.endpoint.region"] == "eu-central-1"
    assert not [key for key in found if key.endswith((".endpoint", "credentials.provider", "ProviderName"))]


def test_environment_credentials_reach_both_generations_of_the_sdk() -> None:
    found = settings(LakeEndpoint("us-west-2", "http://127.0.0.1:5000", environment_credentials=True))
    providers = [value for value in found.values() if value.endswith("EnvironmentVariableCredentialsProvider")]
    assert sorted(provider.split(".")[0] for provider in providers) == ["com", "software"]


def test_java_options_are_added_to_our_own() -> None:
    endpoint = LakeEndpoint("us-west-2")
    found = session_settings(endpoint, jars="/jars/*", scratch=Path("/a home"), java_options=SHORT_LIVED_JVM)
    assert found["spark.driver.extraJavaOptions"].startswith('-Dderby.system.home="/a home" ')
    assert found["spark.driver.extraJavaOptions"].endswith(SHORT_LIVED_JVM)


def test_a_session_listens_on_loopback_only_and_serves_no_pages() -> None:
    found = settings(LakeEndpoint("us-west-2"))
    assert found["spark.driver.bindAddress"] == found["spark.driver.host"] == "127.0.0.1"
    assert found["spark.ui.enabled"] == "false"
