"""Settings in each syntax, read back: by our readers, and by others where there are any."""

import ast
import json
import shlex
from collections.abc import Callable, Sequence

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from coordinator.coordination.pasting import cluster_conf, pyspark, spark_submit
from coordinator.writers import platforms
from coordinator.writers.pasted import PACKAGES, PastedSetting, PasteRefused
from coordinator.writers.reading_texts import MOST_BYTES, read_text

Pairs = list[tuple[str, str]]
JARS = ["io.delta:delta-spark_2.13:4.0.1"]


def spark_json(pairs: Pairs, packages: Sequence[str]) -> str:
    return json.dumps(dict([(PACKAGES, ",".join(packages)), *pairs]), indent=2, ensure_ascii=False)


WRITERS: dict[str, Callable[[Pairs, Sequence[str]], str]] = {
    "spark-submit": spark_submit,
    "PySpark": pyspark,
    "spark-defaults.conf": cluster_conf,
    "SparkApplication": platforms.kubernetes,
    "JSON": spark_json,
}
HOSTILE = [
    "it's",
    'a"b',
    "a\\b",
    "$HOME `id`",
    "é",
    "😀",
    "#x",
    "a=b:c",
    "${x}",
    "%s",
    "a,b",
    "\\u0041",
    "{}",
    "- x",
    ": x",
    "=x",
]
# Newlines and other controls are left out: a setting is one line in a properties file, and the reader refuses them.
# Blanks around a value are left out too: Spark trims what it reads from spark-defaults.conf.
VALUES = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20).map(str.strip),
)
KEYS = st.from_regex(r"spark\.[a-zA-Z0-9._-]{1,20}", fullmatch=True).filter(
    lambda key: not key.startswith(PACKAGES[:11])
)
SETTINGS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=6).map(lambda pairs: list(pairs.items()))


def pairs_in(text: str) -> Pairs:
    return [(entry.key, entry.value) for entry in read_text(text).entries if entry.key != PACKAGES]


@pytest.mark.parametrize("syntax", WRITERS)
@given(pairs=SETTINGS)
@example(pairs=[(f"spark.k{at}", value) for at, value in enumerate(HOSTILE)])
def test_settings_are_read_back_from_each_syntax(syntax: str, pairs: Pairs) -> None:
    pasted = read_text(WRITERS[syntax](pairs, JARS))

    assert pasted.syntax == syntax
    assert sorted((one.key, one.value) for one in pasted.entries) == sorted([*pairs, (PACKAGES, JARS[0])])


@given(pairs=SETTINGS)
def test_configurations_of_emr_are_read_back(pairs: Pairs) -> None:
    pasted = read_text(platforms.emr(pairs))

    assert (pasted.platform, pairs_in(platforms.emr(pairs))) == ("emr", pairs)


@given(pairs=SETTINGS)
def test_parameters_of_glue_are_read_back_or_refused_for_a_blank(pairs: Pairs) -> None:
    if any(len(value.split()) > 1 or (not value.isprintable() and value.split() != [value]) for _, value in pairs):
        with pytest.raises(PasteRefused, match="blank"):
            platforms.glue(pairs)
        return
    assert pairs_in(platforms.glue(pairs)) == pairs


@given(pairs=SETTINGS)
def test_other_readers_get_the_same_settings(pairs: Pairs) -> None:
    words = shlex.split(spark_submit(pairs, JARS))
    tree = ast.parse(pyspark(pairs, JARS))
    constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}

    assert [f"{key}={value}" for key, value in pairs] == [word for word in words if word.startswith("spark.")]
    assert {value for _, value in pairs} <= constants
    assert yaml.safe_load(platforms.kubernetes(pairs, JARS))["spec"]["sparkConf"] == dict(pairs)
    assert json.loads(platforms.emr(pairs))[0]["Properties"] == dict(pairs)


@pytest.mark.parametrize("syntax", WRITERS)
@given(pairs=SETTINGS, value=VALUES, data=st.data())
def test_a_text_is_rewritten_to_the_settings_it_shall_have(syntax: str, pairs: Pairs, value: str, data) -> None:
    """One setting is changed, one taken out and one added; the others stay as they are, in their order."""
    pasted = read_text(WRITERS[syntax](pairs, JARS))
    own = [entry for entry in pasted.entries if entry.key != PACKAGES]
    changed = data.draw(st.sampled_from(own))
    gone = data.draw(st.sampled_from(own))
    wanted = [
        PastedSetting("spark.changed", value, entry.at) if entry is changed else entry
        for entry in pasted.entries
        if entry is not gone
    ]
    added = PastedSetting("spark.added", value)

    text = pasted.rewritten([*wanted, added])

    after = [(one.key, one.value) for one in read_text(text).entries]
    assert sorted(after) == sorted((one.key, one.value) for one in [*wanted, added])
    assert [one for one in after if one[0] != "spark.added"] == [(one.key, one.value) for one in wanted]


