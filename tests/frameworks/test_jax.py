"""JAX under the player: what is shown of each of its features, and what is refused."""

import subprocess
import sys
from textwrap import dedent

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core import events
from autodiff_edu.frameworks.jax import trace_jax

pytestmark = pytest.mark.jax

X = np.array([1.0, 2.0, 3.0])


def read(function, *args):
    """Return the sentences of a run."""
    return trace_jax(function, args).transcript().splitlines()


def table(function, *args):
    """Return the entries of a run: what is computed, on which line of the function, counted from its first."""
    document = trace_jax(function, args).document()
    first = function.__code__.co_firstlineno
    names = [tensor["name"] for tensor in document["tensors"]]
    return [f"{one['where']['line'] - first}: {names[one['output']]} = {one['text']}" for one in document["entries"]]


def contributions(trace):
    """Return what each entry sent, as pairs of its name and an array."""
    return [(one.entry.name, one.value._array) for one in trace.events if isinstance(one, events.Accumulate)]


def gradients(trace):
    return [event.result._array for event in trace.events if isinstance(event, events.Outcome)]


def test_a_function_and_its_gradient_equation_by_equation():
    def f(x, w):
        a = w * x
        y = jnp.tanh(a)
        return jnp.sum(y * y)

    steps = trace_jax(f, (np.array([0.5, -0.5]), 2.0)).document()["steps"]
    assert [step["text"].partition(", so ")[0] for step in steps] == [
        "The tape watches x, which is [0.5 -0.5].",
        "The tape watches w, which is 2.",
        "Line 45: a is w times x, which is [1 -1]. The tape records it as entry 1.",
        "Line 46: y is tanh(a), which is [0.762 -0.762]. The tape records it as entry 2.",
        "Line 47: t3 is y times y, which is [0.580 0.580]. The tape records it as entry 3.",
        "Line 47: f is the sum of t3, which is 1.16. The tape records it as entry 4.",
        "The backward pass starts at f with the cotangent 1.",
        "Entry 4, f = sum(t3): the cotangent 1 arrived at f.",
        "The contribution to t3 is [1 1]. Nothing was there yet",
        "Entry 3, t3 = y * y: the cotangent [1 1] arrived at t3.",
        "The contribution to y is [0.762 -0.762]. Nothing was there yet",
        "The contribution to y is [0.762 -0.762]. It is added to [0.762 -0.762]",
        "Entry 2, y = tanh(a): the cotangent [1.52 -1.52] arrived at y.",
        "The contribution to a is [0.640 -0.640]. Nothing was there yet",
        "Entry 1, a = w * x: the cotangent [0.640 -0.640] arrived at a.",
        "The contribution to x is [1.28 -1.28]. Nothing was there yet",
        "The contribution to w is 0.640. Nothing was there yet",
        "df/dx is [1.28 -1.28], of shape (2,).",
        "df/dw is 0.640.",
    ]
    assert steps[8]["after"]["dtype"] == "float32"


def test_play_shows_it_and_a_saved_page_needs_no_jax(tmp_path):
    player = ad.play(lambda x: jnp.sin(x) * x, 2.0, framework="jax")
    assert repr(player) == "Player('<lambda>(x)', 10 steps)"
    player.save(tmp_path / "page.html")
    assert "sin(x)" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_jax_function_without_its_framework_says_what_to_pass():
    with pytest.raises(TypeError) as caught:
        ad.play(lambda x: jnp.sin(x) * 2, 1.0)
    assert any('pass framework="jax"' in note for note in caught.value.__notes__)


@pytest.mark.parametrize("name", ["tensorflow", "JAX", ""])
def test_another_framework_is_refused(name):
    with pytest.raises(ValueError, match=r'framework is "torch", "jax", or None'):
        ad.play(jnp.sin, 1.0, framework=name)


