"""What every test shares: it leaves no tape recording, no hook listening, no scope open and no rule behind."""

import pytest

from autodiff_edu import rules
from autodiff_edu.core.active import active, listen
from autodiff_edu.custom.call import Custom
from autodiff_edu.explain.journal import journal
from autodiff_edu.trace.scopes import opened

rules.complete()  # tests that read the table want all of it


@pytest.fixture(autouse=True)
def clean_stack():
    known = lasting_rules()
    yield
    listeners, hooks, scopes = active.listeners, active.hooks, opened.names
    listen(journal)
    active.hooks, opened.names = (), ()
    assert listeners == (journal,), f"the test left {listeners} listening"
    assert hooks == (), f"the test left {len(hooks)} hooks listening"
    assert scopes == (), f"the test left {len(scopes)} scopes open"
    assert lasting_rules() == known, "the test left a rule behind, or took one out"


def lasting_rules():
    """The operations that have a rule, but for custom gradients, whose rules go with their functions."""
    return {operation for operation in rules.RULES if not isinstance(operation, Custom)}


@pytest.fixture
def path(tmp_path):
    """Where a test saves a function."""
    return tmp_path / "function.ad"
