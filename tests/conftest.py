"""What every test shares: it leaves no tape recording and no hook listening behind."""

import pytest

from autodiff_edu import rules
from autodiff_edu.events import active

rules.complete()  # tests that read the table want all of it


@pytest.fixture(autouse=True)
def clean_stack():
    yield
    tapes, hooks = active.tapes, active.hooks
    active.tapes, active.hooks = (), ()
    assert tapes == (), f"the test left {len(tapes)} tapes recording"
    assert hooks == (), f"the test left {len(hooks)} hooks listening"
