"""Policies of writers and readers as the page and `levee commits policy` give them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coordinator.coordination.least_policies import AccessKind, WriterEngine
from coordinator.coordination.policy_forms import PolicyForms
from coordinator.coordination.writer_policies import PolicySubject, policy_of
from lake.delta.facts import Mechanism

FORMATS = ("json", "terraform", "cloudformation")
WORDS = {WriterEngine.SPARK: "Spark", WriterEngine.DELTA_RS: "delta-rs 1.6.0"}


@dataclass(frozen=True, slots=True)
class ShownPolicy:
    """One policy on the page; `what` says whom it is for."""

    what: str
    forms: PolicyForms


def shown_policies(subject: PolicySubject, mechanism: Mechanism) -> list[ShownPolicy]:
    """Of a writer and a reader by each engine, Spark's first."""
    return [
        ShownPolicy(f"A {kind.value} with {WORDS[engine]}", policy_of(subject, mechanism, kind, engine))
        for engine in WriterEngine
        for kind in AccessKind
    ]


def policy_json(forms: PolicyForms, mechanism: Mechanism, kind: AccessKind, engine: WriterEngine) -> dict[str, Any]:
    """`levee commits policy --json`."""
    return {
        "mechanism": mechanism.value,
        "role": kind.value,
        "engine": engine.value,
        "name": forms.name,
        "policy": forms.document,
        "notes": list(forms.notes),
        "terraform": forms.terraform,
        "cloudformation": forms.cloudformation,
    }


def policy_text(forms: PolicyForms, form: str) -> Iterator[str]:
    """The text to paste alone; notes go where the language has a place for them."""
    if form != "json":
        yield from (f"# {note}" for note in forms.notes)
    yield {"json": forms.json, "terraform": forms.terraform, "cloudformation": forms.cloudformation}[form]