@pytest.mark.parametrize("syntax", WRITERS)
def test_a_text_that_needs_no_change_stays_letter_for_letter(syntax: str) -> None:
    text = WRITERS[syntax]([("spark.a", "1")], JARS)
    pasted = read_text(text)

    assert pasted.rewritten(pasted.entries) == text


SUBMIT = r"""# nightly
export LAKE=s3a://lake
AWS_REGION=eu-west-1 /opt/spark/bin/spark-submit --master yarn \
  --conf "spark.a=one two" --conf spark.b="$LAKE/x" \
  --conf=spark.c=3 -c spark.d='it'\''s' --verbose \
  --packages io.delta:delta-spark_2.13:4.0.1 job.py --conf not=spark's s3://x
"""


def test_a_command_is_read_up_to_its_application() -> None:
    pasted = read_text(SUBMIT.replace("spark's", "sparks"))

    assert [(one.key, one.value, one.is_known) for one in pasted.entries] == [
        ("spark.a", "one two", True),
        ("spark.b", "", False),
        ("spark.c", "3", True),
        ("spark.d", "it's", True),
        (PACKAGES, "io.delta:delta-spark_2.13:4.0.1", True),
    ]


def test_what_stands_around_a_setting_in_a_command_stays() -> None:
    pasted = read_text(SUBMIT.replace("spark's", "sparks"))
    text = pasted.rewritten([one for one in pasted.entries if one.key != "spark.c"])

    assert text == SUBMIT.replace("spark's", "sparks").replace(" \\\n  --conf=spark.c=3", "")


SNIPPET = """from pyspark import SparkConf
from delta import configure_spark_with_delta_pip

größe = "ä"
conf = SparkConf().setAll([("spark.a", "1"), ("spark.b", TABLE)])
conf.set("spark.c", True)
builder = (
    SparkSession.builder.appName("x")  # a comment with "spark.x"
    .config("spark.d", f"{größe}")
    .config(
        "spark.e",
        'e',
    ).config(map={"spark.f": "6", "spark.g": 7})
)
spark = configure_spark_with_delta_pip(builder, extra_packages=["org.apache.hadoop:hadoop-aws:3.4.1"]).getOrCreate()
spark.conf.set("spark.h", "8")
"""


def test_a_snippet_is_read_in_all_its_forms_and_never_run() -> None:
    found = {one.key: (one.value, one.is_known) for one in read_text(SNIPPET).entries}

    assert found == {
        "spark.a": ("1", True),
        "spark.b": ("", False),
        "spark.c": ("true", True),
        "spark.d": ("", False),
        "spark.e": ("e", True),
        "spark.f": ("6", True),
        "spark.g": ("7", True),
        PACKAGES: ("org.apache.hadoop:hadoop-aws:3.4.1", True),
        "spark.h": ("8", True),
    }
    assert read_text(SNIPPET).brings_delta


@pytest.mark.parametrize("key", ["spark.a", "spark.c", "spark.d", "spark.e", "spark.f", "spark.g", "spark.h"])
def test_each_form_of_a_snippet_can_be_changed_and_taken_out(key: str) -> None:
    pasted = read_text(SNIPPET)
    others = [one for one in pasted.entries if one.key != key]
    own = next(one for one in pasted.entries if one.key == key)

    without = read_text(pasted.rewritten(others))
    changed = read_text(pasted.rewritten([*others, PastedSetting("spark.ö", "ß", own.at)]))

    assert [one.key for one in without.entries] == [one.key for one in others]
    assert ("spark.ö", "ß") in [(one.key, one.value) for one in changed.entries]
    assert len(changed.entries) == len(pasted.entries)


CLUSTER = {
    "cluster_name": "x",
    "spark_conf": {"spark.a": "1", "spark.b": True},
    "libraries": [{"maven": {"coordinates": "a:b:1"}}, {"whl": "x"}],
}


