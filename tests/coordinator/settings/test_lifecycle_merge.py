"""One rule goes in, changes or goes out; every other rule leaves as it came, to the byte."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.settings.lifecycle_merge import (
    difference,
    multipart_rule_xml,
    temp_rule_xml,
    with_days,
    with_rule,
    without_rule,
)
from coordinator.settings.lifecycle_plans import BucketFacts, least_days, plan_lifecycle, temp_rule_id
from coordinator.settings.requests import NotPlanned, RemoveTempRule, SetTempRule
from lake.aws.lifecycle import Lifecycle, LifecycleUnreadable, parse_rule, split_rules
from tests.coordinator.settings.rules import configurations

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@given(configurations(), st.data())
def test_a_rule_that_is_changed_or_removed_leaves_every_other_byte_alone(made, data):
    body, rules = made
    before = Lifecycle(split_rules(body))
    named = [place for place, rule in enumerate(before.rules) if rule.id]
    if not named:
        return
    place = data.draw(st.sampled_from(named))
    rule_id = before.rules[place].id
    new = temp_rule_xml(rule_id, "t/_delta_log/.tmp/", 3, old_form=False, versioned=False)

    changed = split_rules(with_rule(before, new).body)
    removed = split_rules(without_rule(before, rule_id).body)

    assert [rule.xml for rule in changed] == [*rules[:place], new, *rules[place + 1 :]]
    assert [rule.xml for rule in removed] == [*rules[:place], *rules[place + 1 :]]


@given(configurations())
def test_what_was_written_reads_back_as_the_same_in_any_order(made):
    lifecycle = Lifecycle(split_rules(made[0]))
    shuffled = replace(lifecycle, rules=tuple(reversed(lifecycle.rules)))

    assert difference(lifecycle, shuffled) == ""
    if lifecycle.rules:
        assert difference(lifecycle, replace(lifecycle, rules=lifecycle.rules[1:]))
        assert difference(replace(lifecycle, rules=lifecycle.rules[1:]), lifecycle)


def test_a_rule_changed_by_somebody_is_named():
    one = parse_rule(temp_rule_xml("mine", "a/", 3, old_form=False, versioned=False))
    other = parse_rule(temp_rule_xml("mine", "a/", 9, old_form=False, versioned=False))
    besides = parse_rule(multipart_rule_xml("besides", 7, old_form=False))

    assert difference(Lifecycle((one,)), Lifecycle((other, besides))) == "rule besides and rule mine"
    assert difference(Lifecycle((one,)), Lifecycle()) == "rule mine"


def test_the_default_size_of_transitions_is_compared_too():
    assert "least size" in difference(
        Lifecycle((), "varies_by_storage_class"), Lifecycle((), "all_storage_classes_128K")
    )


def test_only_the_days_of_somebody_elses_rule_change():
    xml = (
        "<Rule><ID>theirs</ID><Filter><Prefix>t/_delta_log/.tmp/</Prefix></Filter><Status>Enabled</Status>"
        "<Transition><Days>1</Days><StorageClass>GLACIER_IR</StorageClass></Transition>"
        "<Expiration><Days>1</Days></Expiration></Rule>"
    )

    assert with_days(parse_rule(xml), 5) == xml.replace("<Expiration><Days>1<", "<Expiration><Days>5<")


OFFICIAL = parse_rule(temp_rule_xml("theirs", "sales/orders/_delta_log/.tmp", 1, old_form=False, versioned=False))


def test_a_rule_as_deltas_documentation_writes_it_is_changed_and_not_doubled():
    facts = BucketFacts("b", "eu-west-1", Lifecycle((OFFICIAL,)), tables={"sales/orders": None})

    plan = plan_lifecycle(SetTempRule("b", "sales/orders", 7), facts, NOW)

    assert plan.calls[0].rule == OFFICIAL.xml.replace("<Days>1<", "<Days>7<")


def test_a_rule_as_deltas_documentation_writes_it_may_be_removed():
    facts = BucketFacts("b", "eu-west-1", Lifecycle((OFFICIAL,)), tables={"sales/orders": None})

    assert plan_lifecycle(RemoveTempRule("b", "theirs"), facts, NOW).calls


@pytest.mark.parametrize("prefix", ["sales/orders/_delta_log/.tm", "sales/orders/_delta_log/", "sales/x.tmp/", ".tmp"])
def test_a_rule_on_more_than_temp_files_is_not_taken_for_one(prefix):
    wider = parse_rule(temp_rule_xml("theirs", prefix, 9, old_form=False, versioned=False))
    facts = BucketFacts("b", "eu-west-1", Lifecycle((wider,)), tables={"sales/orders": None})

    with pytest.raises(NotPlanned):
        plan_lifecycle(RemoveTempRule("b", "theirs"), facts, NOW)
    plan = plan_lifecycle(SetTempRule("b", "sales/orders", 7), facts, NOW)
    assert plan.calls[0].rule_id == temp_rule_id("sales/orders")


def test_a_plan_says_when_the_rule_would_take_the_commit_that_waits_now():
    waits_since = datetime(2026, 11, 19, 6, 30, tzinfo=UTC)
    facts = BucketFacts("b", "eu-west-1", Lifecycle(), tables={"sales/orders": waits_since})

    plan = plan_lifecycle(SetTempRule("b", "sales/orders", 7), facts, NOW)

    assert (
        "One waits since 19 Nov 2026 06:30 UTC: the rule takes its only copy at 27 Nov 2026 00:00 UTC, unless it is "
        "published before."
    ) in plan.consequences


@pytest.mark.parametrize(("seconds", "days"), [(0, 3), (86_400, 3), (2 * 86_400 + 1, 4), (9 * 86_400, 10)])
def test_a_temp_rule_outlives_the_longest_commit(seconds, days):
    assert least_days(seconds) == days
    facts = BucketFacts("b", "eu-west-1", Lifecycle(), tables={"t": None}, longest_commits={"t": seconds})

    assert plan_lifecycle(SetTempRule("b", "t", days), facts, NOW).calls
    with pytest.raises(NotPlanned):
        plan_lifecycle(SetTempRule("b", "t", days - 1), facts, NOW)


@pytest.mark.parametrize(("old_form", "holds"), [(True, "<Prefix>"), (False, "<Filter><Prefix>")])
def test_a_new_rule_takes_the_form_that_the_others_have(old_form, holds):
    standing = parse_rule(temp_rule_xml("x", "x/", 9, old_form=old_form, versioned=False))
    facts = BucketFacts("b", "eu-west-1", Lifecycle((standing,)), tables={"t": None})

    plan = plan_lifecycle(SetTempRule("b", "t"), facts, NOW)

    assert f"</ID>{holds}t/_delta_log/.tmp/" in plan.calls[0].rule


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html/>",
        b"<LifecycleConfiguration><Rule></LifecycleConfiguration>",
        b"<!DOCTYPE a [<!ENTITY b 'c'>]><LifecycleConfiguration/>",
        b'<LifecycleConfiguration><Rule a="1"/></LifecycleConfiguration>',
        b"<LifecycleConfiguration><x:Rule xmlns:x='y'/></LifecycleConfiguration>",
        b'<?xml version="1.0" encoding="ISO-8859-1"?><LifecycleConfiguration/>',
        b"\xff\xfe<LifecycleConfiguration/>",
    ],
)
def test_what_cannot_go_back_byte_for_byte_is_not_touched(body):
    with pytest.raises(LifecycleUnreadable):
        split_rules(body)
