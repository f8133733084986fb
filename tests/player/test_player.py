"""`play` shows what was traced, or runs and differentiates a function; its HTML is deterministic and safe."""

import html
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from no_rule import NAME, UNRULED

import autodiff_edu as ad
import autodiff_edu.player as player_room
from autodiff_edu.core.active import always, now
from autodiff_edu.options import options
from autodiff_edu.player import Player
from autodiff_edu.player.unpacking import content_of


def document(player):
    """The trace document inside the player's HTML."""
    return content_of(player.html())["trace"]


def kinds(player):
    return [step["kind"] for step in document(player)["steps"]]


def test_a_function_is_run_and_differentiated():
    player = ad.play(lambda x, y: np.sum(np.sin(x) * y), np.array([0.0, 1.0]), np.array([2.0, 3.0]))
    d = document(player)
    assert d["title"].startswith("<lambda>(x, y")
    assert {"watch", "record", "seed", "pull back", "accumulate"} <= set(kinds(player))
    last = {d["tensors"][s["tensor"]]["name"]: s["after"]["data"] for s in d["steps"] if s["kind"] == "accumulate"}
    assert last["x"] == [2.0, float(f"{3 * np.cos(1.0):.6g}")]
    assert len(player) == len(d["steps"])


def test_a_result_that_is_not_a_scalar_stands_for_its_sum():
    d = document(ad.play(lambda x: x * 2.0, np.array([1.0, 2.0, 3.0])))
    seeds = [step["cotangent"]["data"] for step in d["steps"] if step["kind"] == "seed"]
    assert seeds in ([[1.0, 1.0, 1.0]], [1.0])


def test_numbers_and_arrays_become_watched_tensors_named_after_the_parameters():
    def f(a, b, *rest, c=1.0):
        assert all(isinstance(value, ad.Tensor) for value in (a, b, *rest))
        return a * b + rest[0] * rest[1]

    d = document(ad.play(f, 2.0, 3, np.float64(4.0), np.array(5.0)))
    watched = [tensor["name"] for tensor in d["tensors"] if tensor["kind"] == "watched"]
    assert watched[:2] == ["a", "b"]
    assert len(watched) == 4
    assert sum(step["kind"] == "accumulate" for step in d["steps"]) >= 4


def test_tensors_variables_and_structures_are_watched_too():
    w, x = ad.Variable(2.0, name="weight"), ad.constant(3.0, name="given")
    d = document(ad.play(lambda p, x: p["w"] * x + p["rest"][0], {"w": w, "rest": [1.0]}, x))
    names = {tensor["name"]: tensor["kind"] for tensor in d["tensors"]}
    assert names["weight"] == "variable"
    assert names["given"] == "watched"
    assert sum(step["kind"] == "accumulate" for step in d["steps"]) == 4


def test_the_caller_s_arguments_are_as_they_were():
    w, x, array = ad.Variable(2.0), ad.constant(3.0), np.array([1.0, 2.0])
    ad.play(lambda w, x, a: np.sum(w * x * a), w, x, array)
    assert (w.name, x.name) == (None, None)
    assert array.flags.writeable
    assert array.tolist() == [1.0, 2.0]


def test_integers_among_the_arguments_can_be_indices():
    player = ad.play(lambda x, index: x[index] * 2.0, np.array([1.0, 2.0, 3.0]), np.array([0, 2]))
    assert "record" in kinds(player)


def test_a_numpy_function_can_be_played():
    assert "pull back" in kinds(ad.play(np.sin, 1.0))


def test_a_trace_is_shown_as_it_is():
    x = ad.Variable(3.0, name="x")
    with ad.trace("mine") as t:
        with ad.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
    assert document(ad.play(t)) == t.document()
    assert repr(ad.play(t)) == "Player('mine', 8 steps)"


def test_a_function_that_opens_tapes_of_its_own_shows_those_and_no_more():
    def second_derivative(x):
        with ad.GradientTape() as outer:
            outer.watch(x)
            with ad.GradientTape() as inner:
                inner.watch(x)
                y = x**3
            slope = inner.gradient(y, x)
        return float(outer.gradient(slope, x))

    d = document(ad.play(second_derivative, 2.0))
    assert len(d["tapes"]) == 2
    assert "leave" not in [step["kind"] for step in d["steps"]], "float() is outside of both tapes"
    x = next(k for k, tensor in enumerate(d["tensors"]) if tensor["name"] == "x")
    assert [s["after"]["data"] for s in d["steps"] if s.get("tensor") == x and s["kind"] == "accumulate"][-1] == 12.0


