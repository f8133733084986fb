"""Scopes name parts of a computation: they nest, they end with their block, and objects of one name are told apart."""

import threading

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.trace.scopes import opened, scope_of


def scopes(traced):
    """The scope of each entry, by its text."""
    return {entry["text"]: "/".join(entry["scope"]) for entry in traced.document()["entries"]}


def test_what_is_computed_inside_a_block_has_its_name_and_blocks_nest():
    x = ad.Variable(1.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        x + 1.0
        with ad.scope("outer"):
            x * 2.0
            with ad.scope("inner"):
                x * 3.0
            x * 4.0
        x + 5.0
    assert scopes(traced) == {
        "x + 1": "", "x * 2": "outer", "x * 3": "outer/inner", "x * 4": "outer", "x + 5": "",
    }  # fmt: skip


def test_a_scope_ends_with_an_exception():
    x = ad.Variable(1.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        with pytest.raises(ArithmeticError), ad.scope("outer"), ad.scope("inner"):
            raise ArithmeticError
        x + 1.0
    assert scopes(traced) == {"x + 1": ""}


@pytest.mark.parametrize("name", [None, 3, b"layer", ["layer"]])
def test_a_name_that_is_not_a_string_is_refused(name):
    with pytest.raises(TypeError, match=r'ad\.scope\("layer 1"\)'), ad.scope(name):
        pass


def test_a_scope_belongs_to_its_thread():
    x, seen = ad.Variable(1.0, name="x"), []

    def work():
        with ad.trace() as traced, ad.GradientTape():
            x * 2.0
        seen.append(scopes(traced))

    with ad.scope("here"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [{"x * 2": ""}]


def test_objects_of_one_class_are_told_apart_in_the_order_in_which_they_are_met():
    one, other, x = object(), object(), ad.Variable(1.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        for owner, number in ((one, 1.0), (other, 2.0), (one, 3.0)):
            with scope_of(owner):
                x * number
    assert scopes(traced) == {"x * 1": "object", "x * 2": "object 2", "x * 3": "object"}


def test_a_method_that_calls_that_of_its_super_opens_one_scope():
    owner, other, x = object(), object(), ad.Variable(1.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        with scope_of(owner), scope_of(owner):
            x * 1.0
        with scope_of(owner), scope_of(other):
            x * 2.0
        with scope_of(owner), ad.scope("between"), scope_of(owner):
            x * 3.0
    assert scopes(traced) == {"x * 1": "object", "x * 2": "object/object 2", "x * 3": "object/between/object"}


def test_a_name_that_the_user_gave_gets_no_number():
    x = ad.Variable(1.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        for number in (1.0, 2.0):
            with ad.scope("same"):
                x * number
    assert set(scopes(traced).values()) == {"same"}


def test_a_module_opens_a_scope_of_its_class():
    layers = [nn.Dense(2, np.tanh), nn.Dense(1)]
    with ad.trace() as traced, ad.GradientTape():
        x = np.ones((1, 3))
        for layer in layers:
            x = layer(x)
    found = [scope for scope in scopes(traced).values() if scope]
    assert list(dict.fromkeys(found)) == ["dense", "dense 2"]


def test_a_scope_may_decorate_a_function_that_calls_itself():
    x = ad.Variable(1.0, name="x")

    @ad.scope("again")
    def multiplied(y, times):
        return multiplied(y * 2.0, times - 1) if times else y

    with ad.trace() as traced, ad.GradientTape():
        multiplied(x, 2)
        x + 1.0
    assert scopes(traced) == {"x * 2": "again", "t1 * 2": "again/again", "x + 1": ""}


def test_a_scope_that_is_open_cannot_be_opened_again():
    scope = ad.scope("a")
    with scope:
        with pytest.raises(RuntimeError, match="already open"), scope:
            pass
        assert opened.names == ("a",)
    assert opened.names == ()
