import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.delta.names import MAX_VERSION, LogName, NameKind, checksum_name, commit_name, parse_name
from tests.builders.delta import UUID

FIVE = "00000000000000000005"
NINE = "00000000000000000009"
versions = st.integers(0, MAX_VERSION)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"{FIVE}.json", LogName(NameKind.COMMIT, 5)),
        (f"{FIVE}.crc", LogName(NameKind.CHECKSUM, 5)),
        (f"{FIVE}.checkpoint.parquet", LogName(NameKind.CHECKPOINT, 5, format="parquet")),
        (
            f"{FIVE}.checkpoint.0000000002.0000000003.parquet",
            LogName(NameKind.CHECKPOINT_PART, 5, part=2, parts=3, format="parquet"),
        ),
        (f"{FIVE}.checkpoint.{UUID}.json", LogName(NameKind.CHECKPOINT_V2, 5, unique=UUID, format="json")),
        (f"{FIVE}.checkpoint.{UUID}.parquet", LogName(NameKind.CHECKPOINT_V2, 5, unique=UUID, format="parquet")),
        (f"{FIVE}.{NINE}.compacted.json", LogName(NameKind.COMPACTED, 5, 9)),
        ("_last_checkpoint", LogName(NameKind.LAST_CHECKPOINT)),
        (f".tmp/{FIVE}.json.{UUID}", LogName(NameKind.TEMP, 5, unique=UUID)),
        (f"_commit_{UUID}.json.tmp", LogName(NameKind.TEMP, unique=UUID)),
        (f"_staged_commits/{FIVE}.{UUID}.json", LogName(NameKind.STAGED, 5, unique=UUID)),
        (f"_commits/{FIVE}.{UUID}.json", LogName(NameKind.STAGED, 5, unique=UUID)),
        (f"_staged_commits/{FIVE}.json", LogName(NameKind.STAGED)),
        (f"_sidecars/{UUID}.parquet", LogName(NameKind.SIDECAR)),
    ],
)
def test_each_name_of_the_protocol_is_known(name, expected):
    assert parse_name(name) == expected


@pytest.mark.parametrize("name", ["", "_staged_commits/", "_commits/", ".tmp/", "_staged_commits_$folder$"])
def test_directory_markers_are_told_apart(name):
    assert parse_name(name).kind is NameKind.MARKER


@pytest.mark.parametrize("name", [f".{FIVE}.crc.{UUID}.tmp", f"_staged_commits/.{FIVE}.{UUID}.json.crc", ".DS_Store"])
def test_dot_files_are_hidden(name):
    assert parse_name(name).kind is NameKind.HIDDEN


@pytest.mark.parametrize(
    "name",
    [
        "5.json",
        "000000000000000000005.json",
        f"{MAX_VERSION + 1:020d}.json",
        f"{FIVE}.json\n",
        f"{FIVE}.JSON",
        "\N{ARABIC-INDIC DIGIT FIVE}" * 20 + ".json",
        f"{FIVE}.checkpoint.0000000000.0000000003.parquet",
        f"{FIVE}.checkpoint.0000000004.0000000003.parquet",
        f"{NINE}.{FIVE}.compacted.json",
        f"{FIVE}.99999999999999999999.compacted.json",
        f"_last_checkpoint/{FIVE}.json",
        f"_staged_commits/../{FIVE}.json",
    ],
)
def test_a_name_that_only_resembles_the_protocol_is_other(name):
    assert parse_name(name) == LogName(NameKind.OTHER)


@pytest.mark.parametrize("name", [".tmp/scratch", f".tmp/99999999999999999999.json.{UUID}"])
def test_a_temp_file_without_a_possible_version_stays_a_temp_file(name):
    assert (parse_name(name).kind, parse_name(name).version) == (NameKind.TEMP, None)


@pytest.mark.parametrize("version", [-1, MAX_VERSION + 1])
def test_a_version_no_log_can_have_has_no_name(version):
    with pytest.raises(ValueError, match="versions run from 0"):
        commit_name(version)


@given(versions)
def test_commit_and_checksum_names_round_trip(version):
    assert parse_name(commit_name(version)) == LogName(NameKind.COMMIT, version)
    assert parse_name(checksum_name(version)) == LogName(NameKind.CHECKSUM, version)