def test_every_sum_is_added_in_the_order_in_which_jax_adds():
    def f(x):
        y = jnp.sin(x) * x / 3.0
        z = y * y + jnp.exp(y) * x - y * x * x
        return jnp.sum(z * jnp.cos(y) + jnp.arctan2(x * y, y) + jnp.arctan2(y, y) + y)

    x = np.linspace(-2, 2, 57, dtype=np.float32)
    with jax.disable_jit():  # compiled, some sums are rounded once instead of twice
        expected = np.asarray(jax.grad(f)(x))
    assert gradients(trace_jax(f, (x,)))[0].tobytes() == expected.tobytes()


# What is opened -------------------------------------------------------------------------------------------------------


@jax.jit
def layer(x, w):
    y = x @ w
    return jnp.tanh(y)


def test_jitted_and_nested_functions_are_opened_in_scopes():
    @jax.jit
    def outer(x, w):
        h = layer(x, w)
        return h * 2.0

    def f(x, w):
        z = outer(x, w)
        return jnp.sum(jax.checkpoint(lambda a: jnp.sin(a) * a)(z))

    document = trace_jax(f, (X, np.ones((3, 2)))).document()
    names = [tensor["name"] for tensor in document["tensors"]]
    shown = [(names[one["output"]], one["text"], one["scope"]) for one in document["entries"]]
    assert shown == [
        ("y", "x @ w", ["outer", "layer"]),
        ("h", "tanh(y)", ["outer", "layer"]),
        ("z", "h * 2", ["outer"]),
        ("t4", "sin(z)", []),
        ("t5", "t4 * z", []),
        ("f", "sum(t5)", []),
    ]
    code = document["code"][document["entries"][0]["where"]["code"]]
    assert code["lines"][document["entries"][0]["where"]["line"] - code["first_line"]].strip() == "y = x @ w"


def test_a_cached_function_has_the_line_of_each_call():
    def f(x):
        a = jnp.where(x > 1, x, 0.0)
        b = jnp.where(a > 1, a, 0.0)
        return layer(b, layer(a, jnp.eye(3)))

    f(X)
    first = layer.__wrapped__.__code__.co_firstlineno - f.__code__.co_firstlineno
    assert [row for row in table(f, X) if "where" in row or "tanh" in row] == [
        "1: a = where(t1, x, 0)",
        "2: b = where(t3, a, 0)",
        f"{first + 3}: t6 = tanh(y)",
        f"{first + 3}: f = tanh(y₂)",
    ]


def test_scopes_of_jax_are_scopes():
    def f(x):
        with jax.named_scope("square"):
            return x * x

    assert trace_jax(f, (2.0,)).document()["entries"][0]["scope"] == ["square"]


def test_vmap_is_a_batch():
    def f(x):
        y = jax.vmap(lambda row: jnp.dot(row, row))(x)
        return jnp.sum(y)

    document = trace_jax(f, (np.ones((4, 3)),)).document()
    first = document["entries"][0]
    assert (first["operation"], first["scope"]) == ("dot_general", ["vmap"])
    assert document["tensors"][first["output"]]["name"] == "y"
    assert document["tensors"][first["output"]]["value"]["shape"] == [4]


def test_a_gradient_inside_has_the_lines_of_the_function():
    def g(x):
        return jnp.sin(x) * x

    def f(x):
        y = jax.grad(g)(x)
        return y * 2

    start = g.__code__.co_firstlineno - f.__code__.co_firstlineno
    rows = table(f, 1.5)
    assert {row.partition(":")[0] for row in rows} == {str(start + 1), "2"}
    assert rows[-2].startswith(f"{start + 1}: y = ")
    expected = jax.grad(f)(1.5)
    assert gradients(trace_jax(f, (1.5,)))[0] == expected


