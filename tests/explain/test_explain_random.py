"""For random programs, `explain` says connected exactly when the gradient is not None, and names the cut."""

import linecache
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodiff_edu.explain import flow
from autodiff_edu.explain.journal import journal

HEAD = """\
import numpy as np, autodiff_edu as ad
@ad.custom_gradient
def half(a, b):
    return a * b, lambda dy: (dy, None)
v = ad.Variable([1.0, 2.0, 0.5])
w = ad.Variable([0.5, 0.5, 2.0])
fixed = ad.Variable([1.0, 1.0, 1.0], trainable=False)
whole = ad.Variable([1, 2, 3])
c = ad.constant([0.5, 1.5, 2.5])
d = ad.constant([2.5, 1.5, 0.5])
i = ad.constant([1, 0, 2])
""".splitlines()

START = ["v", "w", "fixed", "whole", "c", "d", "i"]

SMOOTH = [
    "{a} * {b}", "{a} + {b}", "{a} - 0.5", "2.0 * {a}", "-{a}", "np.tanh({a})", "np.cos({a} * {b})", "{a} / 4",
    "np.sum({a}) * {b}", "{a}[::-1]", "{a}[0] + {b}", "np.where({a} > 0.5, {a}, {b})", "np.maximum({a}, {b})",
    "np.concatenate([{a}, {b}])[1:4]", "np.stack([{a}, {b}])[1]", "{a}.astype('float32')", "half({a} * 1.0, {b} * 1.0)",
    "np.mean({a}, keepdims=True) * {b}", "np.clip({a}, -2.0, 2.0)",
]  # fmt: skip

CUTS = {
    "ad.stop_gradient({a})": "stopped",
    "np.round({a})": "step",
    "np.floor({a})": "step",
    "np.sign({a})": "step",
    "({a} > 0.5) * 1.0": "step",
    "np.ones_like({a})": "step",
    "{a}.astype(int)": "integer",
    "ad.constant({a}.numpy())": "left for NumPy",
    "ad.constant(np.array({a}.tolist()))": "left for NumPy",
    "ad.constant([float(p) for p in {a}])": "left for NumPy",
    "ad.constant({a}.tolist())": "left for NumPy",
    "ad.custom_gradient(lambda q: (q * 1.0, lambda dy: None))({a})": "argument",
}

files = count(1)


@pytest.fixture(autouse=True)
def places_read_once(monkeypatch):
    """The lines of these programs stay as they are, so what stands at a place is read once for the many questions."""
    for name in ("names", "used_at"):
        monkeypatch.setattr(flow, name, once(getattr(flow, name)))


def once(read):
    known = {}

    def reading(*where):
        key = (id(where[0][0]), where[0][1]) if isinstance(where[0], tuple) else (id(where[0]), where[1])
        if key not in known:
            known[key] = where, read(*where)  # with the place, so that no other gets its id
        return known[key][1]

    return reading


def run(lines):
    """Run a program whose lines can be looked up; the journal of those before would only cost time."""
    journal.clear()
    name = f"<random{next(files)}>"
    linecache.cache[name] = (0, None, [line + "\n" for line in lines], name)
    scope = {}
    with np.errstate(all="ignore"):
        exec(compile("\n".join(lines), name, "exec"), scope)
    return scope


