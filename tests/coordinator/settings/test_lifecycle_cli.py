"""The command for a bucket's rules holds every field of every rule, or there is none."""

import json
import shlex
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.settings.lifecycle_cli import UnknownRule, cli_lifecycle, rules_of
from lake.aws.lifecycle import Lifecycle, split_rules
from tests.coordinator.settings.rules import configurations

BUCKET = "lake"
HOSTILE = ['"', "${", "%{", "{{", "\n", "\\", "é", "\U0001f600", "\u2028", " ", "#", "'", "/", "<", "&"]
TEXT = st.lists(st.sampled_from(HOSTILE) | st.text("abc/", max_size=4), max_size=5).map("".join)
MOMENT = "2030-01-01T00:00:00.000Z"


def oracle() -> dict[str, Any]:
    """Every field of a rule as botocore knows it: {"Expiration": {"Days": "integer", …}, …}, lists with one member."""
    import botocore.session

    service = botocore.session.get_session().get_service_model("s3")
    return fields_of(service.operation_model("GetBucketLifecycleConfiguration").output_shape.members["Rules"].member)


def fields_of(shape: Any) -> Any:
    if shape.type_name == "structure":
        return {name: fields_of(member) for name, member in shape.members.items()}
    return [fields_of(shape.member)] if shape.type_name == "list" else shape


def value_of(name: str, shape: Any) -> Any:
    """A value of botocore's shape, such as S3 would send."""
    if name == "ID":
        return "r-1"
    if getattr(shape, "enum", None):
        return shape.enum[0]
    plain = {"timestamp": MOMENT, "integer": 77, "long": 77, "boolean": True, "string": 'a/"${b}'}
    return plain[shape.type_name]


def leaves(shape: Any, path: tuple = ()) -> list[tuple[tuple, Any]]:
    if isinstance(shape, dict):
        return [leaf for name, inner in shape.items() for leaf in leaves(inner, (*path, name))]
    if isinstance(shape, list):
        return leaves(shape[0], (*path, 0))
    return [(path, shape)]


# What a rule needs beside one field, so that S3 takes it: which fields are left out where it is the one that counts.
EXCLUDED = {
    ("Expiration", "Date"): ["Days", "ExpiredObjectDeleteMarker"],
    ("Expiration", "Days"): ["Date", "ExpiredObjectDeleteMarker"],
    ("Expiration", "ExpiredObjectDeleteMarker"): ["Date", "Days"],
    ("Transitions", 0, "Date"): ["Days"],
}


def rule_with(path: tuple) -> dict[str, Any]:
    """A rule that S3 would take, in which the field at this path has a value."""
    shape = oracle()
    branch = path[0]
    rule: dict[str, Any] = {"ID": value_of("ID", shape["ID"]), "Status": "Enabled"}
    if branch not in ("Filter", "Prefix"):
        rule["Filter"] = {"Prefix": "logs/"}
    if branch == "Filter":
        rule["Filter"] = {path[1]: whole(path[1], shape["Filter"][path[1]], path)}
    elif branch not in ("ID", "Status"):
        rule[branch] = whole(branch, shape[branch], path)
    if branch in ("ID", "Status", "Prefix", "Filter"):
        rule["Expiration"] = {"Days": 5}
    return rule


def whole(name: str, shape: Any, path: tuple) -> Any:
    if isinstance(shape, list):
        return [whole(name, shape[0], path)]
    if isinstance(shape, dict):
        left_out = EXCLUDED.get(path, ["Date"] if path[0] == "Transitions" else [])
        return {key: whole(key, inner, path) for key, inner in shape.items() if key not in left_out}
    return value_of(name, shape)


ELEMENTS = {"Transitions": "Transition", "NoncurrentVersionTransitions": "NoncurrentVersionTransition", "Tags": "Tag"}


def xml_of(name: str, value: Any) -> str:
    """A rule of the SDKs as S3 writes it."""
    if isinstance(value, list):
        return "".join(xml_of(ELEMENTS[name], one) for one in value)
    if isinstance(value, dict):
        return f"<{name}>{''.join(xml_of(key, one) for key, one in value.items())}</{name}>"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<{name}>{escape(text)}</{name}>"


