"""A job is asked for, and worked on, with the parameters that its kind takes, and no others."""

from typing import NotRequired, TypedDict

import pytest

from dashboard.accounts.actor import Actor
from dashboard.jobs.actions import submit
from dashboard.jobs.context import JobContext
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job
from dashboard.jobs.registry import ParamsUnfit, job_kind, kind_named, kind_names
from tests.dashboard.jobs.builders import job

pytestmark = pytest.mark.django_db
LACKS = "A job of the kind 'test-greet' lacks name"
HAS = "has nmae, which the kind does not know"


class Named(TypedDict):
    name: str


class GreetParams(Named):
    loudly: NotRequired[bool]


@job_kind("test-greet")
def greet(context: JobContext, params: GreetParams) -> str:
    return f"Hello {params['name']}."


def test_a_key_of_an_inherited_type_is_needed_and_one_that_is_not_required_is_not() -> None:
    made = submit(Actor.command(), "test-greet", "Greet", params=GreetParams(name="Maya"))

    execute(made.pk, "w1")

    made.refresh_from_db()
    assert made.message == "Hello Maya."


@pytest.mark.parametrize(("params", "told"), [({}, LACKS), ({"nmae": "Maya"}, f"{LACKS} and {HAS}")])
def test_a_job_with_other_keys_is_not_queued(params: dict[str, str], told: str) -> None:
    with pytest.raises(ParamsUnfit, match=told):
        submit(Actor.command(), "test-greet", "Greet", params=params)

    assert not Job.objects.exists()


def test_a_job_that_another_release_queued_with_other_keys_fails_with_a_sentence() -> None:
    made = job(kind="test-greet", params={"name": "Maya", "nmae": "Maya"})

    execute(made.pk, "w1")

    made.refresh_from_db()
    assert (made.state, made.error_code) == ("failed", "ParamsUnfit")
    assert made.message.startswith(f"A job of the kind 'test-greet' {HAS}")


@pytest.mark.parametrize("name", [name for name in kind_names() if not name.startswith("test-")])
def test_each_kind_declares_its_keys(name: str) -> None:
    kind = kind_named(name)

    with pytest.raises(ParamsUnfit, match="which the kind does not know"):
        kind.check({"something": "else"})
    kind.check(dict.fromkeys(kind.params.__required_keys__))