def test_the_gradient_of_a_line_inside_does_not_get_the_name_on_its_left():
    def loss(w, x):
        pred = w * x
        error = jnp.sin(pred)
        return jnp.sum(error)

    @jax.jit
    def step(w, x):
        g = jax.grad(loss)(w, x)
        return w - 0.1 * g

    def f(w, x):
        w = step(w, x)
        slope = jax.jvp(lambda t: jnp.exp(t), (w,), (x,))[1]
        return loss(slope, x)

    assert [row.partition(": ")[2] for row in table(f, X, X)] == [
        "pred = w * x",
        "t2 = sin(pred)",
        "t3 = cos(pred)",
        "t4 = sum(t2)",
        "s1 = broadcast_to(1, (3,))",
        "t5 = s1 * t3",
        "g = t5 * x",
        "t7 = 0.1 * g",
        "w₂ = w - t7",
        "t9 = exp(w₂)",
        "t10 = x * t9",
        "pred₂ = t10 * x",
        "error = sin(pred₂)",
        "f = sum(error)",
    ]
    names = [tensor["name"] for tensor in trace_jax(jax.grad(loss), (X, X)).document()["tensors"]]
    assert names == ["w", "x", "pred", "t2", "t3", "t4", "s1", "t5", "loss"]


# What is one entry ----------------------------------------------------------------------------------------------------


def test_a_custom_jvp_is_one_entry_with_its_own_slope():
    trace = trace_jax(lambda x: jax.nn.relu(x), (0.0,))
    assert contributions(trace) == [("relu", 0.0)]  # where the maximum of x and 0 inside would send 0.5

    @jax.custom_jvp
    def step(x):
        return jnp.round(x)

    step.defjvp(lambda primals, tangents: (jnp.round(primals[0]), 3.0 * tangents[0]))
    assert contributions(trace_jax(lambda x: step(x), (0.7,))) == [("step", 3.0)]


def test_a_custom_vjp_is_one_entry_with_its_own_backward():
    @jax.custom_vjp
    def odd(x, y):
        return x * y

    odd.defvjp(lambda x, y: (x * y, y), lambda y, g: (100.0 * g, g * y))
    trace = trace_jax(lambda x: odd(x, 2.0) * odd(1.0, x), (3.0,))
    assert [(name, float(value)) for name, value in contributions(trace)] == [
        ("multiply", 6.0),
        ("multiply", 3.0),
        ("odd", 18.0),
        ("odd", 300.0),
    ]


def test_scan_is_one_operation_whose_results_send_back_together():
    def f(x):
        last, steps = jax.lax.scan(lambda c, a: (c * a, c + a), 1.0, x)
        return last + jnp.sum(steps)

    trace = trace_jax(f, (X,))
    assert table(f, X) == [
        "1: t1 = scan(1, x, length=3)[0]",
        "1: t2 = scan(1, x, length=3)[1]",
        "2: t3 = sum(t2)",
        "2: f = t1 + t3",
    ]
    sent = [value for name, value in contributions(trace) if name == "scan"]
    assert len(sent) == 1
    assert np.array_equal(sent[0], jax.grad(f)(jnp.asarray(X, jnp.float32)))
    steps = [event for event in trace.events if isinstance(event, events.PullBack | events.Accumulate)]
    steps = [(type(one).__name__, one.entry.operation.result) for one in steps if one.entry.name == "scan"]
    assert steps == [("PullBack", 1), ("PullBack", 0), ("Accumulate", 0)]


def test_a_result_that_gets_no_cotangent_is_not_pulled_back():
    def f(x):
        values, _ = jnp.linalg.eigh(x + x.T)
        return jnp.sum(values)

    trace = trace_jax(f, (np.diag(X),))
    pulled = [event.entry.name for event in trace.events if isinstance(event, events.PullBack)]
    assert pulled.count("eigh") == 1


def test_cond_and_loops_are_one_entry():
    def f(x):
        y = jax.lax.cond(x > 0, lambda a: a * 2, lambda a: a, x)
        z = jax.lax.fori_loop(0, 3, lambda k, a: a * y, y)
        limit = jax.lax.stop_gradient(jax.lax.while_loop(lambda a: a < 50, lambda a: a * 2, z))
        return limit * z

    trace = trace_jax(f, (3.0,))
    names = [entry.name for entry in trace_entries(trace)]
    assert names == ["greater", "cast", "cond", "scan", "while_loop", "stop_gradient", "multiply"]
    assert gradients(trace)[0] == jax.grad(f)(3.0)


