"""What the live pages run, read from the chapters: each program needs what it is given, and shows what is stored."""

from __future__ import annotations

import ast
import doctest
import json
import re
import sys
from contextlib import redirect_stdout
from decimal import getcontext, localcontext
from io import StringIO
from pathlib import Path
from typing import Any

import earlier
import kernel
import live_programs
import mathematics
import numpy as np
import pytest
from kernel import Kernel, values, with_values

from autodiff_edu.course.contents import OURS
from autodiff_edu.player.unpacking import content_of

from .steps import STORED, steps, unlike

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CHAPTERS = [chapter.name for chapter in OURS.assignments]
TELLING = {"01-the-tape", "13-custom-gradients", *STORED}
"""Chapters whose programs run each time; the live pages' tests run those of all, in a browser."""


def without_places(texts: list[str]) -> list[str]:
    """Leave out the line that each step is about: a program of the page begins elsewhere than its cell."""
    return [re.sub(r"^(Line|[\w. ]+, line) \d+: ", "", text) for text in texts]


def above_of(found: list[dict[str, Any]], program: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells above a program, as a page sends them."""
    return [
        {"title": f"cell {each['cell'] + 1}", "source": each["source"]}
        for each in found
        if each["cell"] < program["cell"] and each["kind"] != "check"
    ]


def masked(text: str) -> str:
    """Leave out numbers, some of which are times, and what tells whether a tape is still there."""
    return re.sub(r"[\d.]+", "#", text).strip()


def read(chapter: str) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads((NOTEBOOKS / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    return notebook


@pytest.mark.parametrize("module", [earlier, kernel, mathematics])
def test_examples(module: Any) -> None:
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


@pytest.mark.parametrize(
    "chapter", [pytest.param(name, marks=() if name in TELLING else pytest.mark.exhaustive) for name in CHAPTERS]
)
@pytest.mark.filterwarnings("ignore")  # some chapters show a warning, and some leave a folder to be cleaned up
def test_a_chapters_programs_show_what_is_stored(chapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(NOTEBOOKS)
    notebook = read(chapter)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    found = live_programs.programs(notebook)
    assert [program["kind"] for program in found].count("check") == len(OURS.find(chapter).exercises)
    assert ("play" in [program["kind"] for program in found]) == (chapter not in STORED)
    for program in found:
        source, above = program["source"], above_of(found, program)
        if program["kind"] == "elsewhere":
            continue
        if program["kind"] == "train":
            pictures: list[str] = []
            Kernel().train(above, source, pictures.append)
            assert all("<svg" in picture for picture in pictures)
            assert len(set(pictures)) == len(pictures) > 10
            continue
        kernel = Kernel()
        told = kernel.run(above, source, key="here", title=f"cell {program['cell'] + 1}")
        assert [text for kind, text in told["outputs"] if kind == "error"] == []
        if program["kind"] == "check":
            assert [answer["right"] for answer in told["answers"]] == [False]  # the three dots
            solution = cells[program["cell"] + 1]
            assert "solution" in solution["metadata"]["tags"]
            told = kernel.run(above, "".join(solution["source"]), key="here")
            assert [answer["right"] for answer in told["answers"]] == [True], told["outputs"]
        elif program["kind"] == "run" and chapter in TELLING:
            stored = [output.get("text", "") for output in cells[program["cell"]]["outputs"]]
            printed = "".join(text for kind, text in told["outputs"] if kind == "text")
            assert masked(printed).startswith(masked("".join("".join(text) for text in stored)[:200])), program["id"]
        elif program["kind"] == "play":
            stored = [output.get("data", {}) for output in cells[program["cell"]]["outputs"]]
            (shown,) = ["".join(data["text/html"]) for data in stored if "text/html" in data]
            (html,) = [text for kind, text in told["outputs"] if kind == "html"]
            assert unlike(without_places(steps(shown)), without_places(steps(html))) == []


def test_cells_above_run_that_share_a_name_with_the_program_or_with_what_does() -> None:
    before = ["import math\nimport json", "x = 1\nk = []", "y = [x]\ny += [2]", "z = y.pop()\nk.append(3)"]
    assert needed(before, "print(z)") == ["x = 1", "y = [x]", "y += [2]", "z = y.pop()"]
    assert needed(before, "print(k, json)") == ["import json", "k = []", "k.append(3)"]
    assert needed(before, "x = 5\nprint(x, math.pi)") == ["import math"]
    assert needed(before, "def f(y):\n    return y\nprint([f(x) for x in (1, 2)])") == []
    assert needed(before, "def f(t):\n    return t + y[0]")[-1] == "z = y.pop()"
    assert needed(before, "with open(name) as x:\n    y = x.read()\nprint(y)") == []
    assert needed(before, "if math.pi > 4:\n    x = 2\nprint(x)")[-1] == "z = y.pop()"


def test_a_function_that_changes_a_module_changes_it_when_it_is_called() -> None:
    define = "def quiet():\n    warnings.simplefilter('ignore')"
    assert needed(["import warnings", define], "print(1)") == []
    assert needed(["import warnings", define, "if True:\n    quiet()"], "print(1)")[1:] == [
        define,
        "if True:\n    quiet()",
    ]


def test_random_numbers_are_taken_above_if_the_program_takes_some() -> None:
    above = ["import numpy as np\nimport random", "np.random.seed(0)", "def throw():\n    return np.random.normal()"]
    above += ["first = throw()", "row = np.random.default_rng(0).normal(size=3)"]
    everything = ["import numpy as np", *above[1:4]]
    assert needed(above, "print(np.random.normal())") == everything
    assert needed(above, "print(np.pi)") == ["import numpy as np"]
    assert needed(above, "print(row)") == ["import numpy as np", above[4]]


@pytest.mark.parametrize(
    "writes", ["with open('a.txt', 'w') as file:\n    file.write('1')", "Path('a.txt').write_text('1')"]
)
def test_a_file_that_is_written_above_is_there(writes: str) -> None:
    assert needed(["from pathlib import Path", writes], "print(open('a.txt').read())")[-1] == writes


@pytest.mark.parametrize(
    "change",
    [
        "np.random.seed(0)",
        "ad.options.player = 'html'",
        "@ad.register_gradient(np.sinc)\ndef pull(g, y, x):\n    return g",
    ],
)
def test_a_cell_above_that_changes_a_module_always_runs(change: str) -> None:
    before = ["import numpy as np\nimport autodiff_edu as ad", change]
    assert needed(before, "print(np.random.random())")[-1] == ast.unparse(ast.parse(change))
    assert needed([before[0], "ad.play(np.sin, 1.0)"], "print(np.pi)") == ["import numpy as np"]


def test_what_only_draws_is_left_out_unless_the_program_draws() -> None:
    before = [
        "import matplotlib.pyplot as plt",
        "x = 3\nfigure, row = plt.subplots(1, 2)\nfor k in (1, 2):\n    row[0].plot([k])",
    ]
    everything = [before[0], *before[1].split("\n", 2)[1:]]
    assert needed(before, "print(x)") == ["x = 3"]
    assert needed(before, "row[1].plot([1])\nfigure") == everything
    assert needed(before, "print(k)") == everything


@pytest.mark.parametrize(
    "draws",
    [
        "for k in range(3):\n    x = x / 2\n    plt.plot(k, x)",
        "plt.plot(train(x))",
        "plt.plot([x.pop()])",
        "x, curve = plt.subplots()",
    ],
)
def test_what_draws_and_does_more_runs_with_all_that_draws(draws: str) -> None:
    before = ["import matplotlib.pyplot as plt", "x = 1", "train = [print][0]", "plt.plot([train])", draws]
    assert needed(before, "print(x)") == [*before[:-1], ast.unparse(ast.parse(draws))]


@pytest.mark.parametrize(
    ("function", "runs"),
    [
        ("def f(x):\n    y = x * w\n    return y", False),
        ("def f(x):\n    w.append(x)\n    return x", True),
        ("def f(x):\n    np.put(w, 0, 5.0)\n    return x", True),
    ],
)
def test_a_player_above_runs_only_if_its_function_may_change_something(function: str, runs: bool) -> None:
    before = ["import autodiff_edu as ad", "w = [2.0]", function, "ad.play(f, 3.0)"]
    assert needed(before, "print(w)")[3:] == ["ad.play(f, 3.0)"] * runs
    pictured = ["import matplotlib.pyplot as plt", "figure = plt.figure()", *before]
    assert needed(pictured, "print(w, figure)")[5:] == ["ad.play(f, 3.0)"] * runs, "whether or not pictures are drawn"


COUNTING = """calls = []
def count_calls(function):
    def wrapper(x):
        calls.append(1)
        return function(x)
    return wrapper"""


@pytest.mark.parametrize(
    ("above", "program", "printed"),
    [
        (["def abs(x):\n    return x * 10"], "print(abs(2))", "20"),  # the reader's own, not Python's
        (["from math import exp", "def exp(x):\n    return x + 1"], "print(exp(1))", "2"),
        (["sum = 0", "for k in range(3):\n    sum += k"], "print(sum)", "3"),
        (["counts = np.zeros(2)", "np.add.at(counts, [0, 0], 1)"], "print(counts)", "[2. 0.]"),
        (["from heapq import heappush\nq = []", "heappush(q, 3)"], "print(q)", "[3]"),
        (["a = np.array([1.0, 5.0])", "a.clip(0, 2, out=a)"], "print(a)", "[1. 2.]"),
        (["class Node:\n    def __mul__(self, other):\n        tape.append(1)", "tape = []", "print(Node() * 1)"],
         "print(len(tape))", "1"),
        (["steps = []\ndef f(x):\n    steps.append(1)\n    return x * x", "g = f", "ad.play(g, 2.0)"],
         "print(len(steps) > 0)", "True"),
        (["pairs = zip([1], [2])", "print(list(pairs))"], "print(list(pairs))", "[]"),
        (["lr = 0.5\ndef configure():\n    global lr\n    lr = 0.1", "configure()"], "print(lr)", "0.1"),
        (["x = 1", "del x\nx = 2"], "print(x)", "2"),
        (["_ = np.set_printoptions(precision=2)"], "print(np.array([1 / 3]))", "[0.33]"),
        (["import os", "os.environ['LEVEL'] = '3'"], "import os\nprint(os.environ['LEVEL'])", "3"),
        (["from math import *"], "print(pi)", "3.141592653589793"),
        (["from numpy.random import seed, rand", "seed(0)"], "print(round(rand(), 4))", "0.5488"),
        (["import numpy.random as npr", "npr.seed(0)", "a = npr.rand()"], "print(round(npr.rand(), 4))", "0.7152"),
        (["import matplotlib.pyplot as plt", "np.random.seed(0)", "plt.hist(np.random.normal(size=1))"],
         "print(round(np.random.normal(), 4))", "0.4002"),
        ([COUNTING, "def f(x):\n    return x * x\nf = count_calls(f)", "ad.play(f, 3.0)"],
         "print(len(calls) > 0)", "True"),
        ([COUNTING, "@count_calls\ndef f(x):\n    return x * x", "ad.play(f, 3.0)"], "print(len(calls) > 0)", "True"),
        (["calls = []\ndef g(x):\n    return x\ndef f(x):\n    return g(x) * x",
          "def g(x):\n    calls.append(1)\n    return x", "ad.play(f, 3.0)"], "print(len(calls) > 0)", "True"),
        (["class C:\n    n = 0\n    def sum(self):\n        C.n += 1\n        return 2.0\nc = C()",
          "def f(x):\n    return x * c.sum()", "ad.play(f, 3.0)"], "print(c.n > 0)", "True"),
        (["class V:\n    n = 0\n    def __mul__(self, other):\n        V.n += 1\nv = V()",
          "def f(x):\n    v * x\n    return x * x", "ad.play(f, 3.0)"], "print(V.n > 0)", "True"),
        (["a = np.ones(1)\ndef f(x):\n    np.multiply(a, 2.0, a)\n    return x * x", "ad.play(f, 3.0)"],
         "print(a > 1)", "[ True]"),
        (["seen = []\ndef note(k):\n    seen.append(k)\n    return k",
          "def f(x):\n    return x * sorted([2.0], key=note)[0]", "ad.play(f, 3.0)"], "print(len(seen) > 0)", "True"),
        (["seen = []\ndef hit(x):\n    seen.append(x)\n    return x",
          "def f(x, sum=hit):\n    return sum(x) * x", "ad.play(f, 3.0)"],
         "print(len(seen) > 0)", "True"),
        (["class M:\n    n = 0\n    @property\n    def w(self):\n        M.n += 1\n        return 2.0\nm = M()",
          "ad.play(lambda x: x * m.w, 3.0)"], "print(M.n)", "1"),
        (["log = []",
          "class C:\n    def __enter__(self):\n        log.append(1)\n    def __exit__(self, *error):\n        pass",
          "class D:\n    def __enter__(self):\n        pass", "c = C()\ndef f(x):\n    with c:\n        return x * x",
          "ad.play(f, 2.0)"], "print(log)", "[1]"),
        (["seen = []", "ad.play(lambda x: x * len(sorted([1.0], key=seen.append)), 2.0)"], "print(seen)", "[1.0]"),
        (["state = [0]\ndef f(x):\n    for state[0] in [1, 2]:\n        pass\n    return x * x", "ad.play(f, 3.0)"],
         "print(state)", "[2]"),
        (["from decimal import Decimal, getcontext\ngetcontext().prec = 5"], "print(Decimal(1) / 3)", "0.33333"),
        (["import logging", "logging.getLogger('own').setLevel(10)"],
         "import logging\nprint(logging.getLogger('own').level)", "10"),
        (["from random import random, seed", "seed(0)"], "print(round(random(), 4))", "0.8444"),
        (["getattr(np.random, 'seed')(0)"], "print(round(np.random.rand(), 4))", "0.5488"),
        (["m = np", "m.random.seed(0)"], "print(round(np.random.rand(), 4))", "0.5488"),
        (["m: object = np", "m.random.seed(0)"], "print(round(np.random.rand(), 4))", "0.5488"),
        (["s = np.seterr", "s(divide='ignore')"], "print(np.geterr()['divide'])", "ignore"),
        (["seen = []", "k = seen.append\nad.play(lambda x: x * len(sorted([1.0], **{'key': k})), 2.0)"],
         "print(seen)", "[1.0]"),
        (["r = np.random", "r.seed(0)"], "print(round(np.random.rand(), 4))", "0.5488"),
        (["import decimal\nd = decimal", "d.getcontext().prec = 5"], "print(decimal.Decimal(1) / 3)", "0.33333"),
        (["import decimal\n_ = decimal.setcontext(decimal.Context(prec=5))"],
         "print(decimal.Decimal(1) / 3)", "0.33333"),
        (["def swap():\n    global max\n    max = min", "swap()"], "print(max(1, 2))", "1"),
        (["x = 1", "exec('x = 5')"], "print(x)", "5"),
        (["u = 0", "match (1, 2):\n    case (u, v):\n        pass"], "print(u)", "1"),
        (["async def five():\n    return 5"], "print(five.__name__)", "five"),
        ([], "text = '''\n%load_ext own\n'''\nprint(len(text))", "15"),
        ([], "def f(x: int):\n    return x\nprint(f.__annotations__)", "{'x': <class 'int'>}"),
        ([], "x = 3\nprint(x)  # that is all;", "3"),
        (["ad.nn.seed(0)", "ad.play(ad.nn.Dense(2), np.ones(3))"],
         "print(ad.nn.Dense(1)(np.ones(2)).numpy().round(3))", "[0.951]"),
    ],
)  # fmt: skip
def test_a_program_finds_what_a_notebook_would_have(above: list[str], program: str, printed: str) -> None:
    cells = [{"title": f"cell {k}", "source": source} for k, source in enumerate(above, start=1)]
    notebook: dict[str, Any] = {}
    with redirect_stdout(StringIO()), np.errstate(), np.printoptions(), localcontext():
        exec("\n".join(["import numpy as np", "import autodiff_edu as ad", *above]), notebook)
        with redirect_stdout(StringIO()) as said:
            exec(compile(program, "cell", "exec", dont_inherit=True), notebook)
    assert said.getvalue().strip() == printed
    assert Kernel().run(cells, program)["outputs"] == [("text", f"{printed}\n")]


def test_what_no_page_can_load_is_left_out_with_all_that_comes_of_it() -> None:
    before = ["import torch\nimport math", "a = 1\nb = torch.ones(a)", "c = b + a", "b = math.pi", "d = b"]
    assert needed(before, "print(a, d)") == ["import math", "a = 1", "b = math.pi", "d = b"]


def needed(before: list[str], program: str) -> list[str]:
    """Return the statements of cells above that a program builds on."""
    kept = earlier.needed([ast.parse(cell) for cell in before], ast.parse(program))
    return [ast.unparse(node) for cell in kept for node in cell.body]


def test_a_second_run_finds_what_the_cells_above_made_unless_it_was_changed() -> None:
    kernel = Kernel()
    above = [{"title": "cell 1", "source": "import sys\nsys.times = getattr(sys, 'times', 0) + 1\nmade = [1]"}]
    programs = ("print(sys.times, made)", "made.append(2); print(sys.times, made)", "print(sys.times, made)")
    told = [kernel.run(above, program, key="here")["outputs"][0][1] for program in programs]
    assert told == ["1 [1]\n", "1 [1, 2]\n", "2 [1]\n"]
    above[0]["source"] += "\nmade = [5]"
    assert kernel.run(above, programs[0], key="here")["outputs"][0][1] == "3 [5]\n"
    del sys.times  # type: ignore[attr-defined]


def test_a_second_run_has_the_random_numbers_and_settings_of_the_cells_above_and_no_other_program_has() -> None:
    kernel, before = Kernel(), (np.geterr(), np.get_printoptions())
    sets = "random.seed(0)\nnp.seterr(divide='ignore')\nnp.set_printoptions(precision=2)\nx = 1"
    sets += "\ndecimal.getcontext().prec = 3"
    above = [{"title": "cell 1", "source": f"import decimal, random\nimport numpy as np\n{sets}"}]
    program = "print(random.random(), np.array([1 / 3]), np.geterr()['divide'], decimal.Decimal(1) / 3)"
    told = [kernel.run(above, program, key="a") for _ in range(2)]
    assert [each["outputs"] for each in told] == [[("text", "0.8444218515250481 [0.33] ignore 0.333\n")]] * 2
    assert (np.geterr(), np.get_printoptions()) == before
    assert getcontext().prec == 28


def test_a_line_that_a_cell_above_has_moved_is_named_where_it_is_now() -> None:
    kernel = Kernel()
    above = [{"title": "cell 1", "source": "def f():\n    return 1 / 0\nfor x in (1, 2):\n    display(x)"}]
    for moved in ("", "# one\n# two\n"):
        above[0]["source"] = moved + above[0]["source"]
        told = kernel.run(above, "f()\nx", key="a")
        assert "return 1 / 0" in told["outputs"][0][1]


def test_an_error_above_is_named_by_its_cell_and_line_and_the_cells_below_it_run() -> None:
    sources = ["a = 1\n\nb = a / 0", "c = (1", "return a", "a += 1"]
    above = [{"title": f"cell {k}", "source": source} for k, source in enumerate(sources, start=1)]
    kernel = Kernel()
    for _ in range(2):  # the second finds what the first has made
        told = kernel.run([above[0], above[3]], "print(a)", key="here")
        assert told["outputs"] == [("text", "2\n")]
        assert told["above"] == {"title": "cell 1", "line": 3, "message": "ZeroDivisionError: division by zero"}
    told = Kernel().run(above, "print(a)\nprint(b)")
    assert (told["line"], [kind for kind, _ in told["outputs"]]) == (2, ["text", "error"])
    assert told["above"]["title"] == "cell 2"
    assert Kernel().run(above[2:], "print(1)")["above"]["message"] == "SyntaxError: 'return' outside function"
    assert Kernel().run(above[:1], "print(1)")["above"] is None  # it does not need what fails


def test_fields_hold_what_is_written_out_and_put_it_back() -> None:
    source = "%%play\nα = ad.Variable(2.0)\nw = ad.constant([1.0, 2.0], name='w')\nn = ad.Variable(len('ab'))\n"
    assert values(source) == [{"name": "α", "text": "2.0"}, {"name": "w", "text": "[1.0, 2.0]"}]
    changed = with_values(source, {"α": " -3 ", "w": "[4]"})
    assert changed == source.replace("2.0)", "-3)").replace("[1.0, 2.0]", "[4]")
    assert values("x = (") == []
    assert len(values("\n".join(f"v{k} = ad.Variable(2.0)" for k in range(150)))) == 20
    assert "ad.Variable((1, 2))" in with_values(source, {"α": "1, 2"})
    with pytest.raises(SyntaxError, match=r"α needs a value, such as 2\.0; 2 # c is not one"):
        with_values(source, {"α": "2 # c"})
    assert len(values("x = ad.Variable(2.0)\nad.play(lambda x: x, 3.0)")) == 1
    assert values("ad.play(lambda x: x, {[1]: 2})") == []
    with pytest.raises(SyntaxError, match=r"α is empty: type a value, such as 2\.0"):
        with_values(source, {"α": ""})


def test_a_program_that_fails_shows_its_own_lines_alone() -> None:
    told = Kernel().run([], "def f(x):\n    return x.missing\n\nad.play(f, 1.0)")
    ((kind, text),) = told["outputs"]
    assert kind == "error"
    assert told["line"] == 2
    assert text.startswith("Traceback (most recent call last):\n  line 4, in <module>")
    assert "line 2, in f" in text
    assert "autodiff_edu/" not in text


def test_a_cell_that_fails_under_play_shows_its_steps_up_to_the_error_under_its_own_name() -> None:
    source = "%%play\nx = ad.Variable(2.0)\nwith ad.GradientTape() as tape:\n    y = x * x\n    1 / 0"
    told = Kernel().run([], source, title="cell 7")
    (_, html), (kind, error) = told["outputs"]
    assert steps(html)[-1] == "Line 5: ZeroDivisionError: division by zero."
    (code,) = content_of(html)["trace"]["code"]
    assert (code["place"], code["first_line"]) == ("cell 7", 2)
    assert (kind, told["line"]) == ("error", 5)
    assert "line 5, in <module>" in error
    assert "cell 7" not in error


def test_an_editor_can_complete_what_follows_a_modules_dot() -> None:
    names = live_programs.names()
    assert ("function", "Return a function that computes the gradient of f.") in [each[1:] for each in names["ad"]]
    assert ("exp", "function") in names["np"]
    assert {each[0] for each in names["np.linalg"]} >= {"solve", "norm"}
    assert not [each for listed in names.values() for each in listed if each[0].startswith("_")]


def test_what_is_printed_and_displayed_comes_in_order() -> None:
    told = Kernel().run(
        [{"title": "cell 1", "source": "print('not shown')\nx = 1"}], "print('a')\ndisplay(1)\nprint('b')\n2"
    )
    assert "".join(text for _, text in told["outputs"]) == "a\n1\nb\n2\n"


def test_a_figure_that_was_displayed_is_not_displayed_again_at_the_end() -> None:
    drawn = "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2])\n"
    for shown, pictures in {"figure": 1, "display(figure)": 1, "": 1, "plt.subplots()\nfigure": 2}.items():
        told = Kernel().run([], drawn + shown)
        assert [kind for kind, _ in told["outputs"]].count("picture") == pictures, shown


def test_a_figure_is_shown_above_the_error_that_ends_its_program_and_not_in_the_next() -> None:
    kernel = Kernel()
    told = kernel.run([], "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\n1 / 0")
    assert [kind for kind, _ in told["outputs"]] == ["picture", "error"]
    assert kernel.run([], "x = 1")["outputs"] == []


def test_each_explorer_of_a_program_can_be_moved() -> None:
    kernel = Kernel()
    first, second = "display(ad.explore(lambda x: x * x, x=(0.0, 4.0)))", "ad.explore(lambda w: -w, w=(0.0, 1.0))"
    told = kernel.run([], f"print(1)\n{first}\nprint(2)\n{second}", key="here")
    assert [kind for kind, _ in told["outputs"]] == ["text", "html", "text", "html"]
    assert [slider["output"] for slider in told["sliders"]] == [1, 3]
    ranges = (
        [{"name": "x", "low": 0.0, "high": 4.0, "value": 2.0}],
        [{"name": "w", "low": 0.0, "high": 1.0, "value": 0.5}],
    )
    assert [slider["ranges"] for slider in told["sliders"]] == list(ranges)
    assert "x = 3" in (kernel.move("x", 3.0, "here", 0) or "")
    assert "w = 0.25" in (kernel.move("w", 0.25, "here", 1) or "")
    assert kernel.move("w", 0.25, "here", 2) is None
    assert kernel.move("w", 0.25, "elsewhere") is None
    assert kernel.run([], "1", key="here")["sliders"] == []
    assert kernel.move("x", 3.0, "here") is None
