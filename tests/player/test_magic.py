"""`%%play`: any cell runs as it stands, with its player below."""

import asyncio
import inspect
import sys
from functools import partial

import pytest
from IPython.utils.capture import capture_output

import autodiff_edu as ad
from autodiff_edu.player.unpacking import content_of

CELL = """%%play
with ad.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)"""


def run(shell, cell):
    with capture_output(stdout=True, stderr=True, display=True) as captured:
        result = shell.run_cell(cell)
    return result, captured


def players(captured):
    return [output for output in captured.outputs if "text/html" in output.data]


def test_a_cell_runs_as_it_stands_and_its_player_appears(shell):
    result, captured = run(shell, CELL)
    assert result.success
    assert float(shell.user_ns["y"]) == 9.0
    (player,) = players(captured)
    assert "Line 3: y is x times x" in player.data["text/plain"]
    assert "the cotangent of x is now 6" in player.data["text/plain"]
    assert "Tensor(6.)" in captured.stdout


def test_several_statements_on_a_line_are_a_step_each(shell):
    _, captured = run(shell, "%%play\nw = 3.0; z = 2.0\nwith ad.GradientTape() as tape:\n    y = w * x + z")
    (player,) = players(captured)
    assert [line.partition(". ")[2] for line in player.data["text/plain"].splitlines()[1:3]] == [
        "Line 2: w is 3.",
        "Line 2: z is 2.",
    ]


def test_several_tapes_of_a_cell_are_all_in_its_player(shell):
    cell = """%%play
with ad.GradientTape() as outer:
    with ad.GradientTape() as inner:
        y = x**3
    slope = inner.gradient(y, x)
curvature = outer.gradient(slope, x)"""
    _, captured = run(shell, cell)
    (player,) = players(captured)
    assert "outer" in player.data["text/plain"]
    assert "inner" in player.data["text/plain"]
    assert float(shell.user_ns["curvature"]) == 18.0


def test_an_error_in_the_cell_shows_as_usual_below_the_player_of_what_happened_until_then(shell):
    result, captured = run(shell, "%%play\nwith ad.GradientTape() as tape:\n    y = x * x\n    z = 1 / 0\n")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    (player,) = players(captured)
    assert "y is x times x" in player.data["text/plain"]
    assert player.data["text/plain"].splitlines()[-1].endswith("Line 4: ZeroDivisionError: division by zero.")
    assert captured.stdout.count("ZeroDivisionError: division by zero") == 1
    assert "line 4" in captured.stdout
    assert "run_cell" not in captured.stdout, "the frames of %%play are nobody's business"


def test_the_first_operation_of_a_cell_may_be_the_one_that_fails(shell):
    cell = "%%play\nw = ad.Variable([1.0, 2.0])\nwith ad.GradientTape() as tape:\n    y = w + np.ones(3)"
    result, captured = run(shell, cell)
    assert isinstance(result.error_in_exec, ValueError)
    (player,) = players(captured)
    assert "w has shape (2,), np.ones(3) has shape (3,)" in player.data["text/plain"]


def test_ad_play_of_a_function_that_raises_shows_its_player_above_the_error(shell):
    result, captured = run(shell, "def f(x):\n    y = x * x\n    return y / (1 // 0)\nad.play(f, 2.0)")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    (player,) = players(captured)
    assert (
        player.data["text/plain"]
        .splitlines()[-1]
        .endswith("Line 3: ZeroDivisionError: integer division or modulo by zero.")
    )
    assert not hasattr(result.error_in_exec, "__notes__")


def test_a_syntax_error_is_shown_and_nothing_is_played(shell):
    result, captured = run(shell, "%%play\nx = (")
    assert not result.success
    assert not players(captured)
    assert captured.stdout.count("SyntaxError") == 1
    assert float(shell.user_ns["x"]) == 3.0


def test_a_cell_without_a_tape_says_so(shell):
    result, captured = run(shell, "%%play\nprint(1 + 1)")
    assert result.success
    assert not players(captured)
    assert captured.stdout.splitlines()[0] == "2"
    assert "no tape recorded anything in this cell" in captured.stdout


def test_it_is_there_once_the_package_is_imported_and_loading_it_says_nothing(shell):
    def magics():
        return shell.magics_manager.magics["cell"]

    del magics()["play"]
    ad._register_magic()
    assert "play" in magics()
    for _ in range(3):
        _, captured = run(shell, "%load_ext autodiff_edu")
        assert captured.stdout + captured.stderr == ""
    other = magics()["play"] = lambda line, cell: None
    ad._register_magic()
    assert magics()["play"] is other, "a magic of the reader's own stays"