def test_a_cluster_of_databricks_keeps_what_is_not_changed() -> None:
    pasted = read_text(json.dumps(CLUSTER))
    wanted = [one for one in pasted.entries if one.key != "spark.a"]

    document = json.loads(pasted.rewritten([*wanted, PastedSetting("spark.c", "3")]))

    assert document == {**CLUSTER, "spark_conf": {"spark.b": True, "spark.c": "3"}}


def test_hadoops_settings_of_emr_stay_in_their_place() -> None:
    sites = [{"Classification": "core-site", "Properties": {"fs.s3a.performance.flags": "create"}}]
    pasted = read_text(json.dumps(sites))
    assert [one.key for one in pasted.entries] == ["spark.hadoop.fs.s3a.performance.flags"]

    document = json.loads(pasted.rewritten([PastedSetting("spark.a", "1")]))

    assert document == [
        {"Classification": "core-site", "Properties": {}},
        {"Classification": "spark-defaults", "Properties": {"spark.a": "1"}},
    ]


YAML = """apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
spec:
  deps:
    packages:
    - io.delta:delta-spark_2.13:4.0.1
    - 'a:b:1'
  sparkConf:
    # why
    spark.a: plain   # said
    "spark.b": "tab\\there"
    spark.c: 'it''s'
  hadoopConf:
    fs.s3a.performance.flags: create
"""


def test_an_application_of_the_operator_is_read_as_yaml_reads_it() -> None:
    spec = yaml.safe_load(YAML)["spec"]

    found = {one.key: one.value for one in read_text(YAML).entries}

    hadoop = {f"spark.hadoop.{key}": value for key, value in spec["hadoopConf"].items()}
    assert found == spec["sparkConf"] | hadoop | {PACKAGES: ",".join(spec["deps"]["packages"])}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "No setting"),
        ("spark-submit job.py", "No setting"),
        ("x = 1\nbuilder.config(", "line 2"),
        ('{"spark.a": ', "line 1, column"),
        ('{"spark.a": "1", "spark.a": "2"}', "twice"),
        ("[" * 100_000, "no JSON|nested too deeply"),
        ("x.config(" + "(" * 5_000, "no Python"),
        ("spark-submit --conf 'spark.a=secret", "line 1 is never closed"),
        ("spark-submit --conf a=b x.py\nspark-submit --conf a=c x.py", "Two commands"),
        ("spark.a \\u12", "Line 1"),
        ("spark.a \\ud800", "half a character"),
        ("spark.a \x00", "control character"),
        ("kind: x\nsparkConf:\n  spark.a: &x secret", "Line 3"),
        ("kind: x\nsparkConf: {spark.a: secret}", "no block"),
        ("spark.a " + "x" * MOST_BYTES, "256 KiB"),
        (json.dumps({"a": {"spark_conf": {"spark.a": "1"}}, "b": {"spark_conf": {}}}), "several"),
    ],
)
def test_what_cannot_be_read_is_refused_without_quoting_it(text: str, words: str) -> None:
    with pytest.raises(PasteRefused, match=words) as refused:
        read_text(text)
    assert "secret" not in str(refused.value)


COMMENTED = """spark = (
    SparkSession.builder  # the session
    .config("spark.a", "1")  # ours
    .config(  # theirs
        "spark.b", "2")
    .config("spark.c", "3").getOrCreate()  # at last
)
"""


@pytest.mark.parametrize("key", ["spark.a", "spark.b", "spark.c"])
def test_comments_between_calls_stay_and_swallow_nothing(key: str) -> None:
    pasted = read_text(COMMENTED)
    others = [one for one in pasted.entries if one.key != key]

    text = pasted.rewritten([*others, PastedSetting("spark.new", "4")])

    assert [one.key for one in read_text(text).entries] == [*(one.key for one in others), "spark.new"]
    assert ".getOrCreate()" in ast.unparse(ast.parse(text))
    assert "# ours" in text


def test_a_new_call_stands_on_a_line_of_its_own_as_the_others_do() -> None:
    pasted = read_text('b = SparkSession.builder \\\n    .config("spark.a", "1") \\\n    .getOrCreate()\n')

    text = pasted.rewritten([*pasted.entries, PastedSetting("spark.b", "2")])

    assert '\n    .config("spark.a", "1") \\\n    .config("spark.b", "2") \\\n    .getOrCreate()' in text
