"""Whatever items and listings hold, diagnosis answers, and its answers hold together."""

from datetime import timedelta
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from coordinator.protocols.absence import missed, withhold
from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.judgement import worst_first
from coordinator.protocols.needed_facts import wanted_comparisons, wanted_heads
from coordinator.protocols.verdict import Severity, State
from lake.delta.facts import (
    CoordinatorCommit,
    LockDomain,
    LogListing,
    LogObject,
    LogStoreEntry,
    Mechanism,
    Provenance,
    ReadingProblem,
    Registration,
    TableFacts,
)
from tests.builders.facts import (
    NOW,
    TABLE_ID,
    URI,
    commit_name,
    coordinated_protocol,
    log_object,
    protocol,
    staged_name,
    temp_name,
)

few = st.integers(0, 6)
versions = st.one_of(few, few, st.sampled_from([-1, -(2**70), 2**63 - 1, 2**63, 10**19, 10**30]))
numbers = st.one_of(st.none(), st.integers(-(2**70), 2**70))
flags = st.one_of(st.none(), st.booleans())
names = st.one_of(
    few.map(temp_name),
    few.map(staged_name),
    few.map(lambda v: staged_name(v).partition("/")[2]),
    st.just("_commit_5f0c.json.tmp"),
    st.text(max_size=30),
    st.sampled_from(["../../x", "/", "", ".tmp/", "\x00", "9" * 20 + ".json", "٣" * 20 + ".json"]),
)
paths = st.sampled_from(
    [URI, URI, URI, "s3://lake/orders", "s3a://lake/Orders", "s3a://lake/order%73", "s3a://lake/%ff", "", "file:/x"]
)
log_stores = st.sampled_from(["delta_log", "delta_log", "delta_log_eu"])
objects = st.builds(log_object, names, size=st.integers(-1, 1_001), age=st.floats(-1e6, 1e6))
problems = st.lists(st.text(max_size=20), max_size=2).map(tuple)
entries = st.builds(
    LogStoreEntry,
    table_path=paths,
    file_name=st.one_of(few.map(commit_name), st.text(max_size=8)),
    version=st.one_of(st.none(), versions),
    temp_path=st.one_of(st.none(), names),
    complete=flags,
    expire_time=numbers,
    commit_time=numbers,
    problems=problems,
)
elements = st.builds(CoordinatorCommit, versions, names, numbers, numbers, numbers)
registrations = st.builds(
    Registration,
    table_id=st.sampled_from([TABLE_ID, TABLE_ID, "other", ""]),
    path=paths,
    table_version=st.one_of(st.none(), versions),
    table_timestamp=numbers,
    accepting_commits=flags,
    has_accepted_commits=flags,
    schema_version=st.sampled_from([None, 0, 1, 1, 1, 2]),
    commits=st.lists(elements, max_size=4).map(tuple),
    problems=problems,
    store=st.sampled_from(["commits", "commits", "commits_eu"]),
)
looked_up = st.one_of(names, few.map(commit_name), few.map(temp_name), few.map(staged_name))
file_lists = st.one_of(st.none(), st.lists(objects, max_size=5).map(tuple))
moments = st.one_of(st.none(), st.floats(-1e6, 1e6).map(lambda age: NOW - timedelta(seconds=age)))
etags = st.one_of(st.none(), st.sampled_from(["e", "", "9e107d9d372bb6826bd81d3542a419d6", "9e107d9d-2"]))
seen_before = st.builds(
    Provenance,
    version=versions,
    size=numbers,
    etag=etags,
    digest=etags,
    copy_etag=etags,
    in_commit_timestamp=numbers,
    commit_timestamp=numbers,
    seen_at=moments,
    absent_at=moments,
    store=st.sampled_from([None, "delta_log", ""]),
    lock_domain=st.one_of(st.none(), paths),
    file_name=st.one_of(st.none(), names),
    accepted_size=numbers,
    accepted_etag=etags,
    accepted_timestamp=numbers,
    accepted_at=moments,
    disputed=st.booleans(),
)


