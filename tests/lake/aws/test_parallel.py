"""Merging iterators that threads pull."""

import threading

import pytest

from lake.aws.parallel import merge
from tests.waiting import scaled


def test_results_of_all_sources_come():
    assert sorted(merge([iter([1, 2]), iter([3]), iter([])])) == [1, 2, 3]


def test_no_source_is_no_result():
    assert list(merge([])) == []


def test_sources_run_at_once():
    both = threading.Barrier(2, timeout=scaled(5))

    def source():
        both.wait()
        yield 1

    assert list(merge([source(), source()])) == [1, 1]


def test_a_failure_of_any_source_is_raised():
    def failing():
        yield 1
        raise ValueError("segment 2")

    with pytest.raises(ValueError, match="segment 2"):
        list(merge([iter([1]), failing()]))


def test_nothing_runs_before_the_first_result_is_asked_for():
    before = threading.active_count()
    merge([iter([1])])
    assert threading.active_count() == before