@pytest.mark.parametrize("thing", [3.0, None, "x * x", ad.constant(1.0)])
def test_what_is_neither_a_trace_nor_a_function_is_refused(thing):
    with pytest.raises(TypeError, match="trace"):
        ad.play(thing)


def empty():
    with ad.trace() as t:
        pass
    return t


@pytest.mark.parametrize(
    ("what", "arguments"),
    [
        (lambda: 3.0, ()),
        (lambda x: 3.0, (2.0,)),
        (lambda x: x, (2.0,)),
        (lambda x: x.numpy() ** 2, (2.0,)),
        (lambda text: text.upper(), ("abc",)),
        (empty(), ()),
    ],
    ids=["no argument", "constant", "identity", "numpy", "no number", "trace"],
)
def test_what_records_nothing_says_so(what, arguments):
    with pytest.raises(ValueError, match="recorded nothing"):
        ad.play(what, *arguments)
    assert now().listeners == always.listeners


@pytest.mark.parametrize(
    "f", [lambda x: float(x * x), lambda x: (x * x).numpy(), lambda x: None if x * x > 0 else 1, lambda x: [x * x, 1.0]]
)
def test_a_function_whose_result_is_not_a_tensor_is_told_what_to_return(f):
    with pytest.raises(TypeError, match=r"[Rr]eturn"):
        ad.play(f, 3.0)
    assert now().listeners == always.listeners


@pytest.mark.parametrize(
    ("f", "written"),
    [
        (lambda x: float(x) * 2, r"float\(x\)"),
        (lambda x: float(x * x) * 2, r"float\(x \* x\)"),
        (lambda x: (x * x).item(), r"\(x \* x\).item\(\)"),
    ],
)
def test_where_a_tensor_became_plain_numbers_is_named(f, written):
    with pytest.raises(
        (TypeError, ValueError), match=rf"test_player.py, line \d+: {written} returns plain numbers, which no tape"
    ):
        ad.play(f, 3.0)


def test_an_exception_in_the_function_reaches_the_user_and_leaves_everything_clean():
    def broken(x):
        raise KeyError(str(x * x))

    with pytest.raises(KeyError):
        ad.play(broken, 3.0)
    assert now().listeners == always.listeners


def halfway(x):
    x * x
    raise ValueError("<script>no</script>\nsecond line")


def test_a_function_that_raises_keeps_the_player_of_what_happened_until_then():
    with pytest.raises(ValueError, match="no") as caught:
        ad.play(halfway, 3.0)
    player = caught.value.player
    assert kinds(player) == ["watch", "record", "error"]
    d = document(player)
    assert d["steps"][-1]["text"].endswith("ValueError: <script>no</script>.")
    assert "raise ValueError" in d["code"][0]["lines"][d["steps"][-1]["where"]["line"] - d["code"][0]["first_line"]]
    assert "attribute `player`" in caught.value.__notes__[-1]
    assert "<script>no" not in player.html()


def test_an_operation_that_fails_first_is_a_lesson_too():
    with pytest.raises(ValueError, match="core dimension") as caught:
        ad.play(lambda h, w: np.sum(h @ w), np.ones((3, 2)), np.ones((3, 1)))
    assert kinds(caught.value.player) == ["watch", "watch", "error"]
    assert "h has shape (3, 2), w has shape (3, 1)" in caught.value.player.transcript()
    assert caught.value.player.html()


def test_an_error_before_anything_was_recorded_comes_alone():
    def f(text):
        raise ValueError(text)

    with pytest.raises(ValueError, match="abc") as caught:
        ad.play(f, "abc")
    assert not hasattr(caught.value, "player")


def test_a_wrong_number_of_arguments_is_python_s_error():
    with pytest.raises(TypeError, match="y"):
        ad.play(lambda x, y: x * y, 1.0)


def test_playing_inside_a_recording_tape_shows_the_function_all_the_same():
    with ad.GradientTape():
        player = ad.play(lambda x: x * x, 3.0)
    assert kinds(player) == kinds(ad.play(lambda x: x * x, 3.0))


