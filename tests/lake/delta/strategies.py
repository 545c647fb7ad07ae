"""Hostile values: any JSON with the names that Delta uses, and any DynamoDB item in wire form, or nearly so."""

from hypothesis import strategies as st

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_NAMES = st.sampled_from(
    [
        "path",
        "id",
        "configuration",
        "minReaderVersion",
        "minWriterVersion",
        "readerFeatures",
        "createdTime",
        "timestamp",
    ]
)
_SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | _TEXTS

json_values = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES | _TEXTS, inner, max_size=4),
    max_leaves=8,
)

_NUMBERS = st.integers().map(str) | st.sampled_from(["1.5", "-1", "1e400", "NaN", "", "9223372036854775808", "٣"])
_PATHS = st.sampled_from(["../x", "/x", ".tmp/", "a/../b", "a\\b", "00000000000000000001.json", "x\0"]) | _TEXTS

wire_values = st.recursive(
    st.one_of(
        st.fixed_dictionaries({"S": _PATHS}),
        st.fixed_dictionaries({"N": _NUMBERS}),
        st.fixed_dictionaries({"BOOL": st.booleans()}),
        st.just({"NULL": True}),
        st.fixed_dictionaries({"B": st.binary(max_size=4)}),
        st.fixed_dictionaries({"SS": st.lists(_TEXTS, max_size=2)}),
        json_values,
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"L": st.lists(inner, max_size=4)}),
        st.fixed_dictionaries(
            {"M": st.dictionaries(st.sampled_from(["version", "fsName", "fsLength", "timestamp"]) | _TEXTS, inner)}
        ),
    ),
    max_leaves=6,
)


def items(*attributes: str) -> st.SearchStrategy[object]:
    """Items with some of these attributes, of any type, and now and then something that is no item at all."""
    return st.dictionaries(st.sampled_from(attributes) | _TEXTS, wire_values) | json_values
