"""For every cause of a None, `explain` names the right one, the operation, the line, and what to write instead."""

import gc
import json
import linecache
import re
import subprocess
import sys
import textwrap
import threading
import weakref
from itertools import count

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import journal

numbers = count(1)

HEAD = """
import threading
import numpy as np, autodiff_edu as ad
x, v = ad.constant(3.0), ad.Variable(2.0)
"""


def run(program):
    """Run a program whose source is known by line; a comment #1, #2 ... marks the lines that a test asks for."""
    source = HEAD + textwrap.dedent(program)
    name = f"<learner{next(numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {}
    exec(compile(source, name, "exec"), scope)
    scope["marked"] = {
        line.rsplit("#", 1)[1].strip(): number
        for number, line in enumerate(source.splitlines(), 1)
        if re.search(r"#\d+$", line)
    }
    return scope


def check_shows(explanation):
    """Every explanation can be printed, shown in a notebook, played, and written as a trace."""
    assert str(explanation) == str(explanation)
    assert repr(explanation).startswith("Explanation(")
    assert all(len(sentence) < 400 for sentence in str(explanation).splitlines())
    assert str(explanation).count("the the") == 0
    transcript = explanation.trace().transcript()
    for cause in explanation.causes:
        assert cause.text in transcript
    json.loads(explanation.trace().to_json())
    assert ad.play(explanation)._repr_mimebundle_() if hasattr(ad.Player, "_repr_mimebundle_") else True
    html = explanation._repr_html_()
    assert "<script" not in html
    assert html.startswith("<div>")


