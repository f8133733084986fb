"""What chapter 23 says of PyTorch and JAX."""

import numpy as np
import pytest

pytestmark = pytest.mark.asides

room = 0.20


def add_room(x):
    return x + room


def penalty(x):
    if x < 1.0:
        return x * x
    return 2.0 * x - 1.0


def test_jax_refuses_an_if_on_a_value():
    jax = pytest.importorskip("jax")
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(penalty)(0.5)
    with_cond = jax.jit(lambda x: jax.lax.cond(x < 1.0, lambda: x * x, lambda: 2.0 * x - 1.0))
    assert [float(with_cond(x)) for x in (0.5, 3.0)] == [0.25, 5.0]


def test_jax_prints_while_it_records_and_keeps_a_global_and_a_random_number(monkeypatch, capsys):
    jax = pytest.importorskip("jax")
    random = np.random.default_rng(0)

    def chatty(x):
        print("line")
        return add_room(x) + random.standard_normal()

    fast = jax.jit(chatty)
    first = float(fast(1.0))
    monkeypatch.setitem(globals(), "room", 0.05)
    assert float(fast(1.0)) == first
    assert capsys.readouterr().out == "line\n"


def test_pytorch_splits_the_program_at_an_if_on_a_value():
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    found = torch._dynamo.explain(penalty)(torch.tensor(0.5))
    assert found.graph_break_count == 1
    torch._dynamo.reset()
    fast = torch.compile(penalty, backend="eager")
    assert [float(fast(torch.tensor(x))) for x in (0.5, 3.0)] == [0.25, 5.0]


def test_pytorch_prints_always_and_reads_a_global_and_a_random_number_anew(monkeypatch, capsys):
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    random = np.random.default_rng(0)

    def chatty(x):
        print("line")
        return x * x

    fast = torch.compile(chatty, backend="eager")
    for x in (1.0, 2.0, 3.0):
        fast(torch.tensor(x))
    assert capsys.readouterr().out == "line\n" * 3
    assert any("`print`" in reason for reason in torch._dynamo.utils.counters["graph_break"])

    fast = torch.compile(add_room, backend="eager")
    assert float(fast(torch.tensor(1.0))) == pytest.approx(1.20)
    monkeypatch.setitem(globals(), "room", 0.05)
    assert float(fast(torch.tensor(1.0))) == pytest.approx(1.05)

    noisy = torch.compile(lambda x: x + random.standard_normal(), backend="eager")
    assert len({float(noisy(torch.tensor(1.0))) for _ in range(3)}) == 3
