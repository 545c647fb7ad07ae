"""Listings as different servers write them."""

from datetime import UTC, datetime

import pytest

from lake.aws.list_page import ListingError, read_list_page

NAMESPACE = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
CLASS = "<StorageClass>STANDARD</StorageClass>"
TURNED = "<Contents><Size>7</Size><Key>b%2Fc</Key><LastModified>2026-11-20T10:00:00Z</LastModified></Contents>"
USUAL = ("a", 7, "e", "STANDARD")


def contents(key="a", modified="2026-11-20T10:00:00.123Z", etag="&quot;e&quot;", size="7", rest="", more=CLASS):
    return (
        f"<Contents><Key>{key}</Key><LastModified>{modified}</LastModified><ETag>{etag}</ETag>{rest}"
        f"<Size>{size}</Size>{more}</Contents>"
    )


def listing(*parts, namespace=NAMESPACE, encoded=True, head='<?xml version="1.0" encoding="UTF-8"?>'):
    encoding = "<EncodingType>url</EncodingType>" if encoded else ""
    return f"{head}<ListBucketResult{namespace}>{encoding}{''.join(parts)}</ListBucketResult>".encode()


def prefixed(body):
    text = body.decode().replace("</", "</s:").replace("<", "<s:").replace("<s:/s:", "</s:").replace("<s:?", "<?")
    return text.replace("xmlns=", "xmlns:s=").encode()


@pytest.mark.parametrize(
    ("body", "objects"),
    [
        (listing(contents()), [USUAL]),
        (listing(contents(), namespace=""), [USUAL]),
        (prefixed(listing(contents(), "<IsTruncated>false</IsTruncated>")), [USUAL]),
        (listing(contents().replace("><", ">\n  <")), [USUAL]),
        (listing(contents(rest="<ChecksumAlgorithm>CRC32</ChecksumAlgorithm><Owner><ID>1</ID></Owner>")), [USUAL]),
        (listing(contents(etag='"e"')), [USUAL]),
        (listing(contents(etag="&#34;e&#34;")), [USUAL]),
        (listing(contents(etag="e")), [USUAL]),
        (listing(contents(more="")), [("a", 7, "e", "")]),
        # A class that one object lacks is not taken from another.
        (
            listing(contents(more=""), contents("b", more="<StorageClass>GLACIER</StorageClass>")),
            [("a", 7, "e", ""), ("b", 7, "e", "GLACIER")],
        ),
        (listing(TURNED), [("b/c", 7, "", "")]),
        (listing(contents(), TURNED), [USUAL, ("b/c", 7, "", "")]),
        (listing(contents("a%20b+&amp;c"), encoded=False), [("a%20b+&c", 7, "e", "STANDARD")]),
        (listing(contents("a%0Ab%01+%2B%25")), [("a\nb\x01 +%", 7, "e", "STANDARD")]),
    ],
)
def test_objects_are_read_however_they_are_written(body, objects):
    page, token = read_list_page(body)
    assert [(one.key, one.size, one.etag, one.storage_class) for one in page.objects] == objects
    assert token == ""


@pytest.mark.parametrize(
    ("text", "micros"), [("2026-11-20T10:00:00Z", 0), ("2026-11-20T10:00:00.5Z", 500_000), ("2026-11-20T10:00:00", 0)]
)
def test_seconds_may_be_whole_or_fractional(text, micros):
    [found] = read_list_page(listing(contents(modified=text)))[0].objects
    assert found.modified_at == datetime(2026, 11, 20, 10, 0, 0, micros, tzinfo=UTC)


@pytest.mark.parametrize("wrapped", [lambda body: body, prefixed])
@pytest.mark.parametrize(("truncated", "following"), [("true", "a&b="), ("false", "")])
def test_only_a_truncated_page_names_its_successor(wrapped, truncated, following):
    parts = f"<IsTruncated>{truncated}</IsTruncated><NextContinuationToken>a&amp;b=</NextContinuationToken>"
    folder = "<CommonPrefixes><Prefix>t/a+b/</Prefix></CommonPrefixes>"
    page, token = read_list_page(wrapped(listing(parts, folder)))
    assert (page.prefixes, token) == (("t/a b/",), following)


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
        (listing("<open>", encoded=False), "not well-formed"),
    ],
)
def test_an_unreadable_listing_says_why(body, says):
    with pytest.raises(ListingError, match=says):
        read_list_page(body)
