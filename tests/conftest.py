"""What every test shares: it leaves no tape recording, no hook listening, no scope open and no rule behind."""

import gc
import sys

import pytest

from autodiff_edu import rules
from autodiff_edu.core.active import active, listen
from autodiff_edu.custom.call import Custom
from autodiff_edu.explain.journal import journal
from autodiff_edu.text import places
from autodiff_edu.trace.scopes import opened

rules.complete()  # tests that read the table want all of it

if trampoline := sys.modules.get("mutmut.mutation.trampoline"):
    places.is_ours[trampoline.__file__] = True  # calls of a mutant go through it: it is no code of a user's


def pytest_collection_finish():
    """Tell the garbage collector that the tests themselves stay: it would look through all of them time and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def clean_stack():
    known = lasting_rules()
    journal.clear()  # else `explain` looks through what the tests before computed
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
