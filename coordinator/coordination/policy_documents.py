"""Policies of writers and readers as the page and `levee commits policy` give them."""

from dataclasses import dataclass
from typing import Any

from coordinator.coordination.least_policies import AccessKind, WriterEngine
from coordinator.coordination.writer_policies import PolicySubject, WriterPolicy, policy_of
from lake.delta.facts import Mechanism

WORDS = {WriterEngine.SPARK: "Spark", WriterEngine.DELTA_RS: "delta-rs 1.6.0"}


@dataclass(frozen=True, slots=True)
class ShownPolicy:
    """One policy on the page; `what` says whom it is for."""

    what: str
    policy: WriterPolicy


def shown_policies(subject: PolicySubject, mechanism: Mechanism) -> list[ShownPolicy]:
    """Of a writer and a reader by each engine, Spark's first."""
    return [
        ShownPolicy(f"A {kind.value} with {WORDS[engine]}", policy_of(subject, mechanism, kind, engine))
        for engine in WriterEngine
        for kind in AccessKind
    ]


def policy_json(policy: WriterPolicy, mechanism: Mechanism, kind: AccessKind, engine: WriterEngine) -> dict[str, Any]:
    """`levee commits policy --json`."""
    return {
        "mechanism": mechanism.value,
        "role": kind.value,
        "engine": engine.value,
        "name": policy.name,
        "policy": policy.document,
        "notes": list(policy.notes),
    }