def test_the_listing_begins_with_the_reader_s_line_and_counts_as_the_reader_does(shell):
    _, captured = run(shell, CELL)
    (player,) = players(captured)
    (code,) = content_of(player.data["text/html"])["trace"]["code"]
    assert (code["first_line"], code["lines"]) == (2, CELL.splitlines()[1:])


def test_an_option_that_it_does_not_know_is_named_and_nothing_runs(shell):
    _, captured = run(shell, "%%play --loud\nx = 1")
    assert "does not know '--loud'" in captured.stdout + captured.stderr
    assert isinstance(shell.user_ns["x"], ad.Variable)


def test_predict_is_on_from_the_start_if_asked(shell):
    _, captured = run(shell, CELL.replace("%%play", "%%play --predict"))
    (player,) = players(captured)
    assert "data-predict" in player.data["text/html"]
    assert "records it" not in str(player.data), "what it asks must not stand below the picture"
    _, captured = run(shell, CELL)
    assert "data-predict" not in players(captured)[0].data["text/html"]
    assert "The tape watches" in players(captured)[0].data["text/plain"]


def test_stage_is_for_the_live_player_and_no_saved_page_knows_of_it(shell):
    _, captured = run(shell, CELL.replace("%%play", "%%play --stage"))
    _, plain = run(shell, CELL)
    pages = [content_of(players(each)[0].data["text/html"]) for each in (captured, plain)]
    assert [sorted(page) for page in pages] == [sorted(pages[1])] * 2


def test_both_options_can_be_given(shell):
    _, captured = run(shell, CELL.replace("%%play", "%%play --stage --predict"))
    assert "data-predict" in players(captured)[0].data["text/html"]


def test_what_a_cell_leaves_behind_is_there_in_the_next(shell):
    run(shell, CELL)
    result, _ = run(shell, "tape.explain(y, x).connected")
    assert result.result is True


def test_the_cell_has_the_number_that_the_reader_sees(shell):
    def numbered(cell):
        with capture_output(stdout=True, stderr=True, display=True) as captured:
            shell.run_cell(cell, store_history=True)
        return captured

    numbered("1 + 1")
    seen = int(numbered("%%play\n%config x\n1").stdout.count("") >= 0) and shell.execution_count
    captured = numbered(CELL + ".numpy()")
    (player,) = players(captured)
    assert player.data["text/plain"].startswith(f"Player('cell {seen}', ")
    failing = shell.execution_count
    assert f"In[{failing}]" in numbered("%%play\n1 / 0").stdout
    plain = shell.execution_count
    assert f"In[{plain}]" in numbered("1 / 0").stdout


def test_a_semicolon_hides_the_last_value_as_ever(shell):
    _, captured = run(shell, CELL + ";")
    assert "Tensor(6.)" not in captured.stdout
    _, captured = run(shell, CELL)
    assert "Tensor(6.)" in captured.stdout


def test_what_the_cell_runs_and_catches_itself_is_shown(shell):
    result, captured = run(shell, "%%play\nget_ipython().run_cell('1 / 0')\nafter = 1")
    assert result.success
    assert "ZeroDivisionError" in captured.stdout
    assert shell.user_ns["after"] == 1


@pytest.mark.parametrize("cell", ["%%time\nx", "%%play\nx"])
def test_another_cell_magic_below_it_is_refused(shell, cell):
    result, captured = run(shell, f"%%play\n{cell}")
    assert not result.success
    assert "cannot be combined with %%" in captured.stdout + captured.stderr


def test_a_cell_that_awaits_in_a_running_loop_is_refused_with_what_to_write(shell):
    async def in_a_kernel():
        return run(shell, "%%play\nimport asyncio\nawait asyncio.sleep(0)")

    result, captured = asyncio.run(in_a_kernel())
    assert not result.success
    assert "ad.play(steps)" in captured.stdout + captured.stderr


def test_the_shell_is_left_as_it_was(shell):
    before = dict(vars(shell)), dict(vars(shell.compile)), dict(vars(shell.displayhook))
    run(shell, "%%play\n1 / 0")
    for now, then in zip((shell, shell.compile, shell.displayhook), before, strict=True):
        assert not {"_showtraceback", "cache", "quiet"} & (vars(now).keys() - then.keys())


