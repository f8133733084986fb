"""What `explain` says of the connected and of the unconnected, whenever, of whatever and from wherever it is asked."""

import gc
import pickle
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest
from explanations import check_shows, run

import autodiff_edu as ad
from autodiff_edu.explain.journal import KEPT, journal


def test_a_tape_that_was_never_entered_says_so():
    x = ad.Variable(2.0)
    explanation = ad.GradientTape().explain(x * 2.0, x)
    (cause,) = explanation.causes
    assert (cause.kind, cause.operation, cause.place) == ("never entered", None, None)
    assert "inside `with tape:`" in str(explanation)
    check_shows(explanation)


def test_the_sign_of_a_complex_number_is_connected_and_that_of_a_real_one_is_a_step():
    x = ad.Variable([3.0, -4.0])
    with ad.GradientTape() as tape:
        connected, cut = np.real(np.sign(x * (1 + 1j))), np.sign(x)
    assert not tape.explain(connected, x).causes
    assert [cause.kind for cause in tape.explain(cut, x).causes] == ["step"]


def test_connected_tensors_have_a_path_and_no_cause():
    scope = run("""
        s = v
        with ad.GradientTape() as tape:
            a = s * 3.0 #1
            unused = s + 1.0
            y = a * np.sin(a) #2
        """)
    explanation = scope["tape"].explain(scope["y"], scope["s"])
    assert explanation
    assert explanation.connected
    assert explanation.causes == ()
    assert [entry.name for entry in explanation.path] == ["multiply", "multiply"]
    assert [entry.place.line for entry in explanation.path] == [scope["marked"]["1"], scope["marked"]["2"]]
    assert repr(explanation) == "Explanation(connected: v → a → y)", "the first of its names"
    assert "is not None. The gradient flows back through:\n" in str(explanation)
    check_shows(explanation)


def test_a_tensor_is_connected_with_itself():
    x = ad.constant(2.0)
    with ad.GradientTape() as tape:
        pass
    explanation = tape.explain(x, x)
    assert explanation
    assert explanation.path == ()
    assert "the same tensor" in str(explanation)
    check_shows(explanation)
    assert tape.gradient(x, x) == 1.0


def test_a_released_tape_is_connected_still_and_names_where_it_was_used():
    scope = run("""
        s = v
        with ad.GradientTape() as tape:
            y = s * s
        tape.gradient(y, s) #1
        """)
    explanation = scope["tape"].explain(scope["y"], scope["s"])
    (cause,) = explanation.causes
    assert explanation
    assert (cause.kind, cause.place.line) == ("released", scope["marked"]["1"])
    assert "persistent=True" in cause.text
    check_shows(explanation)


def test_a_function_without_a_rule_is_connected_and_the_missing_rule_is_named():
    scope = run("""
        s = ad.Variable([1.0, 2.0])
        with ad.GradientTape(persistent=True) as tape:
            y = np.unique(s) #1
        """)
    explanation = scope["tape"].explain(scope["y"], scope["s"])
    (cause,) = explanation.causes
    assert explanation
    assert (cause.kind, cause.operation, cause.place.line) == ("no rule", "unique", scope["marked"]["1"])
    assert "register_gradient" in cause.text
    with pytest.raises(LookupError):
        scope["tape"].gradient(scope["y"], scope["s"])
    check_shows(explanation)


def test_explain_asks_a_custom_gradient_without_using_up_recording_or_announcing_anything():
    asked = []

    @ad.custom_gradient
    def f(a, b):
        def backward(dy):
            asked.append(float(dy))
            return dy * b, None

        return a * b, backward

    a, b = ad.Variable(2.0), ad.Variable(3.0)
    seen = []
    with ad.GradientTape() as tape:
        y = f(a, b)
        before = len(tape.entries)
        with ad.hook(seen.append):
            assert tape.explain(y, a)
            assert not tape.explain(y, b)
        assert len(tape.entries) == before
        assert seen == []
    assert asked == [0.0, 0.0]
    assert tape.gradient(y, [a, b]) == [3.0, None]


def test_a_custom_gradient_off_the_way_is_not_asked():
    @ad.custom_gradient
    def f(a):
        return a * 2.0, lambda dy: pytest.fail("asked")

    v = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        f(v)
        y = v * 3.0
    assert tape.explain(y, v)


def test_a_custom_gradient_that_fails_is_not_a_cause():
    @ad.custom_gradient
    def f(a):
        return a * 2.0, lambda dy: (dy, dy)

    v = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y = f(v)
    assert tape.explain(y, v)
    with pytest.raises(ValueError, match="2 gradients"):
        tape.gradient(y, v)