def trace_entries(trace):
    return [event.entry for event in trace.events if isinstance(event, events.Record | events.Cut | events.Skip)]


def test_no_gradient_flows_back_through_while_loop():
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work for"):
        ad.play(lambda x: jax.lax.while_loop(lambda a: a < 5, lambda a: a * 2, x), 1.0, framework="jax")


# What nothing flows through -------------------------------------------------------------------------------------------


def test_what_stops_the_flow_is_cut_and_what_is_not_followed_is_not_recorded():
    def f(x, k):
        m = jax.lax.stop_gradient(x) * k
        order = jnp.argsort(x)
        return jnp.sum(x[order] * m + jnp.floor(x) + jnp.arange(3))

    kinds = {
        event.entry.name: type(event).__name__
        for event in trace_jax(f, (X, np.array([1, 2, 3]))).events
        if isinstance(event, events.Record | events.Cut | events.Skip)
    }
    assert kinds["stop_gradient"] == kinds["argsort"] == kinds["floor"] == "Cut"
    assert kinds["iota"] == "Skip"
    assert kinds["gather"] == kinds["multiply"] == "Record"


def test_an_argument_that_nothing_reaches_has_the_gradient_0_as_in_jax():
    assert read(lambda a, b: a * 2, 1.0, 2.0)[-1] == "8. d lambda/db is 0 instead of None."
    assert read(lambda a: 3.0, 1.0)[-1] == "2. d lambda/da is 0 instead of None."


def test_integers_get_no_contribution():
    def f(x, labels, n):
        return -jnp.sum(jax.nn.log_softmax(x)[labels]) * n

    trace = trace_jax(f, (X, np.array([0, 2]), 3))
    assert [event.tensor.name for event in trace.events if isinstance(event, events.Watch)] == ["x"]
    assert all(event.value.dtype == np.float32 for event in trace.events if isinstance(event, events.Accumulate))


# Values ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_dtypes_are_jax_own(dtype):
    trace = trace_jax(lambda x: x * x, (jnp.asarray(X, dtype),))
    dtypes = {tensor["value"]["dtype"] for tensor in trace.document()["tensors"]}
    assert dtypes == {dtype}
    assert gradients(trace)[0].dtype == dtype


def test_float64_is_jax_own_choice():
    def f(x):
        return jnp.sin(x) * x

    assert gradients(trace_jax(f, (np.float64(2.0),)))[0].dtype == np.float32
    with jax.enable_x64(True):
        assert gradients(trace_jax(f, (np.float64(2.0),)))[0].dtype == np.float64
        assert gradients(trace_jax(f, (np.float32(2.0),)))[0].dtype == np.float32


def test_structures_are_named_by_their_paths():
    def f(params, x):
        return jnp.sum(params["w"] * x + params["b"][0])

    trace = trace_jax(f, ({"w": X, "b": [2.0, 1]}, X))
    watched = [event.tensor.name for event in trace.events if isinstance(event, events.Watch)]
    assert watched == ["params['b'][0]", "params['w']", "x"]


def test_several_results_are_summed_as_those_of_our_own_are():
    trace = trace_jax(lambda a: {"double": a * 2, "sum": a.sum()}, (X,))
    assert gradients(trace)[0].tolist() == [3.0, 3.0, 3.0]
    trace = trace_jax(lambda a: (a, a), (X,))
    assert gradients(trace)[0].tolist() == [2.0, 2.0, 2.0]


def test_several_results_are_named_by_their_paths():
    def f(a):
        return {"loss": a * 2, "parts": (a * 3, 1.0)}

    document = trace_jax(f, (X,)).document()
    assert [tensor["name"] for tensor in document["tensors"]] == ["a", "f['loss']", "f['parts'][0]", "f['parts'][1]"]


def test_a_variable_of_ours_is_its_array():
    assert gradients(trace_jax(lambda a: a * a, (ad.Variable(3.0),)))[0] == 6.0