# One row per cause: the program, whose tape is `tape`, target `y` and source `s`; and for each cause expected its
# kind, its operation, the marked line, and a piece of what to write instead.
CASES = {
    "never watched": (
        """
        s = ad.constant(1.0) #1
        with ad.GradientTape() as tape:
            y = s * s
        """,
        [("never watched", None, "1", "tape.watch(s)")],
    ),
    "never watched, computed": (
        """
        s = np.sin(x) #1
        with ad.GradientTape() as tape:
            y = s * s
        """,
        [("never watched", "sin", "1", "tape.watch(s)")],
    ),
    "not trainable": (
        """
        s = ad.Variable(1.0, trainable=False) #1
        with ad.GradientTape() as tape:
            y = s * s
        """,
        [("not trainable", None, "1", "tape.watch(s)")],
    ),
    "watch_accessed_variables=False": (
        """
        s = ad.Variable(1.0) #1
        with ad.GradientTape(watch_accessed_variables=False) as tape:
            y = s * s
        """,
        [("never watched", None, "1", "watch_accessed_variables=False. Write tape.watch(s)")],
    ),
    "rebound in a loop": (
        """
        s, gradients = ad.Variable(1.0), []
        for epoch in range(2):
            with ad.GradientTape() as tape:
                y = (s - 3.0) ** 2
            gradients.append(tape.gradient(y, s))
            if epoch == 0:
                s = s - 0.1 * gradients[-1] #1
        assert gradients[0] is not None and gradients[1] is None
        """,
        [("rebound", "subtract", "1", "s.assign(...)")],
    ),
    "rebound in place": (
        """
        s = ad.constant(1.0)
        s -= 0.5 #1
        with ad.GradientTape() as tape:
            y = s * s
        """,
        [("rebound", "subtract", "1", "tape.watch(s)")],
    ),
    "rebound after the tape": (
        """
        s = ad.Variable(1.0)
        with ad.GradientTape() as tape:
            y = s * s
        s = s + 1 #1
        """,
        [("rebound", "add", "1", "s.assign(...)")],
    ),
    "before": (
        """
        s = v
        a = s * 3.0 #1
        with ad.GradientTape() as tape:
            y = a * a
        """,
        [("before", "multiply", "1", "Move this line into its with block")],
    ),
    "between": (
        """
        s = v
        with ad.GradientTape(persistent=True) as tape:
            a = s * 3.0
        b = a + 1.0 #1
        with tape:
            y = b * 2.0
        """,
        [("between", "add", "1", "Move this line into one")],
    ),
    "after": (
        """
        s = v
        with ad.GradientTape() as tape:
            a = s * 3.0
        y = np.exp(a) #1
        """,
        [("after", "exp", "1", "Move this line into its with block")],
    ),
    "outside": (
        """
        s = v
        with ad.GradientTape() as tape:
            pass
        y = s * 3.0 #1
        """,
        [("after", "multiply", "1", "with block")],
    ),
    "paused": (
        """
        s = v
        with ad.GradientTape() as tape:
            a = s * 3.0
            with tape.stop_recording():
                b = a * a #1
            y = b + 1.0
        """,
        [("paused", "multiply", "1", "out of that block")],
    ),
    "reset forgot the watch": (
        """
        s = x
        with ad.GradientTape() as tape:
            tape.watch(s)
            tape.reset() #1
            y = s * 3.0
        """,
        [("reset", None, "1", "Watch and compute after reset")],
    ),
    "reset forgot what was computed": (
        """
        s = v
        with ad.GradientTape() as tape:
            a = s * 3.0 #1
            tape.reset()
            y = a * 2.0
        """,
        [("reset", "multiply", "1", "Compute it after reset")],
    ),
    "stop_gradient": (
        """
        s = v
        with ad.GradientTape() as tape:
            a = s * 3.0
            y = s.astype("float32") * 0 + 1 if False else ad.stop_gradient(a) #1
        """,
        [("stopped", "stop_gradient", "1", "Use a itself")],
    ),
    "astype(int)": (
        """
        s = v
        with ad.GradientTape() as tape:
            y = s.astype(int) * 2.0 #1
        """,
        [("integer", "round_off", "1", "floating point")],
    ),
    "an integer target": (
        """
        s = v
        with ad.GradientTape() as tape:
            y = s.astype(int) #1
        """,
        [("integer", "round_off", "1", "floating point")],
    ),
    "an integer source": (
        """
        s = ad.constant(3) #1
        with ad.GradientTape() as tape:
            y = s * 2.0
        """,
        [("integer", None, "1", "decimal point")],
    ),
    "an integer variable": (
        """
        s = ad.Variable([1, 2]) #1
        with ad.GradientTape() as tape:
            y = s * 2.0
        """,
        [("integer", None, "1", "dtype=float")],
    ),
    "assign": (
        """
        s, state = v, ad.Variable(0.0, name="state")
        with ad.GradientTape() as tape:
            state.assign(s * 2.0) #1
            y = state * 3.0
        """,
        [("assigned", "assign", "1", "in what follows")],
    ),
    "assign_add": (
        """
        s, state = v, ad.Variable(0.0)
        with ad.GradientTape() as tape:
            a = s * 2.0
            state.assign_add(a) #1
            y = state * 3.0
        """,
        [("assigned", "assign_add", "1", "Use a itself")],
    ),
    "the variable assigned to is the target": (
        """
        s, y = v, ad.Variable(0.0)
        with ad.GradientTape() as tape:
            y.assign(s) #1
        """,
        [("assigned", "assign", "1", "Use s itself")],
    ),
    "a later assign replaces an earlier one": (
        """
        s, state = v, ad.Variable(0.0)
        state.assign(s * 5.0)
        with ad.GradientTape() as tape:
            state.assign(s * 2.0) #1
            y = state * 3.0
        """,
        [("assigned", "assign", "1", "in what follows")],
    ),
    "round": (
        """
        s = v
        with ad.GradientTape() as tape:
            y = np.round(s * 3.0) #1
        """,
        [("step", "round", "1", "smooth function")],
    ),
    "argmax": (
        """
        s = ad.Variable([1.0, 2.0])
        with ad.GradientTape() as tape:
            y = np.argmax(s) #1
        """,
        [("step", "argmax", "1", "smooth function")],
    ),
    "a comparison": (
        """
        s = v
        with ad.GradientTape() as tape:
            y = (s > 1.0) * 2.0 #1
        """,
        [("step", "greater", "1", "smooth function")],
    ),
    "np.where's condition": (
        """
        s, w = v, ad.Variable(4.0)
        with ad.GradientTape() as tape:
            right = s > 1.0 #1
            y = np.where(right, w, -w)
        """,
        [("step", "greater", "1", "smooth function")],
    ),
    "an integer exponent": (
        """
        s, w = ad.constant(3), ad.Variable(4.0) #1
        with ad.GradientTape() as tape:
            y = np.power(w, s)
        """,
        [("integer", None, "1", "decimal point")],
    ),
    "another thread": (
        """
        s, results = v, []
        def work():
            results.append(np.exp(s)) #1
        with ad.GradientTape() as tape:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            y = results[0] * 3.0
        """,
        [("another thread", "exp", "1", "make a tape in each thread")],
    ),
    "wrong nesting": (
        """
        s = v
        with ad.GradientTape() as tape:
            with ad.GradientTape() as inner:
                z = s ** 3
        y = inner.gradient(z, s) #1
        """,
        [("nesting", "gradient", "1", "inside this tape's with block")],
    ),
    "a gradient that is constant": (
        """
        s = v
        with ad.GradientTape() as tape:
            with ad.GradientTape() as inner:
                z = s * 3.0
            y = inner.gradient(z, s) #1
        """,
        [("constant derivative", "gradient", "1", "linear")],
    ),
    "a Jacobian that is constant": (
        """
        s = ad.Variable([1.0, 2.0])
        with ad.GradientTape() as tape:
            with ad.GradientTape() as inner:
                z = s * 3.0
            y = inner.jacobian(z, s) #1
        """,
        [("constant derivative", "jacobian", "1", "linear")],
    ),
    "watched too late": (
        """
        s = x
        with ad.GradientTape() as tape:
            a = s * 2.0 #1
            tape.watch(s)
            y = a * 2.0
        """,
        [("late", "multiply", "1", "Call tape.watch before this line")],
    ),
    "not used": (
        """
        s, w = v, ad.Variable(1.0)
        with ad.GradientTape() as tape:
            z = s * 2.0
            y = w * 2.0 #1
        """,
        [("not used", "multiply", "1", "Did you mean another tensor")],
    ),
    "a constant that is not used": (
        """
        s, w = x, ad.Variable(1.0)
        with ad.GradientTape() as tape:
            y = w * 2.0 #1
        """,
        [("not used", "multiply", "1", "Nothing that leads to y")],
    ),
    "a silent custom gradient": (
        """
        s, w = v, ad.Variable(4.0)
        @ad.custom_gradient
        def f(a, b):
            return a * b, lambda dy: (dy, None)
        with ad.GradientTape(persistent=True) as tape:
            y = f(w, s) #1
        """,
        [("argument", "f", "1", "gives None for s")],
    ),
    "two cuts side by side": (
        """
        s = v
        with ad.GradientTape() as tape:
            a = ad.stop_gradient(s) #1
            b = np.floor(s) #2
            y = a * b
        """,
        [("stopped", "stop_gradient", "1", "Use s itself"), ("step", "floor", "2", "smooth")],
    ),
    "three cuts in a row": (
        """
        s = v
        a = s * 2.0 #1
        with ad.GradientTape() as tape:
            b = np.rint(a) #2
            c = ad.constant(float(b)) #3
            y = c * 2.0
        """,
        [
            ("before", "multiply", "1", "Move"),
            ("step", "rint", "2", "smooth"),
            ("left for NumPy", "float()", "3", "Compute with b itself"),
        ],
    ),
    "an unwatched constant and a stop": (
        """
        s = ad.constant(2.0) #1
        with ad.GradientTape() as tape:
            y = ad.stop_gradient(s) #2
        """,
        [("never watched", None, "1", "tape.watch(s)"), ("stopped", "stop_gradient", "2", "Use s itself")],
    ),
    "harmless lines are not named": (
        """
        s, data = v, np.ones(3)
        with ad.GradientTape() as tape:
            print(f"{float(s):.1f}", file=open("/dev/null", "w"))
            rows = ad.constant(data) * 2.0
            unused = ad.stop_gradient(s) * np.round(s)
            with tape.stop_recording():
                accuracy = s > 1.0
            y = np.sum(np.floor(s) * rows) #1
        scale = s.numpy() * 2
        """,
        [("step", "floor", "1", "smooth")],
    ),
    "outside, with plain numbers beside": (
        """
        s, data = v, np.ones(3)
        note = float(s)
        rows = ad.constant(data) * 2.0
        with ad.GradientTape() as tape:
            y = rows * ad.stop_gradient(s) #1
        """,
        [("stopped", "stop_gradient", "1", "Use s itself")],
    ),
}