CELLS = {
    "a generator": (
        "def g(x):\n    try:\n        yield x * 2\n    except ValueError:\n        yield x * 3\n"
        "with ad.GradientTape() as tape:\n    it = g(x)\n    a = next(it)\n    y = a * it.throw(ValueError('no'))\n",
        36.0,
    ),
    "a generator's value": (
        "def inner(x):\n    r = yield x * 2\n    return x * r\n"
        "def outer(x):\n    z = yield from inner(x)\n    yield z\n"
        "with ad.GradientTape() as tape:\n    it = outer(x)\n    a = next(it)\n    y = it.send(4.0)\n",
        4.0,
    ),
    "an async function": (
        "import asyncio\nasync def f(x):\n    y = x * x\n    await asyncio.sleep(0)\n    return y\n"
        "with ad.GradientTape() as tape:\n    y = asyncio.run(f(x))\n",
        6.0,
    ),
    "del": ("with ad.GradientTape() as tape:\n    a = x * 2\n    y = a * a\n    del a\n    n = 3\n    del n\n", 24.0),
    "match": (
        "with ad.GradientTape() as tape:\n    match 2:\n        case 1:\n            y = x\n        case k:\n"
        "            y = x * k\n",
        2.0,
    ),
    "a decorator": (
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def g(*a):\n        return f(f(*a))\n"
        "    return g\n"
        "@twice\ndef square(x):\n    return x * x\nwith ad.GradientTape() as tape:\n    y = square(x)\n",
        108.0,
    ),
    "comprehensions": (
        "with ad.GradientTape() as tape:\n    parts = [x * k for k in range(3)]\n"
        "    d = {k: p * 2 for k, p in enumerate(parts)}\n    y = sum(p for p in d.values())\n",
        6.0,
    ),
    "a walrus": (
        "with ad.GradientTape() as tape:\n    if (z := x * x) > 5:\n        y = z * (n := 2)\n"
        "    while (n := n - 1) > 0:\n        y = y + n\n",
        12.0,
    ),
    "nested functions": (
        "def outer(x):\n    k = 2\n    def inner(z):\n        nonlocal k\n        k += 1\n        return z * k\n"
        "    return inner(x) + inner(x)\nwith ad.GradientTape() as tape:\n    y = outer(x)\n",
        7.0,
    ),
    "a class body": (
        "with ad.GradientTape() as tape:\n    class C:\n        n = 3\n        y = x * n\n        @property\n"
        "        def p(self):\n            return self.y * 2\n    y = C().p\n",
        6.0,
    ),
    "try and finally": (
        "def f(x):\n    try:\n        return x * 2\n    finally:\n        n = 4\nwith ad.GradientTape() as tape:\n"
        "    try:\n        y = f(x)\n        1 / 0\n    except ZeroDivisionError:\n        y = y * 3\n"
        "    finally:\n        y = y + 1\n",
        6.0,
    ),
    "several context managers": (
        "import contextlib\n@contextlib.contextmanager\ndef two():\n    yield 2.0\n"
        "with (ad.GradientTape() as outer, ad.GradientTape() as tape, two() as k,\n"
        "      contextlib.suppress(ZeroDivisionError)):\n    y = x**3 * k\n    1 / 0\n",
        54.0,
    ),
}


@pytest.mark.parametrize(("cell", "slope"), CELLS.values(), ids=CELLS)
def test_any_statement_of_python_may_stand_in_the_cell(shell, cell, slope):
    result, captured = run(shell, f"%%play\n{cell}slope = tape.gradient(y, x)")
    assert result.success
    assert float(shell.user_ns["slope"]) == slope
    (player,) = players(captured)
    assert player.data["text/plain"].splitlines()[-1].endswith(f" is {slope:g}.")
    assert not captured.stderr


def test_a_recursion_without_end_is_shown_below_the_player_of_what_happened_until_then(shell, request):
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(len(inspect.stack(0)) + 120)
    cell = "%%play\ndef f(x):\n    return f(x * 1)\nwith ad.GradientTape() as tape:\n    y = f(x)"
    result, captured = run(shell, cell)
    assert isinstance(result.error_in_exec, RecursionError)
    (player,) = players(captured)
    assert "RecursionError" in player.data["text/plain"].splitlines()[-1]