def lifecycle(*rules: dict[str, Any], minimum_size: str = "") -> Lifecycle:
    inner = "".join(xml_of("Rule", rule) for rule in rules)
    return Lifecycle(split_rules(f"<LifecycleConfiguration>{inner}</LifecycleConfiguration>".encode()), minimum_size)


def all_paths() -> list[tuple]:
    return [path for path, _ in leaves(oracle())]


def test_every_field_that_s3_knows_is_in_the_command():
    """A field that botocore learns and Levee does not carry fails here."""
    paths = all_paths()
    assert ("NoncurrentVersionTransitions", 0, "NewerNoncurrentVersions") in paths

    for path in paths:
        rule = rule_with(path)
        assert at(rule, path) is not None, f"the test gives {path} no value"
        assert sent_by_cli(cli_lifecycle(BUCKET, lifecycle(rule))) == {"Rules": [rule]}


def at(rule: Any, path: tuple) -> Any:
    for step in path:
        rule = rule[step]
    return rule


def sent_by_cli(command: str) -> dict[str, Any]:
    words = shlex.split(command)
    if "delete-bucket-lifecycle" in words:
        return {"Rules": []}
    return dict(json.loads(words[words.index("--lifecycle-configuration") + 1]))


def test_the_default_least_size_for_transitions_is_in_the_command():
    import botocore.session

    service = botocore.session.get_session().get_service_model("s3")
    for size in service.shape_for("TransitionDefaultMinimumObjectSize").enum:
        kept = lifecycle(rule_with(("Prefix",)), minimum_size=size)
        assert f"--transition-default-minimum-object-size {size} " in cli_lifecycle(BUCKET, kept)


def test_every_storage_class_that_s3_knows_is_written():
    import botocore.session

    service = botocore.session.get_session().get_service_model("s3")
    for name in service.shape_for("TransitionStorageClass").enum:
        rule = {"ID": "a", "Status": "Enabled", "Prefix": "", "Transitions": [{"Days": 0, "StorageClass": name}]}
        assert sent_by_cli(cli_lifecycle(BUCKET, lifecycle(rule))) == {"Rules": [rule]}


@st.composite
def filters(draw) -> dict[str, Any]:
    tag = st.fixed_dictionaries({"Key": TEXT.filter(bool), "Value": TEXT})
    size = st.integers(1, 10**12)
    several = {"Prefix": TEXT, "Tags": st.lists(tag, min_size=1, max_size=3, unique_by=lambda one: one["Key"])}
    sizes = {"ObjectSizeGreaterThan": size, "ObjectSizeLessThan": size}
    one = st.one_of(
        st.just({}),
        st.fixed_dictionaries({"Prefix": TEXT}),
        st.fixed_dictionaries({"Tag": tag}),
        *(st.fixed_dictionaries({name: size}) for name in sizes),
        st.fixed_dictionaries({"And": st.fixed_dictionaries(several, optional=sizes)}),
    )
    return draw(st.one_of(st.fixed_dictionaries({"Filter": one}), st.fixed_dictionaries({"Prefix": TEXT})))


@st.composite
def rules(draw, name: str) -> dict[str, Any]:
    days, classes = st.integers(1, 36_500), st.sampled_from(["GLACIER", "STANDARD_IA", "DEEP_ARCHIVE"])
    newer = {"NewerNoncurrentVersions": st.integers(1, 100)}
    storage = {"StorageClass": classes}
    acts = {
        "Expiration": st.sampled_from([{"Days": 9}, {"Date": MOMENT}, {"ExpiredObjectDeleteMarker": True}]),
        "Transitions": st.lists(
            st.fixed_dictionaries({"Days": st.integers(0, 999), **storage})
            | st.fixed_dictionaries({"Date": st.just(MOMENT), **storage}),
            min_size=1,
            max_size=3,
            unique_by=lambda one: one["StorageClass"],
        ),
        "NoncurrentVersionExpiration": st.fixed_dictionaries({"NoncurrentDays": days}, optional=newer),
        "NoncurrentVersionTransitions": st.lists(
            st.fixed_dictionaries({"NoncurrentDays": days, **storage}, optional=newer),
            min_size=1,
            max_size=3,
            unique_by=lambda one: one["StorageClass"],
        ),
        "AbortIncompleteMultipartUpload": st.fixed_dictionaries({"DaysAfterInitiation": days}),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(acts)), min_size=1, unique=True))
    status = draw(st.sampled_from(["Enabled", "Disabled"]))
    return {"ID": name, "Status": status, **draw(filters()), **{act: draw(acts[act]) for act in chosen}}


