"""The names that the dictionary and the glossary have for PyTorch and JAX are there."""

import importlib
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.asides
BOOK = Path(__file__).parents[2] / "book"
TEXT = "".join((BOOK / page).read_text(encoding="utf-8") for page in ("dictionary.md", "glossary.md"))


def find(name):
    """Look a name up, importing modules on the way."""
    parts = name.split(".")
    found = importlib.import_module(parts[0])
    for k, part in enumerate(parts[1:], 2):
        found = getattr(found, part, None) or importlib.import_module(".".join(parts[:k]))
    return found


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\b(?:torch|jax|jnp)(?:\.[A-Za-z]\w*)+", TEXT))))
def test_a_name_of_the_dictionary_is_there(name):
    pytest.importorskip(name.partition(".")[0].replace("jnp", "jax"))
    assert find(name.replace("jnp.", "jax.numpy.")) is not None
