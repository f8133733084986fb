"""The code that a trace points into."""

import autodiff_edu as ad


def test_the_code_is_that_of_the_user_s_file():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        x * x  # this very line
    document = traced.document()
    (record,) = [step for step in document["steps"] if step["kind"] == "record"]
    part = document["code"][record["where"]["code"]]
    line = part["lines"][record["where"]["line"] - part["first_line"]]
    assert part["place"] == "test_excerpts.py"
    assert line.strip() == "x * x  # this very line"
    assert line[slice(*record["where"]["columns"])] == "x * x"