def test_several_targets_are_connected_if_one_is():
    x, w = ad.Variable(2.0), ad.Variable(3.0)
    with ad.GradientTape() as tape:
        a, b, c = x * 2.0, np.round(x), w * 2.0
    assert tape.explain([b, a], x)
    assert tape.explain({"b": b, "more": (c, a)}, x)
    explanation = tape.explain([b, c], x)
    assert not explanation
    assert [cause.kind for cause in explanation.causes] == ["step"]
    assert str(explanation).startswith("The gradient of the 2 targets with respect to x")
    check_shows(explanation)
    check_shows(tape.explain([b, a], x))
    assert not tape.explain([], x)


def test_nested_tapes_are_explained_one_by_one():
    scope = run("""
        s = v
        with ad.GradientTape(persistent=True) as outer:
            with ad.GradientTape(persistent=True) as inner:
                z = s ** 3
            y = inner.gradient(z, s)
        """)
    y, s = scope["y"], scope["s"]
    assert scope["outer"].explain(y, s)
    explanation = scope["inner"].explain(y, s)
    assert not explanation
    assert {cause.kind for cause in explanation.causes} <= {"after", "nesting"}
    check_shows(explanation)


@pytest.mark.parametrize("question", ["gradient", "jacobian", "batch_jacobian"])
def test_explain_in_place_of_none_raises_and_leaves_the_tape_as_it_was(question):
    v, w = ad.Variable([[2.0]], name="v"), ad.Variable([[3.0]])
    with ad.GradientTape() as tape:
        y = ad.stop_gradient(v) * w
        length = len(tape.entries)
        with pytest.raises(ad.UnconnectedError, match=r"stop_gradient.*cuts the flow") as error:
            getattr(tape, question)(y, v, unconnected_gradients="explain")
        assert isinstance(error.value, ValueError)
        assert len(tape.entries) == length
        assert tape._recording
        assert tape._usable
        z = y * w
    assert len(tape.entries) == length + 1
    assert getattr(tape, question)(z, w, unconnected_gradients="explain") is not None


def test_the_error_names_the_first_source_without_a_gradient():
    a, b = ad.Variable(1.0, name="alpha"), ad.Variable(1.0, name="beta")
    with ad.GradientTape() as tape:
        y = a * np.sign(b)
    with pytest.raises(ad.UnconnectedError, match="dy/d beta is None") as error:
        tape.gradient(y, {"a": a, "b": b}, unconnected_gradients="explain")
    assert "sign" in str(error.value)


@pytest.mark.parametrize(
    ("target", "source", "match"),
    [
        (3.0, None, "source|target"),
        (None, None, "target"),
        (ad.constant(1.0), 2.0, "source of explain must be one Tensor"),
        (ad.constant(1.0), [ad.constant(1.0)], "call it once for each"),
        (np.ones(2), ad.constant(1.0), "target"),
    ],
)
def test_what_is_not_a_tensor_is_a_type_error(target, source, match):
    with ad.GradientTape() as tape:
        pass
    with pytest.raises(TypeError, match=match):
        tape.explain(target, source)


def test_names_are_escaped_in_a_notebook():
    v = ad.Variable(1.0, name="<script>&")
    with ad.GradientTape() as tape:
        y = np.round(v)
    html = tape.explain(y, v)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;&amp;" in html


def test_an_explanation_stays_as_it_was_when_it_was_asked_for():
    v = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        y = np.round(v * 2.0)
    explanation = tape.explain(y, v)
    text, shown, html = str(explanation), repr(explanation), explanation._repr_html_()
    tape.gradient(y, v)
    v.assign(7.0)
    assert (str(explanation), repr(explanation), explanation._repr_html_()) == (text, shown, html)
    assert str(tape.explain(y, v)).splitlines()[1:] == text.splitlines()[1:]
    check_shows(explanation)


def test_long_lists_are_cut_short():
    v = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        y = v
        for _ in range(1000):
            y = y * 1.001
    lines = str(tape.explain(y, v)).splitlines()
    assert len(lines) < 20
    assert any("988 more" in line for line in lines)


def test_a_cut_in_a_loop_is_named_once():
    v = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        y = v
        for _ in range(30):
            y = ad.stop_gradient(y * 2.0)
    assert tape.explain(y, v).causes[0].kind == "stopped"
    assert len({cause.place for cause in tape.explain(y, v).causes}) == len(tape.explain(y, v).causes)