LEAVING = {
    "c = ad.constant(s.numpy())": "numpy()",
    "c = ad.constant(float(s))": "float()",
    "c = np.asarray(s)": "np.asarray",
    "c = s.item()": "item()",
    "c = s.tolist()": "tolist()",
    "c = int(s)": "int()",
    "c = complex(s)": "complex()",
    "c = np.array([s, 1.0])": None,
    "c = np.max([s, 1.0])": None,
    "c = np.full((2,), s)": None,
    "c = np.zeros(2); c[0] = s": None,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("moment", ["fresh", "released"])
def test_the_explanation_names_cause_operation_line_and_remedy(case, moment):
    program, expected = CASES[case]
    scope = run(program)
    tape, y, s = scope["tape"], scope["y"], scope["s"]
    if tape._usable and moment == "released":
        if case == "a silent custom gradient":
            tape.explain(y, s)
        assert tape.gradient(y, s) is None
    explanation = tape.explain(y, s)
    assert not explanation
    found = [(cause.kind, cause.operation, cause.place.line) for cause in explanation.causes]
    assert found == [(kind, operation, scope["marked"][mark]) for kind, operation, mark, _ in expected]
    for cause, (*_, remedy) in zip(explanation.causes, expected, strict=True):
        assert remedy in cause.text
        assert f"line {cause.place.line}: " in cause.text or cause.kind == "not used"
    assert str(explanation).startswith("The gradient of y by s is None:") or "target" in str(explanation)
    check_shows(explanation)


@pytest.mark.parametrize("line", LEAVING)
@pytest.mark.parametrize("use", ["y = ad.constant(c) * 2.0", "y = w * ad.constant(np.sin(c))"])
def test_numbers_taken_out_of_a_tensor_are_named(line, use):
    scope = run(f"""
        s = ad.Variable(2.0)
        w = ad.Variable(4.0)
        with ad.GradientTape() as tape:
            {line} #1
            {use}
        """)
    cause, *copied = scope["tape"].explain(scope["y"], scope["s"]).causes
    assert [copy.kind for copy in copied] == ["copied"] * ("ad.constant" in line), "a constant of a constant is a copy"
    assert (cause.kind, cause.place.line) == ("left for NumPy", scope["marked"]["1"])
    assert "makes plain numbers of s" in cause.text
    assert "Compute with s itself" in cause.text
    assert LEAVING[line] is None or cause.operation == LEAVING[line]
    check_shows(scope["tape"].explain(scope["y"], scope["s"]))


def test_a_copy_of_a_tensor_is_named():
    s = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        copy = ad.constant(s)
        y = copy * 2.0
    assert not tape.explain(y, s)
    assert [cause.kind for cause in tape.explain(y, s).causes] == ["copied"]


def test_a_tape_that_was_never_entered_says_so():
    x = ad.Variable(2.0)
    explanation = ad.GradientTape().explain(x * 2.0, x)
    (cause,) = explanation.causes
    assert (cause.kind, cause.operation, cause.place) == ("never entered", None, None)
    assert "inside `with tape:`" in str(explanation)
    check_shows(explanation)


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
    assert repr(explanation) == "Explanation(connected: s → a → y)"
    assert "is not None; it flows back through:\n" in str(explanation)
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
            y = np.unwrap(s) #1
        """)
    explanation = scope["tape"].explain(scope["y"], scope["s"])
    (cause,) = explanation.causes
    assert explanation
    assert (cause.kind, cause.operation, cause.place.line) == ("no rule", "unwrap", scope["marked"]["1"])
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


def test_a_custom_gradient_that_fails_is_no_cause():
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
    assert str(explanation).startswith("The gradient of the 2 targets by x")
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
    with pytest.raises(ad.UnconnectedError, match="by beta is None") as error:
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
def test_what_is_no_tensor_is_a_type_error(target, source, match):
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
        assert not any(isinstance(part, ad.Tensor | np.ndarray) for part in (*line, *line.inputs))
    del y, v, z, explanation, tape, line
    gc.collect()
    assert [array() for array in arrays] == [None, None]
    assert len(journal._lines) <= journal.KEPT


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
    assert "The gradient of y by x is None:\n- cell 2, line 3: y = np.round(x) has steps" in done.stdout
