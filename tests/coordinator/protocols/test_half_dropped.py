"""A protocol that names coordinated commits while no property names a coordinator."""

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import State
from tests.builders.facts import coordinator_commit, listing, protocol, registration, staged_name, table_facts

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


def cut_before_its_publication(**facts):
    """The first commit of the drop is accepted and staged, and nobody has published it."""
    closed = registration(4, coordinator_commit(4), accepting=False)
    log = listing(staged=[staged_name(4)])
    return diagnose(table_facts(log, table_protocol=protocol(features=FEATURES), registrations=[closed], **facts))


def test_an_unpublished_commit_is_backfilled_before_the_drop_is_finished() -> None:
    verdict = cut_before_its_publication()

    meaning = next(one.meaning for one in verdict.findings if one.code == "half-dropped")
    assert "Backfill first, for commit 4 is accepted and not published." in meaning
    assert meaning.index("Backfill first") < meaning.index("drop once more")


def test_a_table_with_an_accepted_commit_that_is_not_published_is_not_called_safe() -> None:
    verdict = cut_before_its_publication()

    assert verdict.state is State.ATTENTION
    assert not any("is safe" in one.summary for one in verdict.findings)
    assert any(one.code == "unguarded-commit" and one.version == 4 for one in verdict.findings)


def test_nor_is_one_whose_registration_still_accepts_commits_that_its_metadata_does_not_know() -> None:
    accepting = registration(4, coordinator_commit(4))
    verdict = diagnose(table_facts(listing(staged=[staged_name(4)]), registrations=[accepting]))

    assert not any("is safe" in one.summary for one in verdict.findings)


def test_once_it_is_published_nothing_is_to_be_backfilled_first() -> None:
    closed = registration(3, coordinator_commit(3), accepting=False)
    log = listing(staged=[staged_name(3)])
    verdict = diagnose(table_facts(log, table_protocol=protocol(features=FEATURES), registrations=[closed]))

    codes = {one.code: one for one in verdict.findings}
    assert "Drop once more to finish" in codes["half-dropped"].meaning
    assert "Backfill" not in codes["half-dropped"].meaning
    assert "unguarded-commit" not in codes


def test_several_writers_do_not_hide_the_commit_that_waits() -> None:
    spark, rust = "Apache-Spark/4.2.0 Delta-Lake/4.4.0", "delta-rs:py-1.6.6"
    verdict = cut_before_its_publication(engines={1: spark, 2: rust, 3: spark})

    assert {"several-writers", "unguarded-commit"} <= {one.code for one in verdict.findings}
