"""Whatever befalls a table: no repair loses or makes up a commit, and what is offered is what can be planned."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.schedules.clock import Clock
from tests.schedules.lives import LIVES, Life, events, life

Make = Callable[[Clock], Life]


@pytest.mark.parametrize("make", LIVES)
@given(st.data())
def test_repairs_lose_nothing_invent_nothing_and_come_to_an_end(make: Make, data: st.DataObject) -> None:
    happened = data.draw(events(*LIVES[make]))
    with life(make) as table:
        for event in happened:
            table.happen(event)
        table.end()