def test_the_journal_holds_no_array_and_no_tensor():
    v = ad.Variable(np.ones(1000))
    y = np.round(v * 2.0)
    arrays = weakref.ref(y), weakref.ref(v)
    with ad.GradientTape() as tape:
        z = y * 2.0
    explanation = tape.explain(z, v)
    assert explanation.causes
    for line in journal.lines():
        assert line.values is line.output_value is None
        assert not any(isinstance(part, ad.Tensor | np.ndarray) for part in (line.operation, *line.line, *line.ids))
    del y, v, z, explanation, tape, line
    gc.collect()
    assert [array() for array in arrays] == [None, None]
    assert len(journal.lines()) <= KEPT


def _generator(v):
    yield np.round(v)


def _recursive(v, depth):
    return np.round(v) if depth == 0 else _recursive(v * 1.0, depth - 1)


@pytest.mark.parametrize(
    "compute",
    [
        lambda v: np.round(v),
        lambda v: next(_generator(v)),
        lambda v: _recursive(v, 50),
        lambda v: eval("np.round(v)", {"np": np, "v": v}),
        lambda v: eval(compile("np.round(v)", "deleted/file.py", "eval"), {"np": np, "v": v}),
        lambda v: next(map(np.round, [v])),
    ],
)
def test_code_of_every_kind_is_explained(compute):
    v = ad.Variable(1.4)
    with ad.GradientTape() as tape:
        y = compute(v)
    explanation = tape.explain(y, v)
    assert [(cause.kind, cause.operation) for cause in explanation.causes] == [("step", "round")]
    check_shows(explanation)


def test_a_tape_is_explained_from_another_thread():
    v = ad.Variable(1.4)
    with ad.GradientTape() as tape:
        y = np.round(v)
    told = []
    thread = threading.Thread(target=lambda: told.append(tape.explain(y, v)))
    thread.start()
    thread.join()
    assert told[0].causes[0].kind == "step"


