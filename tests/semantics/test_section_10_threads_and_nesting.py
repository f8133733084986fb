"""Python's own control flow, threads, nested tapes and long chains."""

import threading

import numpy as np

import autodiff_edu as ad

from .cases import case, not_applicable


def run(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@case("python while/if")
def test_a_loop_that_depends_on_values_is_recorded_as_it_ran():
    x = ad.Variable(2.0)
    with ad.GradientTape() as t:
        y, n = x, 0
        while y < 50.0:
            y = y * y
            n += 1
    assert (n, y.tolist(), t.gradient(y, x).tolist()) == (3, 256.0, 1024.0)


@case("result = v0 (plain Variable as target)")
def test_a_variable_may_be_the_target():
    v0, v1 = ad.Variable(2.0), ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        result = v0
    by_v0, by_v1 = t.gradient(result, [v0, v1])
    assert (by_v0.tolist(), by_v1) == (1.0, None)


@case("tape in main thread, ops in another thread")
def test_what_another_thread_computes_is_not_recorded():
    x, out = ad.Variable(3.0), []
    with ad.GradientTape() as t:
        run(lambda: out.append(x * x))
    assert t.gradient(out[0], x) is None
    assert t.entries == []
    assert t.watched_variables() == ()


@case("own tape per thread, same variable")
def test_every_thread_has_its_own_tape():
    x, out = ad.Variable(3.0), {}

    def work(i):
        with ad.GradientTape() as t:
            y = x**i
        out[i] = float(t.gradient(y, x))

    run(*(lambda i=i: work(i) for i in (1, 2, 3, 4)))
    assert out == {1: 1.0, 2: 6.0, 3: 27.0, 4: 108.0}


@case("gradient called in another thread than recorded")
def test_a_gradient_may_be_asked_for_in_another_thread():
    x, out = ad.Variable(3.0), []
    with ad.GradientTape() as t:
        y = x * x
    run(lambda: out.append(t.gradient(y, x).tolist()))
    assert out == [6.0]


@case("tapes exited in the wrong order")
def test_tapes_may_be_left_in_any_order():
    x = ad.Variable(3.0)
    a, b = ad.GradientTape(), ad.GradientTape()
    a.__enter__()
    b.__enter__()
    y = x * x
    a.__exit__(None, None, None)
    z = y * x
    b.__exit__(None, None, None)
    assert (a.gradient(y, x).tolist(), b.gradient(z, x).tolist()) == (6.0, 27.0)


@case("inner tape gradient taken OUTSIDE of outer → no second order")
def test_a_first_gradient_outside_of_the_outer_tape_has_no_second():
    x = ad.Variable(3.0)
    with ad.GradientTape() as t2, ad.GradientTape() as t1:
        y = x**3
    g = t1.gradient(y, x)
    assert g.tolist() == 27.0
    assert t2.gradient(g, x) is None


@case("3rd order nested")
def test_three_tapes_give_the_third_derivative():
    x = ad.Variable(2.0)
    with ad.GradientTape() as t3:
        with ad.GradientTape() as t2:
            with ad.GradientTape() as t1:
                y = x**4
            g1 = t1.gradient(y, x)
        g2 = t2.gradient(g1, x)
    assert [g.tolist() for g in (g1, g2, t3.gradient(g2, x))] == [32.0, 48.0, 48.0]


@case("second derivative of linear fn")
def test_the_second_derivative_of_a_linear_function_is_none():
    x = ad.Variable(2.0)
    with ad.GradientTape() as t2:
        with ad.GradientTape() as t1:
            y = 3.0 * x
        g = t1.gradient(y, x)
    assert g.tolist() == 3.0
    assert t2.gradient(g, x) is None


@case("tape.gradient does the ops of numpy (leaving TF)")
def test_numpy_functions_of_tensors_are_recorded_and_numpy_arrays_are_constants():
    """Difference: the maths has NumPy's names, so `np.sum` and `np.sin` of a tensor give tensors."""
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as t:
        y = np.sum(x.numpy() ** 2)
    assert type(y) is np.float64
    assert t.gradient(ad.constant(y), x) is None
    with ad.GradientTape(persistent=True) as t:
        y, z = np.sum(x**2), np.sin(x)
    assert type(y) is type(z) is ad.Tensor
    assert t.gradient(y, x).tolist() == [2.0, 4.0]
    np.testing.assert_allclose(t.gradient(z, x).numpy(), np.cos([1.0, 2.0]))


@case("deep chain: 100k ops, gradient recursion?")
def test_a_chain_of_a_hundred_thousand_operations():
    x = ad.Variable(1.0)
    with ad.GradientTape() as t:
        y = x * 1.0
        for _ in range(100_000):
            y = y + 0.00001
    assert len(t.entries) == 100_001
    np.testing.assert_allclose(y.numpy(), 2.0)
    assert t.gradient(y, x).tolist() == 1.0


not_applicable("tf.gradients in eager", "an error about TensorFlow's graphs, which have no counterpart here")
