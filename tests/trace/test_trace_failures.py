"""The operation that an error ended is an entry of the document, with what does not fit as a lesson."""

import contextlib

import numpy as np
import pytest

import autodiff_edu as ad


def failed(f, *args):
    with pytest.raises(Exception) as caught, ad.trace() as traced, ad.GradientTape():  # noqa: PT011
        f(*args)
    assert caught.value is not None
    return traced.document()


def layer(h, w):
    a = np.tanh(h)
    return a @ w


def test_an_error_about_none_says_why_the_gradient_was_none():
    def train():
        w = ad.Variable([1.0, 2.0], name="w")
        for _ in range(2):
            with ad.GradientTape() as tape:
                loss = np.sum(w * w)
            w = w - 0.1 * tape.gradient(loss, w)

    with pytest.raises(TypeError, match="NoneType") as caught:
        ad.play(train)
    last = caught.value.player.document()["steps"][-1]
    for said in (last["text"], last["lesson"][0], caught.value.__notes__[0]):
        assert "A gradient that you asked for is None." in said
        assert "Write w.assign(...)" in said
    with pytest.raises(TypeError, match="NoneType") as caught:
        ad.play(lambda x: [x * 2.0, 0.1 * {}.get("rate")], 2.0)
    assert "gradient" not in caught.value.player.transcript().splitlines()[-1]


@pytest.mark.parametrize("use", [lambda g: -g, np.sin, lambda g: g > 0, lambda g: g[0]])
@pytest.mark.parametrize("is_last", [True, False])
def test_whatever_is_done_to_none_its_reason_is_that_of_the_last_request(use, is_last):
    x, bias = ad.Variable(2.5, name="x"), ad.Variable(5.0, name="bias")

    def run():
        with ad.GradientTape(persistent=True) as tape:
            y = x * x
        for source in (bias,) if is_last else (bias, x):
            tape.gradient(y, source)
        use(None)

    with pytest.raises(TypeError, match="NoneType") as caught:
        ad.play(run)
    notes = getattr(caught.value, "__notes__", [])
    assert any("A gradient that you asked for is None." in note for note in notes) == is_last


def test_the_operands_of_what_failed_are_there_and_its_output_never_has_a_value():
    h, w = ad.Variable(np.ones((3, 2)), name="h"), ad.Variable(np.ones((3, 1)), name="w")
    document = failed(layer, h, w)
    step, entry = document["steps"][-1], document["entries"][-1]
    names = [document["tensors"][tensor]["name"] for tensor in entry["inputs"]]
    assert (step["kind"], step["entry"], names) == ("error", len(document["entries"]) - 1, ["a", "w"])
    (unwatched,) = [tensor for tensor in document["tensors"] if tensor["name"] == "w"]
    assert (unwatched["kind"], unwatched["value"]["shape"]) == ("variable", [3, 1])
    assert (entry["tapes"], entry["number"], entry["text"]) == ([], None, "a @ w")
    assert document["tensors"][entry["output"]]["value"]["data"] is None
    state = document["states"][-1]
    assert (state["fate"], state["values"]) == ("failed", [document["tensors"].index(unwatched)])
    assert step["lesson"][1::2] == ["2", "3", "2", "3"]
    assert "".join(step["lesson"]) in step["text"]
    assert "gufunc" in step["message"]
    assert "gufunc" not in step["text"]


def test_a_variable_has_the_value_that_it_had():
    w = ad.Variable(np.ones((3, 1)), name="w")
    with pytest.raises(ValueError, match="matmul"), ad.trace() as traced, ad.GradientTape():
        ad.constant(np.ones((3, 2))) @ w
    w.assign(np.zeros((3, 1)))
    (known,) = [tensor for tensor in traced.document()["tensors"] if tensor["name"] == "w"]
    assert known["value"]["data"] == [[1.0]] * 3


def test_an_error_that_was_caught_is_not_what_ended_the_trace():
    def f(x):
        y = x * 2.0
        with contextlib.suppress(ValueError):
            y + np.ones(4)
        raise KeyError("another")

    document = failed(f, ad.Variable(np.ones(3)))
    assert "entry" not in document["steps"][-1]
    assert document["steps"][-1]["lesson"] == ["KeyError: 'another'"]


def test_an_error_of_an_operation_whose_shapes_fit_is_told_in_numpy_s_words():
    step = failed(np.linalg.inv, ad.Variable(np.ones((2, 2))))["steps"][-1]
    assert step["lesson"] == ["LinAlgError: Singular matrix"]
    assert "message" not in step


def test_where_numpy_hides_why_a_tensor_refused_the_error_says_what_to_write():
    def assigned(x):
        a = np.zeros(2)
        a[0] = x * 2.0
        return a

    told = "setting an array element with a sequence. Assigning a tensor into an array stores only its plain numbers"
    step = failed(assigned, ad.Variable(1.0))["steps"][-1]
    assert step["text"].partition(": ")[2].startswith(f"ValueError: {told}")
    assert "Collect the parts in a list and join them with np.stack" in step["text"]
    step = failed(lambda x: np.array([x * 2.0, [1.0, 2.0]]), ad.Variable(1.0))["steps"][-1]
    assert "np.stack([...])" in step["text"]


@pytest.mark.parametrize("put", [lambda a: np.array([1.0, [1.0, 2.0]]), lambda a: a.__setitem__(0, [1.0, 2.0])])
def test_without_a_tensor_numpy_s_words_stand(put):
    with pytest.raises(ValueError, match="sequence") as caught, ad.trace():
        put(np.zeros(2))
    assert not hasattr(caught.value, "__notes__")


def test_a_trace_around_another_hears_of_it_too():
    h, w = ad.Variable(np.ones((3, 2))), ad.Variable(np.ones((3, 1)))
    with pytest.raises(ValueError, match="matmul"), ad.trace() as outer, ad.trace() as inner, ad.GradientTape():
        h @ w
    assert [traced.document()["entries"][-1]["text"] for traced in (outer, inner)] == ["h @ w"] * 2