def test_a_notebook_s_places_are_cells():
    code = textwrap.dedent(
        """
        from traitlets.config import Config
        from IPython.core.interactiveshell import InteractiveShell

        config = Config()
        config.HistoryManager.enabled = False
        shell = InteractiveShell.instance(config=config)
        shell.run_cell("import numpy as np, autodiff_edu as ad", store_history=True)
        shell.run_cell("x = ad.Variable(2.0)\\nwith ad.GradientTape() as tape:\\n  y = np.round(x)", store_history=True)
        shell.run_cell("print(tape.explain(y, x))", store_history=True)
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "dy/dx is None:\n- cell 2, line 3: y = np.round(x) has steps" in done.stdout


def test_a_cut_by_numpy_is_named_among_others():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = ad.constant(x.numpy() * 2.0) + np.round(x) + ad.stop_gradient(x)
    text = str(tape.explain(y, x))
    assert "round" in text
    assert "stop_gradient" in text
    assert "numpy()" in text


def test_a_cut_by_numpy_lines_before_is_named_among_others():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        a = x.numpy() * 2.0
        b = ad.constant(a)
        y = b + np.round(x)
    text = str(tape.explain(y, x))
    assert "round" in text
    assert "numpy()" in text


def test_a_number_taken_out_that_multiplies_another_cut_is_named():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        a = float(x) * 2.0
        y = a * np.round(x)
    assert "float(x)" in str(tape.explain(y, x))


def test_what_is_printed_or_logged_on_the_way_is_not_a_cut():
    x, w = ad.Variable(3.0, name="x"), ad.Variable(1.0, name="w")
    with ad.GradientTape() as tape:
        str(float(x))
        y = w * 2.0
    assert "plain numbers" not in str(tape.explain(y, x))


def test_a_tensor_that_a_custom_gradient_captures_is_named():
    c, x = ad.constant(3.0, name="c"), ad.Variable(2.0, name="x")

    @ad.custom_gradient
    def scaled(x):
        return x * c, lambda dy: dy * c

    with ad.GradientTape() as tape:
        tape.watch(c)
        y = scaled(x)
    text = str(tape.explain(y, c))
    assert "Nothing that leads to" not in text
    assert "scaled" in text


def test_a_tensor_given_to_a_custom_gradient_by_keyword_is_named():
    x = ad.constant(2.0, name="x")
    doubled = ad.custom_gradient(lambda x: (x * 2.0, lambda dy: dy * 2.0))
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = doubled(x=x)
    assert "Nothing that leads to" not in str(tape.explain(y, x))


def test_a_number_put_into_an_array_is_named():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        a = np.ones(2)
        a[0] = x.numpy()
        y = ad.constant(a)
    assert "plain numbers" in str(tape.explain(y, x))


def test_a_number_written_as_text_is_named():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = ad.constant(float(f"{x:.2f}"))
    assert "Nothing that leads to" not in str(tape.explain(y, x))


def test_an_earlier_recording_of_a_tape_is_not_said_to_come_before_it():
    x, tape = ad.Variable(2.0, name="x"), ad.GradientTape()
    with tape:
        y = x * x
    tape.gradient(y, x)
    with tape:
        x * 3.0
    assert "before this tape began" not in str(tape.explain(y, x))


def test_an_unconnected_error_survives_pickling():
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape() as tape:
        y = np.round(x)
    with pytest.raises(ad.UnconnectedError) as error:
        tape.gradient(y, x, unconnected_gradients="explain")
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_of_a_line_that_computes_several_things_outside_the_tape_the_whole_is_told():
    x, w = ad.Variable(3.0, name="x"), ad.Variable(2.0, name="w")
    y = np.cos(x * w)
    with ad.GradientTape() as tape:
        z = y * w
    (cause,) = tape.explain(z, x).causes
    assert (cause.kind, cause.operation) == ("before", "cos")
    assert "y = np.cos(x * w)" in cause.text


def test_its_trace_walks_back_from_the_target_to_the_cut_and_no_further():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = x * 2.0
        z = np.sign(y)
        w = z * 2.0 + np.floor(x)
    document = tape.explain(w, x).trace().document()
    back = [step for step in document["steps"] if step["kind"] == "explain"]
    assert back == document["steps"][-len(back) :]
    assert back[0]["text"] == "dw/dx is None. Walk back from w to find out why."
    texts = [document["entries"][step["entry"]]["text"] for step in back[1:]]
    assert texts == ["s1 + t3", "floor(x)", "z * 2", "sign(y)"]
    assert [step["where"]["line"] - back[-1]["where"]["line"] for step in back[1:]] == [1, 1, 1, 0]
    assert [" has steps: " in step["text"] for step in back[1:]] == [False, True, False, True]
    assert back[1]["text"].endswith(" would pass a cotangent back.")


def test_its_trace_of_what_is_connected_walks_back_along_the_path():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = x * 2.0
        z = y * y
    document = tape.explain(z, x).trace().document()
    back = [step for step in document["steps"] if step["kind"] == "explain"]
    assert back[0]["text"] == "dz/dx is not None. Walk back from z to see its path."
    assert [document["entries"][step["entry"]]["text"] for step in back[1:]] == ["y * y", "x * 2"]


def test_reasons_without_an_entry_end_its_trace():
    c = ad.constant(3.0, name="c")
    with ad.GradientTape() as tape:
        y = c * 2.0
    document = tape.explain(y, c).trace().document()
    *_, passed, last = document["steps"]
    assert "would pass" in passed["text"]
    assert ("entry" in last, "never asked to watch" in last["text"]) == (False, True)
    assert last["where"]["line"] < passed["where"]["line"]


def test_a_gradient_that_passes_a_corner_says_what_was_chosen_there():
    x = ad.Variable([0.0, 1.0], name="x")
    with ad.GradientTape() as tape:
        z = np.maximum(x, 0.0)
        y = np.sum(z * np.round(x))
    explanation = tape.explain(y, x)
    (corner,) = explanation.corners
    assert corner.entry.name == "maximum"
    _, told = str(explanation).split("\nAt a corner, the slope is a choice of the rule:\n- ")
    assert told.endswith(": z = np.maximum(x, 0.0): any slope from 0 to 1 fits at [0]; this rule takes 0.5.")
    assert repr(explanation).startswith("Explanation(connected: x → z → ")
    assert tape.explain(np.round(x), x).corners == ()  # not connected
    tape.gradient(y, x)
    assert tape.explain(y, x).corners == ()  # nobody knows any more
    assert "At a corner" not in str(tape.explain(y, x))


def test_explain_is_not_stopped_by_a_rule_that_fails_at_a_corner():
    def fail(g, y, x):
        raise ValueError("no slope here")

    x = ad.Variable(0.0)
    with ad.register_gradient(np.abs, fail, replace=True):
        with ad.GradientTape() as tape:
            y = np.abs(x)
        assert tape.explain(y, x).corners == ()
        with pytest.raises(ValueError, match="no slope here"):
            tape.corners(y, x)
