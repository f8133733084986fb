"""What every test shares: it leaves no tape recording, no hook listening, no scope open and no rule behind."""

import gc
import sys

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from autodiff_edu import rules
from autodiff_edu.core.active import listen, now
from autodiff_edu.explain.journal import journal
from autodiff_edu.text import frames
from autodiff_edu.trace.scopes import _scopes, opened

rules.complete()  # tests that read the table want all of it

if trampoline := sys.modules.get("mutmut.mutation.trampoline"):
    frames.is_ours[trampoline.__file__] = True  # calls of a mutant go through it: it is not a user's code


FIRST = ("tests/book/", "tests/browser/", "notebooks/")
"""What drives Sphinx, Chromium or kernels: its files take the longest. Seconds are enough for each of the others, so
that no worker waits long for the other at the end."""


def pytest_configure(config):
    """Have hypothesis draw the same examples with the same imports; with `-m exhaustive`, three times as many."""
    settings.register_profile(
        "each time", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=100
    )
    settings.register_profile("exhaustive", settings.get_profile("each time"), max_examples=300)
    settings.load_profile("exhaustive" if is_exhaustive(config) else "each time")


def is_exhaustive(config):
    return config.option.markexpr == "exhaustive"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))
    for item in items:
        if is_exhaustive(config) and draws(item):
            item.add_marker("exhaustive")


def draws(item):
    """Whether hypothesis draws the test's arguments, or those of a function within it."""
    return is_hypothesis_test(getattr(item, "obj", None)) or item.get_closest_marker("hypothesis") is not None


@pytest.fixture(autouse=True, scope="module")
def what_stays():
    """Spare the garbage collector the tests and what they import: it would look through them time and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def clean_stack():
    known = lasting_rules()
    journal.clear()  # else `explain` looks through what the tests before computed
    yield
    listeners, scopes = now().listeners, opened.names
    listen(journal)
    _scopes.set(())
    assert listeners == (journal,), f"the test left {listeners} listening"
    assert scopes == (), f"the test left {len(scopes)} scopes open"
    assert lasting_rules() == known, "the test left a rule behind, or took one out"


def lasting_rules():
    """The operations that have a rule in the table."""
    return set(rules.RULES)


@pytest.fixture
def path(tmp_path):
    """Where a test saves a function."""
    return tmp_path / "function.ad"


@pytest.fixture
def shell():
    """IPython in which a notebook's cells run."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.display_formatter.active_types = ["text/plain", "text/html"]
    shell.run_line_magic("colors", "nocolor")
    shell.run_cell("import autodiff_edu as ad, numpy as np\nx = ad.Variable(3.0)\n%load_ext autodiff_edu")
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()
    shell.reset(new_session=False)  # Python keeps a shell until it exits, and the tapes of its cells with it
    shell.InteractiveTB.tb = sys.last_value = sys.last_traceback = None
