"""A protocol that names coordinated commits while no property names a coordinator."""

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import State
from tests.builders.facts import listing, protocol, registration, table_facts

FEATURES = ("coordinatedCommits-preview", "inCommitTimestamp", "vacuumProtocolCheck")


def found(code: str, **facts):
    verdict = diagnose(table_facts(listing(), **facts))
    return verdict.state, [one for one in verdict.findings if one.code == code]


def test_a_closed_registration_and_the_feature_are_a_drop_stopped_half_way() -> None:
    given = {"table_protocol": protocol(features=FEATURES), "registrations": [registration(3, accepting=False)]}

    state, findings = found("half-dropped", **given)

    assert state is State.ATTENTION
    assert "Drop once more to finish, or enable again to undo." in findings[0].meaning
    assert findings[0].evidence["closed_registrations"]


def test_a_clone_that_took_the_feature_along_is_healthy() -> None:
    state, findings = found("feature-without-coordinator", table_protocol=protocol(features=FEATURES))

    assert state is State.HEALTHY
    assert len(findings) == 1


def test_a_finished_drop_says_neither() -> None:
    given = {"table_protocol": protocol(features=FEATURES[1:]), "registrations": [registration(3, accepting=False)]}

    assert found("half-dropped", **given) == (State.HEALTHY, [])
    assert found("feature-without-coordinator", **given)[1] == []
