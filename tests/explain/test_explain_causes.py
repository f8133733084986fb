"""For every cause of a None, `explain` names the right one, the operation, the line, and what to write instead."""

import pytest
from explanations import check_shows, run

import autodiff_edu as ad

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
    "an argument that only picks": (
        """
        s, w = v, ad.Variable(4.0)
        with ad.GradientTape() as tape:
            y = np.where(s, w, -w) #1
        """,
        [("argument", "where", "1", "it only picks or counts. Make the target depend on s")],
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
        [("another thread", "exp", "1", "create a tape in each thread")],
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
    "it only decides": (
        """
        s, w = v, ad.Variable(1.0)
        with ad.GradientTape() as tape:
            y = w * 2.0
            while np.sum(s) * y < 10.0: #1
                y = y * 2.0
            print(f"{s}", file=__import__('io').StringIO())
        """,
        [("decides", None, "1", "they decide, they don't compute. Compute y from s")],
    ),
    "it only decides, as a plain number": (
        """
        s, w = v, ad.Variable(1.0)
        if s > 0.0:
            pass
        with ad.GradientTape() as tape:
            y = w * 2.0 if float(s) > 0.0 else w #1
        """,
        [("decides", None, "1", "s reaches y only through comparisons (")],
    ),
    "it only chooses": (
        """
        s, w = v, ad.Variable(1.0)
        with ad.GradientTape() as tape:
            y = [w * 2.0, w][np.argmax(s)] #1
        """,
        [("decides", None, "1", "s reaches y only through choices (")],
    ),
    "it decides and is used for something else": (
        """
        s, w = v, ad.Variable(1.0)
        with ad.GradientTape() as tape:
            z = np.sum(s * 2.0)
            y = w * 2.0 if s > 0.0 else w #1
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
        [("argument", "f", "1", "returns None for s")],
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
            print(f"{float(s):.1f}", file=__import__('io').StringIO())
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
    "c = s.item()": "item()",
    "c = s.tolist()": "tolist()",
    "c = int(s)": "int()",
    "c = complex(s)": "complex()",
    "c = np.zeros(2); c[0] = s.numpy()": "numpy()",
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
        assert f"line {cause.place.line}: " in cause.text or cause.kind in ("not used", "decides")
        assert cause.kind != "decides" or f"line {cause.place.line})" in cause.text
    assert str(explanation).startswith("dy/ds is None:") or "target" in str(explanation)
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
    assert "returns the plain numbers of s, which no tape follows" in cause.text
    assert "Compute with s itself" in cause.text
    assert cause.operation == LEAVING[line]
    check_shows(scope["tape"].explain(scope["y"], scope["s"]))


def test_a_copy_of_a_tensor_is_named():
    s = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        copy = ad.constant(s)
        y = copy * 2.0
    assert not tape.explain(y, s)
    assert [cause.kind for cause in tape.explain(y, s).causes] == ["copied"]