def test_nan_in_the_branch_that_where_does_not_take():
    def f(x):
        root = jnp.sqrt(x)
        return jnp.sum(jnp.where(x > 0, root, 0.0))

    sentences = read(f, np.array([0.0, 4.0]))
    born = [sentence.partition("Here NaN is born: ") for sentence in sentences]
    assert [(first.split(".")[0], last) for first, _, last in born if last] == [
        ("12", "its contribution to x is nan at element [0], although everything it is computed from is finite."),
    ]


def test_random_numbers_and_complex_ones_inside():
    def f(x):
        noise = jax.random.normal(jax.random.key(0), x.shape)
        return jnp.sum(jnp.abs(jnp.fft.fft(x + noise)))

    trace = trace_jax(f, (X,))
    assert [entry.name for entry in trace_entries(trace)] == ["random_seed", "normal", "add", "fft", "absolute", "sum"]
    assert np.allclose(gradients(trace)[0], jax.grad(f)(jnp.asarray(X, jnp.float32)))


def test_printing_happens_once(capfd):
    def f(x):
        jax.debug.print("x is {}", x)
        return x * 2

    ad.play(f, 1.0, framework="jax")
    jax.effects_barrier()
    assert capfd.readouterr().out == "x is 1.0\n"


# Names ----------------------------------------------------------------------------------------------------------------


def everything(x, m):
    a = x[1:]
    b = m @ x
    c = jnp.dot(x, x)
    d = m.T
    e = x**2
    g = x**0.5
    h = -x
    i = x.astype(jnp.float16)
    j = jnp.maximum(x, 1.0)
    k = m.sum(axis=0)
    ll = jnp.max(m)
    n = x.reshape(3, 1)
    o = jnp.cumsum(x, axis=0)
    p = jnp.arctan2(x, 2.0)
    q = m + x
    r = jnp.mean(x)
    s = jnp.where(x > 1, x, 0.0)
    t = jnp.concatenate([x, x])
    u = jnp.linalg.norm(x)
    v = jnp.broadcast_to(x, (2, 3))
    w = jax.lax.rsqrt(x)
    y = m[0]
    return [jnp.sum(one) for one in (a, b, c, d, e, g, h, i, j, k, ll, n, o, p, q, r, s, t, u, v, w, y)]


def test_primitives_have_numpys_names_where_they_have_one():
    rows = [row for row in table(everything, X, np.ones((2, 3))) if not row.startswith("23: ")]
    assert rows == [
        "1: a = x[1:3]",
        "2: b = m @ x",
        "3: c = x @ x",
        "4: d = transpose(m, axes=(1, 0))",
        "5: e = x ** 2",
        "6: g = x ** 0.5",
        "7: h = -x",
        "8: i = x.astype(float16)",
        "9: j = maximum(x, 1)",
        "10: k = sum(m, axis=0)",
        "11: ll = max(m)",
        "12: n = reshape(x, (3, 1))",
        "13: o = cumsum(x)",
        "14: p = arctan2(x, 2)",
        "15: t15 = broadcast_to(x, (1, 3))",
        "15: q = m + t15",
        "16: t17 = sum(x)",
        "16: r = t17 / 3",
        "17: t19 = x > 1",
        "17: s = where(t19, x, 0)",
        "18: t = concatenate(x, x, axis=0)",
        "19: u = norm(x)",
        "20: v = broadcast_to(x, (2, 3))",
        "21: w = rsqrt(x)",
        "22: t25 = m[0:1, 0:3]",
        "22: y = squeeze(t25, axis=0)",
    ]


def test_the_correction_of_a_variance_does_not_look_like_an_axis():
    def f(x):
        a = jnp.std(x, axis=1)
        b = jnp.var(x, ddof=1)
        return a, b

    assert table(f, np.eye(2)) == ["1: a = std(x, correction=0)", "2: b = var(x, correction=1)"]


def test_a_part_of_an_expression_does_not_get_the_name_of_the_whole():
    def pair(x):
        return x * 2, x * 3

    def f(x):
        both = pair(x)
        total = sum(one.sum() for one in both)
        return total * 2

    assert table(f, X)[:2] == ["-2: t1 = x * 2", "-2: t2 = x * 3"]
    assert table(f, X)[-2:] == ["2: total = t4 + t5", "3: f = total * 2"]