@st.composite
def facts(draw: st.DrawFn) -> TableFacts:
    """Facts of one table as bad as an edited store and a strange bucket can make them."""
    published = draw(st.sets(versions, max_size=6))
    checkpoints = draw(st.sets(versions, max_size=2))
    log = LogListing(
        from_version=draw(few),
        commits={v: log_object(f"{v}.json", age=draw(st.floats(-1e5, 1e6))) for v in published},
        checkpoints={v: (LogObject(f"{abs(v):020d}.checkpoint.parquet", 1, NOW, ""),) for v in checkpoints},
        temp_files=draw(file_lists),
        staged=draw(file_lists),
    )
    domains: dict[LockDomain, tuple[LogStoreEntry, ...]] = {}
    for store, one in draw(st.lists(st.tuples(log_stores, entries), max_size=6)):
        domain = LockDomain(store, one.table_path)
        domains[domain] = (*domains.get(domain, ()), one)
    return TableFacts(
        uri=URI,
        mechanism=draw(st.sampled_from(Mechanism)),
        observed_at=NOW,
        listing=log,
        entries=domains,
        registrations=draw(st.lists(registrations, max_size=3).map(tuple)),
        protocol=draw(st.sampled_from([None, protocol(), coordinated_protocol(), coordinated_protocol("")])),
        heads=draw(st.dictionaries(looked_up, st.one_of(st.none(), objects), max_size=4)),
        equal_bytes=draw(st.dictionaries(names, st.booleans(), max_size=3)),
        problems=draw(
            st.lists(st.builds(ReadingProblem, st.text(max_size=12), st.text(max_size=12)), max_size=2).map(tuple)
        ),
        ttl_seconds=draw(st.sampled_from([0, 60, 86_400])),
        provenance={one.version: one for one in draw(st.lists(seen_before, max_size=5))},
    )


@given(facts())
def test_a_verdict_holds_together_whatever_was_read(given_facts: TableFacts) -> None:
    verdict = diagnose(given_facts)

    assert verdict.findings == worst_first(verdict.findings)
    assert all(a.state.rank <= b.state.rank for a, b in pairwise(verdict.findings))
    assert verdict.state is (verdict.findings[0].state if verdict.findings else State.HEALTHY)
    assert len({(one.code, one.version) for one in verdict.findings}) == len(verdict.findings)
    assert verdict.summary
    if verdict.published_version is not None:
        assert verdict.accepted_version is not None
        assert verdict.accepted_version >= verdict.published_version
    shown = [*verdict.unpublished, *(one.version for one in verdict.entries)]
    shown += [one.version for one in verdict.findings if one.version is not None]
    assert all(0 <= version < 2**63 for version in shown)


STRANGE = LogListing(0, {}, {-1: (LogObject(f"{1:020d}.checkpoint.parquet", 1, NOW, ""),)})
NUMBERED = tuple(LogStoreEntry(URI, commit_name(0), version, None, None, None, None) for version in (None, -(2**70)))


@example(TableFacts(URI, Mechanism.LOG_STORE, NOW, STRANGE, {LockDomain("delta_log", URI): NUMBERED}))
@given(facts())
def test_one_look_alone_pages_nobody_for_what_it_did_not_see(given_facts: TableFacts) -> None:
    first = diagnose(given_facts)
    alone, twice = withhold(first, (), "why"), withhold(first, missed(first.findings), "why")

    assert not [one for one in alone.findings if one.severity is Severity.CRITICAL and one.absent]
    assert alone.state is not State.HEALTHY or first.state is State.HEALTHY
    assert twice == first


@given(facts())
def test_nothing_outside_the_log_is_ever_asked_for(given_facts: TableFacts) -> None:
    heads = wanted_heads(given_facts)
    asked = [*heads, *(name for pair in wanted_comparisons(given_facts) for name in pair[1:])]

    assert all(".." not in name.split("/") and not name.startswith("/") and name.isprintable() for name in asked)
    assert len({*wanted_heads(given_facts), *given_facts.heads}) == len(wanted_heads(given_facts)) + len(
        given_facts.heads
    )