@st.composite
def many_rules(draw) -> list[dict[str, Any]]:
    names = draw(st.lists(TEXT.filter(bool), min_size=1, max_size=4, unique=True))
    return [draw(rules(name)) for name in names]


@given(many_rules())
def test_any_rules_come_back_out_of_the_command(held):
    kept = lifecycle(*held)

    assert settled(rules_of(kept)) == settled(held)
    assert settled(sent_by_cli(cli_lifecycle(BUCKET, kept))["Rules"]) == settled(held)


def settled(rules: list[dict[str, Any]]) -> list[Any]:
    """The same in order, with the transitions and tags of each rule sorted, whose order says nothing."""
    return [sorted_inside(rule) for rule in rules]


def sorted_inside(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: sorted_inside(one) for name, one in value.items()}
    return sorted(map(sorted_inside, value), key=repr_of) if isinstance(value, list) else value


def repr_of(value: Any) -> str:
    return repr(sorted(value.items()) if isinstance(value, dict) else value)


@given(configurations())
def test_what_s3_sends_is_written_whole_or_refused(configuration):
    """Rules of any make, those of tomorrow among them: nothing of them is lost on the way into the command."""
    body, _ = configuration
    sent = Lifecycle(split_rules(body))
    try:
        command = cli_lifecycle(BUCKET, sent)
    except UnknownRule:
        return
    again = lifecycle(*sent_by_cli(command)["Rules"])

    assert [rule.tree for rule in again.rules] == [rule.tree for rule in sent.rules]
    assert "SomethingOfTomorrow" not in body.decode()


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        (
            "<Filter/><Status>Enabled</Status><Tomorrow>1</Tomorrow>",
            "Levee does not know Tomorrow, which rule r holds.",
        ),
        ("<Filter/><Status>Enabled</Status><Expiration><Days>soon</Days></Expiration>", "what Days of rule r means"),
        (
            "<Filter/><Status>Enabled</Status><Expiration><Date>2030-01-01</Date></Expiration>",
            "what Date of rule r means",
        ),
        ("<Filter/><Status>Enabled</Status><Expiration/>", "what Expiration of rule r means"),
        ("<Filter/><Status>Paused</Status>", "what Status of rule r means"),
        ("<Filter/><Expiration><Days>1</Days></Expiration>", "without Status"),
        ("<Status>Enabled</Status><Expiration><Days>1</Days></Expiration>", "reaches is not clear"),
        ("<Filter/><Prefix>a</Prefix><Status>Enabled</Status>", "reaches is not clear"),
        (
            "<Filter><Prefix>a</Prefix><ObjectSizeLessThan>5</ObjectSizeLessThan></Filter><Status>Enabled</Status>",
            "reaches is not clear",
        ),
        (
            "<Filter><Prefix>a</Prefix><Prefix>b</Prefix></Filter><Status>Enabled</Status>",
            "holds Prefix more than once",
        ),
        ("<Filter><Tag><Key>a</Key></Tag></Filter><Status>Enabled</Status>", "without Value"),
        (
            "<Filter/><Status>Enabled</Status><Transition><Days>1</Days><StorageClass>TAPE</StorageClass></Transition>",
            "what StorageClass of rule r means: 'TAPE'",
        ),
        (
            "<Filter/><Status>Enabled</Status><NoncurrentVersionExpiration><NewerNoncurrentVersions>1"
            "</NewerNoncurrentVersions></NoncurrentVersionExpiration>",
            "without NoncurrentDays",
        ),
    ],
)
def test_what_is_not_understood_is_in_no_command(xml, reason):
    sent = Lifecycle(
        split_rules(f"<LifecycleConfiguration><Rule><ID>r</ID>{xml}</Rule></LifecycleConfiguration>".encode())
    )

    with pytest.raises(UnknownRule) as told:
        cli_lifecycle(BUCKET, sent)
    assert reason in str(told.value)
    assert str(told.value).endswith(".")


def test_a_least_size_that_is_not_understood_is_in_no_command():
    with pytest.raises(UnknownRule, match="TransitionDefaultMinimumObjectSize"):
        cli_lifecycle(BUCKET, lifecycle(rule_with(("Prefix",)), minimum_size="none_at_all"))
