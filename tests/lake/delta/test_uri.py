import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.delta.uri import TableUri, places_meant, same_table


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n", "S3A"])
def test_every_scheme_of_hadoop_for_s3_is_read(scheme):
    assert TableUri.parse(f"{scheme}://lake/sales/orders") == TableUri(scheme.lower(), "lake", "sales/orders")


def test_a_table_at_the_root_of_a_bucket_keeps_the_slash_hadoop_gives_it():
    uri = TableUri.parse("s3a://lake")
    assert (uri.s3a, uri.log_key, uri.name) == ("s3a://lake/", "_delta_log/", "lake")
    assert TableUri.parse("s3a://lake/") == uri


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("s3a://lake/warehouse/sales/orders", "sales.orders"),
        ("s3a://lake/orders", "orders"),
        ("s3a://lake/a//b", "a.b"),
    ],
)
def test_a_table_is_named_by_the_end_of_its_path(text, name):
    assert TableUri.parse(text).name == name


@pytest.mark.parametrize("key", ["bücher/größe", "two words", "a%20b", "x=1?y#z", "tab\there", "日本/表", " lead"])
def test_the_key_is_kept_to_the_letter(key):
    assert TableUri.parse(f"s3a://lake/{key}").key == key


def test_spellings_are_those_of_hadoop():
    assert TableUri.parse("s3n://lake/t").spellings() == ("s3a://lake/t", "s3://lake/t", "s3n://lake/t")


@pytest.mark.parametrize(
    ("stored", "key"),
    [
        ("s3://lake/my%20table", "my table"),
        ("s3://lake/uml%C3%A4ut", "umläut"),
        ("s3a://lake/low%2fslash", "low/slash"),
        ("s3a://lake/p%25q", "p%q"),
        ("s3a://lake/a%zzb", "a%zzb"),
        ("s3a://lake/end%2F", "end"),
    ],
)
def test_a_url_names_the_key_that_delta_rs_asks_s3_for(stored, key):
    assert TableUri.parse_url(stored).key == key


def test_a_url_whose_bytes_are_no_text_names_no_table():
    with pytest.raises(ValueError, match="utf-8"):
        TableUri.parse_url("s3://lake/%ff")


def test_a_log_store_may_hold_a_table_under_every_scheme_with_and_without_a_slash():
    paths = TableUri.parse("s3n://lake/t").table_paths()
    assert paths == (
        "s3a://lake/t", "s3://lake/t", "s3n://lake/t", "s3a://lake/t/", "s3://lake/t/", "s3n://lake/t/"
    )  # fmt: skip


def test_a_key_that_delta_rs_encodes_has_its_form_beside_hadoops():
    paths = TableUri.parse("s3://lake/my table").table_paths()
    assert {"s3://lake/my table", "s3://lake/my%20table", "s3a://lake/my%20table/"} <= {*paths}
    assert len(paths) == len({*paths}) == 12


def test_the_root_of_a_bucket_is_held_with_and_without_its_slash():
    assert {"s3a://lake", "s3a://lake/"} <= {*TableUri.parse("s3a://lake").table_paths()}


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("s3a://lake/t", ["t"]),
        ("s3n://lake/t//", ["t"]),
        ("s3a://lake//a//b/", ["/a//b", "a/b"]),
        ("s3://lake/my%20table", ["my%20table", "my table"]),
        ("s3://lake/a//b%20c", ["a//b%20c", "a/b%20c", "a//b c"]),
        ("s3://lake/%ff", ["%ff"]),
    ],
)
def test_a_uri_means_the_letter_then_hadoops_reading_then_that_of_delta_rs(text, keys):
    assert [place.key for place in places_meant(text)] == keys


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is not a URI"),
        ("lake/t", "is not a URI"),
        (" s3a://lake/t", "is not a URI"),
        ("hdfs://lake/t", "has the scheme 'hdfs'"),
        ("s3a://", "names no bucket"),
        ("s3a:///t", "names no bucket"),
        ("s3a://user@/t", "names no bucket"),
        ("s3a://lake:9000/t", "is not a bucket name"),
        ("s3a://la ke/t", "is not a bucket name"),
        ("s3a://../t", "is not a bucket name"),
        ("s3a://lake\n/t", "is not a bucket name"),
        ("s3a://lake/t\0", "NUL"),
        ("s3a://lake/\ud800", "not valid Unicode"),
        ("s3a://lake/" + "é" * 513, "1026 bytes long"),
    ],
)
def test_what_names_no_table_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        TableUri.parse(text)


def test_scheme_user_info_and_slash_do_not_make_another_table():
    assert same_table("s3://user@lake/t/", TableUri.parse("s3a://lake/t"))


@pytest.mark.parametrize("other", ["s3a://lake/T", "s3a://lake2/t", "s3a://lake/t/u", "lake/t", ""])
def test_another_place_is_another_table(other):
    assert not same_table("s3a://lake/t", other)


@given(st.sampled_from(["", "s3a://", "s3a://lake/"]), st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_value_error_and_its_key_survives(beginning, text):
    try:
        uri = TableUri.parse(beginning + text)
    except ValueError:
        return
    assert TableUri.parse(uri.s3a).key == uri.key


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=100))
def test_every_path_of_a_log_store_leads_back_to_its_table(key):
    uri = TableUri("s3a", "lake", key.rstrip("/"))
    for path in uri.table_paths():
        assert TableUri.parse(path).key == uri.key or TableUri.parse_url(path).key == uri.key
