"""Lifecycle rules: one put into a bucket's or taken out, every other left as it is byte for byte."""

from collections import Counter
from dataclasses import replace
from xml.sax.saxutils import escape

from coordinator.protocols.wording import joined
from lake.aws.lifecycle import Lifecycle, RawRule, Tree, parse_rule


def temp_rule_xml(rule_id: str, prefix: str, days: int, *, old_form: bool, versioned: bool) -> str:
    """A rule that deletes objects under a key prefix after `days`; where versions are kept, old ones as late again."""
    where = f"<Prefix>{escape(prefix)}</Prefix>"
    old_versions = "<NoncurrentVersionExpiration><NoncurrentDays>{}</NoncurrentDays></NoncurrentVersionExpiration>"
    return (
        f"<Rule><ID>{escape(rule_id)}</ID>"
        f"{where if old_form else f'<Filter>{where}</Filter>'}<Status>Enabled</Status>"
        f"<Expiration><Days>{days}</Days></Expiration>{old_versions.format(days) if versioned else ''}</Rule>"
    )


def multipart_rule_xml(rule_id: str, days: int, *, old_form: bool) -> str:
    """A rule for the whole bucket that ends uploads which were begun and not finished within `days`."""
    where = "<Prefix></Prefix>" if old_form else "<Filter><Prefix></Prefix></Filter>"
    return (
        f"<Rule><ID>{escape(rule_id)}</ID>{where}<Status>Enabled</Status><AbortIncompleteMultipartUpload>"
        f"<DaysAfterInitiation>{days}</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>"
    )


def uses_old_form(lifecycle: Lifecycle) -> bool:
    """Whether a new rule has to name its prefix beside its status: S3 takes no configuration that mixes both forms."""
    return any(rule.old_form for rule in lifecycle.rules)


def with_rule(lifecycle: Lifecycle, xml: str) -> Lifecycle:
    """The same with this rule in the place of the one of its ID, or behind all others.

    Raises lake.aws.lifecycle.LifecycleUnreadable where `xml` is not one rule.
    """
    rule = parse_rule(xml)
    if any(one.id == rule.id for one in lifecycle.rules):
        return replace(lifecycle, rules=tuple(rule if one.id == rule.id else one for one in lifecycle.rules))
    return replace(lifecycle, rules=(*lifecycle.rules, rule))


def without_rule(lifecycle: Lifecycle, rule_id: str) -> Lifecycle:
    """The same without the rule of that ID."""
    return replace(lifecycle, rules=tuple(one for one in lifecycle.rules if one.id != rule_id))


def with_days(rule: RawRule, days: int) -> str:
    """The rule's XML with another number of days after which it deletes, all else as it is; "" where it names none."""
    expiration = next((part for part in rule.tree[2] if part[0] == "Expiration"), None)
    found = next((part[1] for part in expiration[2] if part[0] == "Days"), "") if expiration else ""
    start = rule.xml.find("<Expiration>")
    old = f"<Days>{found}</Days>"
    at = rule.xml.find(old, start) if found and start >= 0 else -1
    if at < 0:
        return ""
    return f"{rule.xml[:at]}<Days>{days}</Days>{rule.xml[at + len(old) :]}"


def difference(wanted: Lifecycle, found: Lifecycle) -> str:
    """What of what S3 says now differs from what was to be written; "" where both mean the same.

    Compared is what each rule holds, not its bytes: S3 may write a rule down in another order.
    """
    ours, theirs = Counter(rule.tree for rule in wanted.rules), Counter(rule.tree for rule in found.rules)
    names = sorted({_name(tree) for tree in (ours - theirs) + (theirs - ours)})
    if len(names) > 5:
        names = [*names[:5], f"{len(names) - 5} more"]
    if not names and wanted.minimum_size and found.minimum_size and wanted.minimum_size != found.minimum_size:
        return f"the least size for transitions is {found.minimum_size}, not {wanted.minimum_size}"
    return joined(names)


def _name(tree: Tree) -> str:
    found = next((part[1] for part in tree[2] if part[0] == "ID"), "")
    return f"rule {found}" if found else "a rule without a name"
