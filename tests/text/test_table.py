"""The table that `print(tape)` shows."""

import numpy as np

import autodiff_edu as ad


def test_a_table_has_a_line_for_each_entry():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = x * x
    head, line = str(tape).splitlines()
    assert head.split() == ["#", "line", "entry", "value"]
    assert line.split()[0] == "1"
    assert line.endswith("y = x * x  9")
    assert line.index("y = x") == head.index("entry")
    tape.gradient(y, x)
    assert str(tape).splitlines()[1].endswith("released")
    assert str(ad.GradientTape()).endswith(": nothing recorded")


def test_the_table_of_a_long_stack_names_the_first_of_its_arguments_and_the_last():
    x = ad.Variable(1.0, name="x")
    with ad.GradientTape() as tape:
        many = np.stack([x * float(k) for k in range(300)])
    assert many.shape == (300,)
    last = str(tape).splitlines()[-1]
    assert "stack(t1, t2, " in last
    assert "t10, …, t300, axis=0)" in last
    assert len(str(tape)) < 40_000, "a column is as wide as its longest line"


def test_names_of_several_lines_and_places_without_a_name_are_printed():
    x = ad.Variable(2.0, name="first\nsecond")
    with ad.GradientTape() as tape:
        exec(compile("y = x * x", "<>", "exec"), {"x": x})
    assert len(str(tape).splitlines()) == 2