def test_a_loop_names_each_turn():
    def f(x):
        for _ in range(2):
            x = x * 2
        return x

    assert table(f, X) == ["2: x₂ = x * 2", "2: x₃ = x₂ * 2"]


# What is refused ------------------------------------------------------------------------------------------------------


def test_a_condition_on_numbers_says_what_to_write_instead():
    def f(x):
        if x > 0:
            return x * 2
        return x

    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        ad.play(f, 1.0, framework="jax")
    assert "Use jnp.where or jax.lax.cond instead of `if` or a mask as an index" in caught.value.__notes__[-1]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.sum(x[x > 1]),
        lambda x: x[list(range(3))[jnp.argmax(x)]],
        lambda x: jnp.sum(x * np.asarray(x > 1)),
    ],
)
def test_what_jax_grad_computes_with_numbers_says_so_where_they_are_missing(function):
    assert jax.grad(function)(jnp.asarray(X)).shape == (3,)
    with pytest.raises((IndexError, TypeError)) as caught:
        ad.play(function, X, framework="jax")
    assert "which JAX writes down without the numbers" in caught.value.__notes__[-1]


@pytest.mark.parametrize(
    ("function", "argument", "message"),
    [
        (lambda n: n * 2, 3, "gets no floating-point number, so JAX has nothing to differentiate; write 3.0, not 3"),
        (lambda z: z, 1j, "z is complex, but jax.grad is of real numbers; use the real and imaginary parts"),
        (lambda z: z * 1j, 1.0, r"the result of <lambda>\(z\) is complex"),
        (lambda x: jnp.argmax(x), X, r"<lambda>\(x\) returns int32; JAX differentiates only floating-point results"),
        (lambda x: None, X, r"<lambda>\(x\) returns no array"),
    ],
)
def test_what_jax_cannot_differentiate_is_refused_by_name(function, argument, message):
    with pytest.raises(TypeError, match=message):
        ad.play(function, argument, framework="jax")


def test_a_call_inside_a_transformation_is_refused():
    with pytest.raises(TypeError, match="x has no numbers inside a transformation of JAX's"):
        jax.jit(lambda t: ad.play(lambda x: x * 2, t, framework="jax"))(1.0)


def test_effects_are_refused_with_their_line():
    def f(x):
        jax.experimental.io_callback(lambda value: None, None, jax.lax.stop_gradient(x))
        return x * 2

    with pytest.raises(ValueError, match=r"test_jax.py, line \d+: io_callback has effects, which would happen again"):
        ad.play(f, 1.0, framework="jax")


def test_a_function_that_is_another_each_time_is_refused():
    calls = []

    def f(x):
        calls.append(x)
        return x * len(calls)

    with pytest.raises(
        ArithmeticError, match=r"give the gradient 2.0 with respect to x, but the whole function gives 1.0"
    ):
        ad.play(f, 1.0, framework="jax")


def test_an_array_on_several_devices_is_refused():
    program = """
        import jax, jax.numpy as jnp, autodiff_edu as ad
        jax.config.update("jax_num_cpu_devices", 2)
        mesh = jax.make_mesh((2,), ("rows",))
        x = jax.device_put(jnp.ones(4), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows")))
        try:
            ad.play(lambda x: x * 2, x, framework="jax")
        except TypeError as error:
            print(error)
    """
    ran = subprocess.run([sys.executable, "-c", dedent(program)], capture_output=True, text=True, check=True)
    assert "x is on cpu:0, cpu:1. To play on the CPU" in ran.stdout
    assert "pass jax.device_put(x, jax.devices('cpu')[0])" in ran.stdout


def test_errors_of_the_function_are_its_own():
    with pytest.raises(TypeError, match="incompatible shapes for broadcasting"):
        ad.play(lambda x: x + jnp.ones(2), X, framework="jax")
