"""Which file a version's provenance names as the accepted one."""

import pytest

from lake.delta.facts import Provenance
from tests.builders.facts import provenance, staged_name, temp_name


@pytest.mark.parametrize("folder", ["_staged_commits", "_commits"])
def test_a_staged_file_is_the_accepted_one_in_either_folder(folder: str) -> None:
    seen = provenance(4, store="commits", file_name=staged_name(4).rpartition("/")[2])

    assert seen.accepted(staged_name(4, folder=folder))
    assert not seen.accepted(staged_name(4, uid="a0", folder=folder))


def test_a_temp_file_is_the_accepted_one_by_its_name() -> None:
    seen = provenance(4, store="delta_log", file_name=temp_name(4))

    assert seen.accepted(temp_name(4))
    assert not seen.accepted(temp_name(4, uid="a0"))


def test_of_a_version_whose_file_is_not_known_no_file_is_the_accepted_one() -> None:
    assert not Provenance(4).accepted("")
    assert not Provenance(4).is_accepted
