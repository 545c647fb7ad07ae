"""The rules: those of day one, which of them speaks of which problem, and how problems become alerts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.alerts.models import Rule
from dashboard.alerts.problems import SEVERITIES, Problem, ProblemSeverity, kind_named, kinds

LONGEST_CAUSE = 200


def ensure_default_rules(**_: Any) -> None:
    """Add the rule of each kind that has none; what an admin has changed stays. Runs after every migration."""
    known = set(Rule.objects.values_list("name", flat=True))
    missing = [Rule(kind=kind.name, name=kind.words, threshold=kind.threshold) for kind in kinds()]
    Rule.objects.bulk_create([rule for rule in missing if rule.name not in known], ignore_conflicts=True)


@dataclass(frozen=True)
class ProblemGroup:
    """Every problem of one cause under one rule, worst and oldest first."""

    rule: Rule
    cause: str
    problems: tuple[Problem, ...]

    @property
    def severity(self) -> ProblemSeverity:
        return max((problem.severity for problem in self.problems), key=SEVERITIES.index)

    @property
    def first(self) -> Problem:
        return self.problems[0]

    @property
    def headline(self) -> str:
        """One sentence for all of them."""
        if len(self.problems) == 1:
            return self.first.headline[:400]
        return f"{self.title}: {listed(self.subjects)}."[:400]

    @property
    def title(self) -> str:
        """The sort of trouble, in a few words."""
        kind = kind_named(self.first.kind)
        return self.first.title or (kind.words if kind else self.first.kind)

    @property
    def subjects(self) -> tuple[str, ...]:
        """What they are about, in their order."""
        return tuple(problem.subject or problem.headline.rstrip(".") for problem in self.problems)

    @property
    def next_step(self) -> str:
        """The first thing to do: one for all of them, or that of the first with its name."""
        steps = {problem.next_step for problem in self.problems}
        first = self.first.next_step
        if len(steps) == 1 or not first:
            return first
        return f"{self.subjects[0]}: {first}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Some names, and how many more there are."""
    more = len(names) - most
    return f"{', '.join(names[:most])}{f' and {more:,} more' if more > 0 else ''}"


def groups_of(problems: Iterable[Problem], rules: Sequence[Rule]) -> list[ProblemGroup]:
    """Give each problem to the narrowest rule of its kind, leave out what stays below it, and group the rest.

    Of two problems with one key the first counts.
    """
    grouped: dict[tuple[int, str], list[Problem]] = defaultdict(list)
    by_pk = {rule.pk: rule for rule in rules}
    by_key: dict[str, Problem] = {}
    for problem in problems:
        by_key.setdefault(problem.key, problem)
    for problem in by_key.values():
        rule = rule_for(problem, rules)
        if rule is not None and is_told(problem, rule):
            grouped[rule.pk, problem.cause[:LONGEST_CAUSE]].append(problem)
    return [
        ProblemGroup(by_pk[pk], cause, tuple(sorted(members, key=_worst_first)))
        for (pk, cause), members in grouped.items()
    ]


def rule_for(problem: Problem, rules: Iterable[Rule]) -> Rule | None:
    """Return the narrowest rule whose kind and scope fit; a rule that is switched off silences what it covers."""
    fitting = [rule for rule in rules if rule.kind == problem.kind and covers(rule, problem)]
    return max(fitting, key=lambda rule: (rule.narrowness, -rule.pk), default=None)


def covers(rule: Rule, problem: Problem) -> bool:
    """Say whether the problem lies within the rule's connection, prefix and plan."""
    return (
        (rule.connection_id is None or rule.connection_id == problem.connection)
        and (not rule.prefix or problem.uri.startswith(rule.prefix))
        and (not rule.plan or rule.plan == problem.plan)
    )


def is_told(problem: Problem, rule: Rule) -> bool:
    """Say whether it is bad enough for the rule."""
    kind = kind_named(problem.kind)
    grave = SEVERITIES.index(problem.severity) >= SEVERITIES.index(rule.least_severity)
    return rule.is_enabled and kind is not None and grave and kind.reaches(problem.measure, rule.threshold)


def _worst_first(problem: Problem) -> tuple[int, float, str]:
    return (-SEVERITIES.index(problem.severity), problem.since.timestamp(), problem.key)