def test_an_array_of_integers_is_named_where_nothing_is_recorded():
    with pytest.raises(
        ValueError, match=re.escape("z has dtype int64, but tapes only watch floats. Pass z.astype(float)")
    ):
        ad.play(lambda z: np.sum(np.exp(z)), np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="Compute with tensors"):
        ad.play(lambda: 2.0)
    with pytest.raises(ValueError, match=r"x\.numpy\(\) returns plain numbers.*Use the tensor itself there") as caught:
        ad.play(lambda x, i: x.numpy()[i].sum(), np.array([1.0, 2.0, 3.0]), np.array([0, 2]))
    assert "astype" not in str(caught.value)


def test_a_function_without_a_rule_is_named():
    with pytest.raises(LookupError, match=re.escape(NAME)):
        ad.play(lambda x: np.sum(UNRULED(x)), np.array([2.0, 1.0]))
    assert now().listeners == always.listeners


# Steps --------------------------------------------------------------------------------------------------------------


def square(x):
    return x * x


def test_the_step_can_be_read_and_set_and_stays_in_range():
    player = ad.play(square, 3.0)
    assert player.step == 1
    player.step = len(player)
    assert player.step == len(player)
    for wrong in (len(player) + 1, 0, -1):
        with pytest.raises(IndexError, match=f"1 to {len(player)}"):
            player.step = wrong
    for wrong in (1.5, "1", None, True):
        with pytest.raises(TypeError, match="integer"):
            player.step = wrong
    assert player.step == len(player)
    player.step = np.int64(2)
    assert player.step == 2
    assert 'data-start="1"' in player.html()


def test_the_plain_text_is_the_transcript_unless_the_reader_is_asked():
    player = ad.play(square, 3.0)
    assert player._repr_mimebundle_()["text/plain"] == f"{player!r}\n{player.transcript()}"
    assert player.transcript().startswith("1. The tape watches x, which is 3.\n2. ")
    player = ad.play(square, 3.0, predict=True)
    bundle = player._repr_mimebundle_()
    assert bundle["text/plain"] == repr(player)
    assert "step 1: The tape watches" in bundle["text/html"]
    assert "records it" not in bundle["text/html"]
    assert "The tape watches" in player.transcript()


def test_the_plain_text_of_a_long_trace_is_cut_as_its_page_is():
    player = ad.play(lambda x: sum(x * k for k in range(40)), 1.0)
    words = player._repr_mimebundle_()["text/plain"].split("\n")[1:]
    assert words == html.unescape(re.search(r"<pre[^>]*>(.*?)</pre>", player.html(), re.DOTALL).group(1)).split("\n")


def test_pictures_and_pages_are_made_once_and_only_when_wanted(monkeypatch):
    made = []
    for name in ("draw_key_frame", "pack"):
        real = getattr(player_room, name)
        monkeypatch.setattr(player_room, name, lambda *given, real=real, name=name: made.append(name) or real(*given))
    player = ad.play(square, 3.0)
    player.step = 2
    assert player.transcript()
    assert made == []
    first = player.html()
    player.step = 3
    assert player.html() != first
    player._repr_mimebundle_()
    assert sorted(made) == ["draw_key_frame", "pack"]


