from hypothesis import given
from hypothesis import strategies as st

from lake.delta.listing import read_listing
from lake.delta.names import commit_name
from tests.builders.delta import UUID, listed, listed_object

LOG = "sales/orders/_delta_log/"


def read(*names, folders_listed=True, from_version=0, size=1_000):
    objects = listed(*(LOG + name for name in names), size=size)
    return read_listing(objects, LOG, from_version, folders_listed=folders_listed)


def names(objects):
    return [found.name for found in objects]


def test_commits_are_by_version_and_ascending():
    listing = read(commit_name(10), commit_name(9))
    assert list(listing.commits) == [9, 10]
    assert listing.newest_version == 10


def test_each_object_goes_where_its_name_says():
    listing = read(
        f"{3:020d}.checkpoint.parquet",
        f"{3:020d}.crc",
        f"{0:020d}.{3:020d}.compacted.json",
        "_last_checkpoint",
        f".tmp/{commit_name(4)}.{UUID}",
        f"_commit_{UUID}.json.tmp",
        f"_staged_commits/{5:020d}.{UUID}.json",
        f"_commits/{6:020d}.{UUID}.json",
        f"_sidecars/{UUID}.parquet",
        "notes.txt",
    )
    assert names(listing.checkpoints[3]) == [f"{3:020d}.checkpoint.parquet"]
    assert listing.checksums[3].name == f"{3:020d}.crc"
    assert names(listing.compacted) == [f"{0:020d}.{3:020d}.compacted.json"]
    assert listing.last_checkpoint.name == "_last_checkpoint"
    assert names(listing.temp_files) == [f".tmp/{commit_name(4)}.{UUID}", f"_commit_{UUID}.json.tmp"]
    assert names(listing.staged) == [f"_staged_commits/{5:020d}.{UUID}.json", f"_commits/{6:020d}.{UUID}.json"]
    assert names(listing.other) == [f"_sidecars/{UUID}.parquet", "notes.txt"]


def test_markers_and_dot_files_are_in_no_list():
    listing = read("", "_staged_commits/", f".{3:020d}.crc.{UUID}.tmp", size=0)
    assert (listing.staged, listing.temp_files, listing.other) == ((), (), ())


def test_a_key_ending_in_a_slash_that_holds_bytes_is_no_marker():
    assert names(read("_staged_commits/").other) == ["_staged_commits/"]


def test_folders_that_were_not_listed_are_unknown_rather_than_empty():
    listing = read(f"_staged_commits/{5:020d}.{UUID}.json", folders_listed=False)
    assert (listing.temp_files, listing.staged) == (None, None)


def test_versions_before_the_first_one_asked_for_are_left_out():
    listing = read(commit_name(4), f"{4:020d}.crc", commit_name(5), "_last_checkpoint", from_version=5)
    assert (list(listing.commits), dict(listing.checksums)) == ([5], {})
    assert listing.last_checkpoint is not None


def test_a_temp_file_of_an_earlier_version_is_kept():
    assert len(read(f".tmp/{commit_name(4)}.{UUID}", from_version=5).temp_files) == 1


def test_all_bytes_under_the_log_are_counted():
    assert read(commit_name(1), f".{1:020d}.crc.{UUID}.tmp", "notes.txt", size=7).total_bytes == 21


def test_size_time_and_etag_are_kept():
    given_object = listed_object(LOG + commit_name(1), 42, etag="abc")
    found = read_listing([given_object], LOG, folders_listed=True).commits[1]
    assert (found.size, found.modified_at, found.etag) == (42, given_object.modified_at, "abc")


@given(st.lists(st.text()), st.booleans())
def test_a_listing_of_any_keys_is_read(keys, folders_listed):
    objects = listed(*keys, *(LOG + key for key in keys))
    listing = read_listing(objects, LOG, folders_listed=folders_listed)
    assert listing.total_bytes >= 1_000 * len(keys)