@st.composite
def programs(draw):
    """Draw a program: assignments to fresh names before, in and after a tape, with turns in the tape's life."""
    lines, names = [*HEAD], [*START]

    def pick():
        return draw(st.sampled_from(names[-6:] + START))

    def assignment(indent):
        table = SMOOTH if draw(st.integers(0, 3)) else list(CUTS)
        text = draw(st.sampled_from(table)).format(a=pick(), b=pick())
        names.append(f"t{len(names)}")
        lines.append(f"{indent}{names[-1]} = {text}")

    for _ in range(draw(st.integers(0, 2))):
        assignment("")
    accessed = draw(st.sampled_from(["", ", watch_accessed_variables=False"]))
    lines.append(f"with ad.GradientTape(persistent=True{accessed}) as tape:")
    for again in range(draw(st.integers(1, 2))):
        if again:
            assignment("")
            lines.append("with tape:")
        lines.append(f"    tape.watch({draw(st.sampled_from(['c', 'v', 'fixed']))})")
        for _ in range(draw(st.integers(1, 7))):
            match draw(st.integers(0, 11)):
                case 0:
                    lines.append("    with tape.stop_recording():")
                    assignment("        ")
                case 1:
                    lines.append("    tape.reset()")
                case 2:
                    lines.append(f"    {draw(st.sampled_from(['v', 'w', 'fixed']))}.assign({pick()} * 1.0)")
                case 3:
                    lines.append(f"    {draw(st.sampled_from(['v', 'w', 'fixed']))}.assign_add({pick()} * 1.0)")
                case 4:
                    lines.append("    with ad.GradientTape(persistent=True) as inner:")
                    lines.append(f"        inner.watch({draw(st.sampled_from(['c', 'd', 'v']))})")
                    assignment("        ")
                    assignment("        ")
                    source = draw(st.sampled_from(["c", "d", "v", "w"]))
                    names.append(f"t{len(names)}")
                    zero = "unconnected_gradients='zero'"
                    lines.append(f"    {names[-1]} = inner.gradient({names[-2]}, {source}, {zero})")
                case 5:
                    lines.append(f"    tape.watch({draw(st.sampled_from(['c', 'd', 'w']))})")
                case _:
                    assignment("    ")
    for _ in range(draw(st.integers(0, 2))):
        assignment("")
    return lines, names


@settings(max_examples=settings().max_examples // 3)  # each asks for every pair of its tensors
@given(programs())
def test_explain_says_connected_exactly_when_the_gradient_is_not_none(program):
    lines, names = program
    scope = run(lines)
    for tape in filter(None, (scope["tape"], scope.get("inner"))):
        for target in names:
            gradients = tape.gradient(scope[target], [scope[source] for source in names])
            for source, gradient in zip(names, gradients, strict=True):
                explanation = tape.explain(scope[target], scope[source])
                right = bool(explanation) == (gradient is not None) and (explanation or explanation.causes)
                assert right, "\n".join(["", *lines, "", f"{target} by {source}: {gradient}", str(explanation)])


@st.composite
def chains(draw):
    """Draw a program in which t0, t1, ... each are computed from the one before, and one step is a cut."""
    lines, length = [*HEAD], draw(st.integers(1, 6))
    smooth = [text for text in SMOOTH if not any(part in text for part in ("half", "where", "stack", "[1:4]"))]
    at = draw(st.integers(0, length - 1))
    kind = draw(st.sampled_from(["paused", "before", "after", *CUTS]))
    before, after = kind == "before", kind == "after"
    tape, indent = "with ad.GradientTape(persistent=True) as tape:", "    "
    a = "v"
    lines.append("logged = float(np.sum(v))")
    if before:
        at = 0
    else:
        lines.append(tape)
    for k in range(length):
        text = draw(st.sampled_from(smooth)).format(a=a, b=draw(st.sampled_from(["w", "c", a])))
        if k == at and kind in CUTS:
            text = kind.format(a=a)
        if after and k == length - 1:
            at = k
            if k == 0:
                lines.append("    unused = w * 2.0")
            indent = ""
        elif draw(st.booleans()) and not (before and k == 0):
            noise = ["ad.stop_gradient({a})", "np.round({a} * c)", "{a}.numpy()", "[float(np.sum({a}))]"]
            lines.append(f"{indent}noise{k} = {draw(st.sampled_from(noise)).format(a=a)}")
        if k == at and kind == "paused":
            lines.append("    with tape.stop_recording():")
            lines.append(f"        t{k} = {text}")
        else:
            lines.append(f"{'' if before and k == 0 else indent}t{k} = {text}")
        if k == at:
            line = len(lines)
        if before and k == 0:
            lines.append(tape)
            lines.append("    rows = ad.constant(np.ones(3)) * w")
        a = f"t{k}"
    return lines, a, line, CUTS.get(kind, kind)


@given(chains())
def test_the_one_cut_of_a_program_is_named_and_nothing_else(chain):
    lines, target, line, kind = chain
    scope = run(lines)
    explanation = scope["tape"].explain(scope[target], scope["v"])
    shown = "\n".join(["", *lines, "", f"cut in line {line}", str(explanation)])
    assert scope["tape"].gradient(scope[target], scope["v"]) is None, shown
    assert [(cause.kind, cause.place.line) for cause in explanation.causes] == [(kind, line)], shown
    assert explanation.trace().transcript()