@pytest.fixture
def restored(monkeypatch):
    """Options that are as before after the test, and a surrounding that is neither Colab nor VS Code."""
    for name in ("VSCODE_PID", "VSCODE_CWD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "google.colab", raising=False)
    yield monkeypatch
    options.player = "auto"


def is_joined():
    return "data-model" in ad.play(square, 3.0)._repr_mimebundle_()["text/html"]


def test_the_reader_chooses_between_widget_and_html(restored):
    pytest.importorskip("anywidget")
    assert is_joined()
    options.player = "html"
    assert not is_joined()
    options.player = "widget"
    assert is_joined()


@pytest.mark.parametrize("place", ["google.colab", "VSCODE_PID", "VSCODE_CWD"])
def test_where_widgets_do_not_work_html_is_chosen_unless_asked_otherwise(place, restored):
    pytest.importorskip("anywidget")
    if place == "google.colab":
        restored.setitem(sys.modules, place, SimpleNamespace(output=SimpleNamespace(enable_custom_widget_manager=int)))
    else:
        restored.setenv(place, "1")
    assert not is_joined()
    options.player = "widget"
    assert is_joined()


@pytest.mark.parametrize("wrong", ["Html", "", None, 1, ["html"]])
def test_a_wrong_option_is_refused_with_the_choices(wrong, restored):
    with pytest.raises(ValueError, match="'auto', 'widget' or 'html'"):
        options.player = wrong
    assert options.player == "auto"
    with pytest.raises(AttributeError, match="player"):
        options.players = "html"
    with pytest.raises(AttributeError):
        del options.player
    assert repr(options) == "Options(player='auto', most_bytes=1000000000)"


def test_options_are_public():
    assert ad.options is options


def test_a_trace_of_another_version_is_refused():
    class Old:
        def document(self):
            return {"format": "autodiff_edu.trace", "version": 0, "title": "old"}

    with pytest.raises(ValueError, match=r"version 0 .* draws version \d"):
        Player(Old())


def test_a_player_writes_the_document_of_its_trace_once(monkeypatch):
    with ad.trace() as t, ad.GradientTape() as tape:
        tape.watch(ad.constant(1.0))
    written = []
    document = ad.Trace.document
    monkeypatch.setattr(ad.Trace, "document", lambda self: written.append(self) or document(self))
    player = ad.play(t)
    assert player.transcript() == "1. The tape watches x, which is 1."
    assert written == [t]


def test_a_trace_that_has_not_run_says_how_to_run_one():
    with pytest.raises(TypeError, match=r"with ad\.trace\(\) as steps"):
        ad.play(ad.trace())


def long_numbers(value, path=""):
    """The places of all numbers with more digits than anybody can mean, but for the constants of formulas."""
    if isinstance(value, dict):
        return [place for key, one in value.items() for place in long_numbers(one, f"{path}.{key}")]
    if isinstance(value, list):
        return [place for one in value for place in long_numbers(one, path)]
    digits = f"{value!r}".partition("e")[0].replace(".", "").strip("-0")
    return [path] if isinstance(value, float) and len(digits) > 10 and ".formulas" not in path else []


def bowl(p):
    return (p[0] / 3.0 - 1.1) ** 2 + np.exp(p[1] / 7.0)


@pytest.mark.parametrize(
    "play",
    [
        lambda: ad.play(
            lambda x, w: np.sum(np.tanh(x @ w) / 3.0), np.sin(np.arange(6.0)).reshape(2, 3), np.ones((3, 9))
        ),
        lambda: ad.descend(bowl, start=(1 / 3, 1 / 7), rate=0.1, steps=3),
        lambda: ad.descend(bowl, start=(1 / 3, 1 / 7), method="newton", steps=3),
        lambda: ad.sweep(lambda x: np.sin(x) / 3.0, np.arange(3.0)),
    ],
)
def test_a_document_has_no_digits_that_depend_on_the_processor(play):
    found = content_of(play().html())
    assert long_numbers(found) == []
    assert long_numbers({"a": [{"b": 1 / 3}]}) == [".a.b"]


@pytest.mark.exhaustive
def test_a_hundred_thousand_events_are_shown_and_saved_in_a_page_of_some_megabytes(tmp_path):
    def chain(x):
        y = x
        for _ in range(14_290):
            y = np.sin(y) * x
        return y

    player = ad.play(chain, 0.5)
    player.save(tmp_path / "long.html")
    assert len(player) > 100_000
    assert (tmp_path / "long.html").stat().st_size < 5e6


def bisect(c):
    low, high = 1.0, 2.0
    for _ in range(10):
        mid = (low + high) / 2
        if mid * mid > c:
            high = mid
        else:
            low = mid
    return mid


def test_plain_numbers_that_only_comparisons_chose_are_told_from_those_taken_out_of_tensors():
    line = bisect.__code__.co_firstlineno + 4
    said = rf"c reaches the result only through comparisons \(test_player.py, line {line}\): .* the result from c"
    with pytest.raises(TypeError, match=said):
        ad.play(bisect, 2.0)
    with pytest.raises(TypeError, match=r"without float\(\)"):
        ad.play(lambda c: float(c * 2.0) if c > 1 else 0.0, 2.0)
