"""Arbitrary lifecycle rules as S3 sends them: XML with each kind of filter and each kind of act."""

from xml.sax.saxutils import escape

from hypothesis import strategies as st

WORDS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["Cs", "Cc"]), max_size=12)
NAMES = st.text("abcdefghij-_ äß&<", min_size=1, max_size=12)
DAYS = st.integers(1, 36_500)
SPACE = st.sampled_from(["", "", "\n", "\n  ", "\r\n"])


def tag(name: str, *inner: str) -> str:
    return f"<{name}>{''.join(inner)}</{name}>"


@st.composite
def filters(draw) -> str:
    """No filter at all, the old top-level prefix, and every form of Filter."""
    prefix = tag("Prefix", escape(draw(WORDS)))
    tags = tag("Tag", tag("Key", escape(draw(NAMES))), tag("Value", escape(draw(WORDS))))
    more, less = tag("ObjectSizeGreaterThan", str(draw(DAYS))), tag("ObjectSizeLessThan", str(draw(DAYS)))
    both = tag("And", *draw(st.lists(st.sampled_from([prefix, tags, tags, more, less]), min_size=2, max_size=4)))
    inside = ["", prefix, tags, more, less, both, "<Prefix/>"]
    return draw(st.sampled_from(["", prefix, "<Filter/>", *(tag("Filter", one) for one in inside)]))


@st.composite
def acts(draw) -> list[str]:
    days, date = tag("Days", str(draw(DAYS))), tag("Date", "2030-01-01T00:00:00.000Z")
    storage = tag("StorageClass", draw(st.sampled_from(["GLACIER", "STANDARD_IA", "DEEP_ARCHIVE", "NEW_CLASS"])))
    old = tag("NoncurrentDays", str(draw(DAYS)))
    choices = [
        tag("Expiration", days),
        tag("Expiration", date),
        tag("Expiration", tag("ExpiredObjectDeleteMarker", "true")),
        tag("Transition", days, storage),
        tag("Transition", date, storage),
        tag("NoncurrentVersionExpiration", old, tag("NewerNoncurrentVersions", "3")),
        tag("NoncurrentVersionTransition", old, storage),
        tag("AbortIncompleteMultipartUpload", tag("DaysAfterInitiation", "7")),
        tag("SomethingOfTomorrow", tag("Deep", escape(draw(WORDS)))),
    ]
    return draw(st.lists(st.sampled_from(choices), min_size=1, max_size=4))


@st.composite
def rule_xml(draw, name: str) -> str:
    parts = [*draw(acts()), draw(filters()), tag("Status", draw(st.sampled_from(["Enabled", "Disabled"])))]
    if draw(st.booleans()) or name:
        parts.append(tag("ID", escape(name)))
    return f"<Rule>{draw(SPACE).join(draw(st.permutations(parts)))}</Rule>"


@st.composite
def configurations(draw) -> tuple[bytes, list[str]]:
    """A whole answer of S3, and the bytes of each of its rules."""
    names = draw(st.lists(NAMES, max_size=6, unique=True))
    rules = [draw(rule_xml(name)) for name in names]
    rules += draw(st.lists(rule_xml(""), max_size=2))
    head = draw(st.sampled_from(["", '<?xml version="1.0" encoding="UTF-8"?>\n']))
    space = draw(SPACE)
    root = '<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    return f"{head}{root}{space}{space.join(rules)}{space}</LifecycleConfiguration>".encode(), rules
