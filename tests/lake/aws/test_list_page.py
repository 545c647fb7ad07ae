"""Listings as different servers write them."""

from datetime import UTC, datetime

import pytest

from lake.aws.list_page import ListingError, read_list_page

NAMESPACE = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


def contents(key="a", modified="2026-11-20T10:00:00.123Z", etag="&quot;e&quot;", size="7", rest=""):
    return (
        f"<Contents><Key>{key}</Key><LastModified>{modified}</LastModified><ETag>{etag}</ETag>{rest}"
        f"<Size>{size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
    )


def listing(*parts, namespace=NAMESPACE, encoded=True, head='<?xml version="1.0" encoding="UTF-8"?>'):
    encoding = "<EncodingType>url</EncodingType>" if encoded else ""
    return f"{head}<ListBucketResult{namespace}>{encoding}{''.join(parts)}</ListBucketResult>".encode()


def only(body):
    page, _ = read_list_page(body)
    [summary] = page.objects
    return summary


@pytest.mark.parametrize("namespace", [NAMESPACE, ""])
def test_a_name_space_may_be_absent(namespace):
    assert only(listing(contents(), namespace=namespace)).key == "a"


def test_a_name_space_prefix_is_read():
    body = listing(contents(), "<IsTruncated>false</IsTruncated>").decode()
    prefixed = body.replace("</", "</s:").replace("<", "<s:").replace("<s:/s:", "</s:").replace("<s:?", "<?")
    assert only(prefixed.replace("xmlns=", "xmlns:s=").encode()).size == 7


@pytest.mark.parametrize("etag", ["&quot;e&quot;", '"e"', "&#34;e&#34;", "e"])
def test_quotes_of_an_etag_are_dropped(etag):
    assert only(listing(contents(etag=etag))).etag == "e"


@pytest.mark.parametrize(
    ("text", "micros"), [("2026-11-20T10:00:00Z", 0), ("2026-11-20T10:00:00.5Z", 500_000), ("2026-11-20T10:00:00", 0)]
)
def test_seconds_may_be_whole_or_fractional(text, micros):
    expected = datetime(2026, 11, 20, 10, 0, 0, micros, tzinfo=UTC)
    assert only(listing(contents(modified=text))).modified_at == expected


def test_facts_between_etag_and_size_are_passed_over():
    rest = "<ChecksumAlgorithm>CRC32</ChecksumAlgorithm><Owner><ID>1</ID></Owner>"
    assert only(listing(contents(rest=rest))).size == 7


@pytest.mark.parametrize("namespace", [NAMESPACE, ""])
def test_each_object_has_its_own_storage_class(namespace):
    tiered = contents(key="b").replace("STANDARD", "INTELLIGENT_TIERING")
    page, _ = read_list_page(listing(contents(), tiered, namespace=namespace))
    assert [summary.storage_class for summary in page.objects] == ["STANDARD", "INTELLIGENT_TIERING"]


def test_a_class_that_one_object_lacks_is_not_taken_from_another():
    without = contents(key="a").replace("<StorageClass>STANDARD</StorageClass>", "")
    page, _ = read_list_page(listing(without, contents(key="b").replace("STANDARD", "GLACIER")))
    assert [summary.storage_class for summary in page.objects] == ["", "GLACIER"]


def test_a_server_that_names_no_class_leaves_it_open():
    assert only(listing(contents().replace("<StorageClass>STANDARD</StorageClass>", ""))).storage_class == ""


def test_another_order_of_elements_is_read():
    entry = "<Contents><Size>7</Size><Key>b%2Fc</Key><LastModified>2026-11-20T10:00:00Z</LastModified></Contents>"
    summary = only(listing(entry))
    assert (summary.key, summary.size, summary.etag) == ("b/c", 7, "")


def test_objects_of_mixed_shape_are_all_read():
    other = "<Contents><Size>1</Size><Key>z</Key><LastModified>2026-11-20T10:00:00Z</LastModified></Contents>"
    page, _ = read_list_page(listing(contents(), other))
    assert [summary.key for summary in page.objects] == ["a", "z"]


def test_a_server_that_ignores_encoding_keeps_its_percents():
    assert only(listing(contents(key="a%20b+&amp;c"), encoded=False)).key == "a%20b+&c"


def test_control_characters_survive_in_encoded_keys():
    assert only(listing(contents(key="a%0Ab%01+%2B%25"))).key == "a\nb\x01 +%"


def test_pretty_printed_xml_is_read():
    assert only(listing(contents().replace("><", ">\n  <"))).key == "a"


def test_a_truncated_page_names_its_successor():
    _, token = read_list_page(
        listing("<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b=</NextContinuationToken>")
    )
    assert token == "a&b="


def test_a_token_of_a_last_page_is_not_followed():
    _, token = read_list_page(
        listing("<IsTruncated>false</IsTruncated><NextContinuationToken>x</NextContinuationToken>")
    )
    assert token == ""


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (listing(contents())[:-30], "cut off"),
        (b"", "cut off"),
        (b"<html>hello</html>", "no ListBucketResult"),
        (listing("<IsTruncated>true</IsTruncated>"), "no continuation token"),
        (listing(contents(size="many")), "cannot be read"),
        (listing(contents(modified="yesterday")), "cannot be read"),
        (listing(contents(key="%FF")), "cannot be read"),
        (listing("<Contents><Key>a</Key></Contents>"), "without LastModified"),
        (b"\xff" + listing(), "not UTF-8 at byte 0"),
        (listing("<open>"), "not well-formed"),
    ],
)
def test_an_unreadable_listing_says_why(body, says):
    if says == "not well-formed":
        body = body.replace(b"<EncodingType>url</EncodingType>", b"")
    with pytest.raises(ListingError, match=says):
        read_list_page(body)
