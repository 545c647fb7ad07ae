"""What `make test` keeps of the dear tests is named by the beginnings of their names, which a renaming would void."""

import pytest
from django.conf import settings

from tests.choosing import KEPT


@pytest.mark.parametrize("name", KEPT)
def test_each_name_that_is_kept_is_one_of_a_test(name):
    file, _, test = name.partition("[")[0].partition("::")
    text = (settings.BASE_DIR / file).read_text()
    assert not test or f"\ndef {test}(" in text
