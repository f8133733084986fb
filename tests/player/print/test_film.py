"""A film shows the slides one after the other, plays without a script, and is the same bytes each time."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageChops
from programs import diamond, forward_mode, loop, training, two_layers, two_tapes

import autodiff_edu as ad
from autodiff_edu.player import Player
from autodiff_edu.player.print.canvas import ADVANCE, TextLine, use_pixels
from autodiff_edu.player.print.film import MOST, REST, STEP, TICK, TRAVEL, _photograph
from autodiff_edu.player.print.moments import choose_key_steps
from autodiff_edu.text.shared import colour

SVG = "{http://www.w3.org/2000/svg}"


def profit(price):
    sold = 40.0 - 5.0 * price
    return sold * price


def attention(queries, keys, values):
    scores = np.exp(queries @ keys.T / np.sqrt(3))
    return np.sum((scores / np.sum(scores, axis=1, keepdims=True) @ values) ** 2)


@pytest.fixture(scope="module")
def player():
    return ad.play(profit, 3.0)


def rules(svg):
    """When things are visible: by the name of a class, pairs of a time in percent and what holds from then on."""
    return {
        name: [(float(at), what) for at, what in re.findall(r"([\d.]+)%\{(.*?)\}", body)]
        for name, body in re.findall(r"@keyframes (\w+)\{((?:[\d.]+%\{.*?\})+)\}", svg)
    }


def seen(svg, time, film):
    """The texts that are seen at a time, in milliseconds."""
    known, part = rules(svg), 100 * time / (film.seconds * 1000)
    found = []

    def walk(element):
        name = element.get("class")
        if name:
            now = [what for at, what in known[name] if at <= part + 1e-3]
            if (now[-1] if now else f"visibility:{element.get('visibility')}") in ("visibility:hidden", "opacity:0"):
                return
        if element.tag == f"{SVG}text":
            found.append(element.text)
        for inner in element:
            walk(inner)

    walk(ElementTree.fromstring(svg))
    return found


def open_picture(path):
    return Image.open(io.BytesIO(path.read_bytes()))


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


# What it shows -------------------------------------------------------------------------------------------------------


def test_a_film_takes_900_milliseconds_a_step_and_rests_at_the_end(player):
    film = player.film(2, 3, 4)
    assert film.seconds == pytest.approx((3 * STEP + REST) / 1000)
    assert repr(film) == f"Film('profit(price)', 3 steps, {film.seconds:g} seconds)"
    assert repr(player.film(1)) == "Film('profit(price)', 1 step, 2.9 seconds)"


def test_at_the_end_of_each_step_a_film_shows_the_slide_of_that_step(player):
    film = player.film()
    svg = film.svg()
    for number, step in enumerate(film.steps):
        slide = texts(player.frames(step, size="16:9").svg())
        assert sorted(seen(svg, STEP * (number + 1) - 1, film)) == sorted(slide), step


def test_what_moves_is_known_only_when_it_has_arrived(player):
    steps = player._content["trace"]["steps"]
    film = player.film()
    svg = film.svg()
    for number, step in enumerate(steps[number - 1] for number in film.steps):
        if step["kind"] != "accumulate" or step["count"] != 2:
            continue
        before, contribution, after = (step[key]["text"] for key in ("before", "contribution", "after"))
        under_way = seen(svg, STEP * number + TRAVEL / 2, film)
        assert f"← {before}" in under_way
        assert f"← {after}" not in under_way
        assert under_way.count(contribution) == 2, "in the sum, and on the bead"
        arrived = seen(svg, STEP * (number + 1) - 1, film)
        assert f"← {after}" in arrived
        assert arrived.count(contribution) == 1
        return
    raise AssertionError("the program uses no value twice")


def test_an_accumulator_shows_no_number_between_the_sum_before_and_the_sum_after(player):
    steps = player._content["trace"]["steps"]
    (number,) = [k for k, step in enumerate(steps) if step["kind"] == "accumulate" and step["count"] == 2]
    assert (steps[number]["before"]["text"], steps[number]["after"]["text"]) == ("25", "10")
    film = player.film(number + 1)
    svg = film.svg()
    times = range(5, STEP, 20)
    shown = [[text for text in seen(svg, time, film) if text in ("← 25", "← 10")] for time in times]
    assert ["← 25"] in shown
    assert shown[-1] == ["← 10"]
    every = {text for time in times for text in seen(svg, time, film) if text.startswith("← ")}
    known = {f"← {step[key]['text']}" for step in steps for key in ("before", "after", "cotangent") if step.get(key)}
    assert every <= known | {"← —", "← ", "← backward pass"}


def test_a_bead_travels_from_where_a_line_begins_to_where_it_ends(player):
    steps = player._content["trace"]["steps"]
    for kind, down in (("record", True), ("accumulate", False)):
        number = next(k for k, step in enumerate(steps) if step["kind"] == kind)
        svg = player.film(number + 1).svg()
        beads = [body for name, body in rules(svg).items() if name.startswith("b")]
        assert beads
        for body in beads:
            ways = [re.search(r"translate\(([-\d.]+)px,([-\d.]+)px\)", what) for _, what in body]
            heights = [float(way[2]) for way in ways if way]
            assert heights == sorted(heights, reverse=not down)
            assert abs(heights[-1] - heights[0]) > 40


def test_tangents_travel_down():
    player = ad.play(forward_mode())
    steps = player._content["trace"]["steps"]
    number = next(k for k, step in enumerate(steps) if step["kind"] == "push forward")
    assert "translate(" in player.film(number + 1).svg()


def test_a_training_is_filmed_turn_by_turn_with_its_curve():
    film = ad.play(training(40)).film()
    svg = film.svg()
    assert len(film.steps) <= 24
    said = {text for text in texts(svg) if text and re.fullmatch(r"turn \d+ of 40", text)}
    assert {"turn 1 of 40", "turn 40 of 40"} <= said
    assert len(said) > 10


def test_a_graph_moves_under_its_window_and_is_seen_where_its_slide_shows_it():
    player = ad.play(attention, *(np.ones((4, 3)) * size for size in (0.1, 0.2, 0.3)))
    film = player.film()
    moves = [body for name, body in rules(film.svg()).items() if name.startswith("p")]
    assert len(moves) == 1, "one window, which shows different parts"
    slides = ElementTree.fromstring(player.frames(*film.steps, size="16:9").svg())
    seen = set()
    for number, slide in enumerate(slides):
        (graph,) = [window for window in slide.iter(f"{SVG}svg") if window.get("x") == "660"]
        left, top, *_ = map(float, graph.get("viewBox").split())
        part = 100 * (STEP * (number + 1) - 5) / (film.seconds * 1000)
        at = [what for time, what in moves[0] if time < part][-1]
        assert [float(text) for text in re.findall(r"(-?[\d.]+)px", at)] == [-left, -top], number
        seen.add(at)
    assert len(seen) > 3


def test_a_walk_over_contours_is_filmed_too():
    film = ad.descend(lambda x, y: x**2 + 3.0 * y**2 + x * y, (2.0, 1.0), steps=4).film()
    assert "translate(" not in film.svg()
    assert "negative gradient" in texts(film.svg())


# As a file -----------------------------------------------------------------------------------------------------------


def test_an_animated_svg_needs_no_script_and_nothing_from_elsewhere(player):
    svg = player.film().svg()
    assert not re.search(r"href|url\(|<script|<image|\sid=|@font|@import|onload", svg)
    assert ElementTree.fromstring(svg).get("viewBox") == "0 0 1280 720"
    assert svg == ad.play(profit, 3.0).film().svg()
    assert len(svg) < 200_000


def network(x, *weights):
    for weight in weights:
        x = np.tanh(x @ weight)
    shares = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)
    return -np.mean(np.log(shares[:, 0]))


@pytest.mark.parametrize(
    "play",
    [
        lambda: ad.play(two_tapes()),
        lambda: ad.play(training(50)),
        lambda: ad.play(attention, *(np.random.default_rng(0).normal(size=(3, 5, 3)))),
        lambda: ad.play(network, *(np.random.default_rng(k).normal(size=(16, 16)) for k in range(4))),
    ],
    ids=["nested tapes", "training", "attention", "large arrays"],
)
def test_a_film_is_small_however_much_its_slides_show(play):
    film = play().film()
    assert len(film.steps) > 15
    assert len(film.svg().encode()) < 200_000


def test_where_nothing_moves_one_slide_is_seen(player):
    """For readers who asked for less motion, and in programs that don't know CSS."""
    svg = player.film().svg()
    root = ElementTree.fromstring(svg)
    assert "@media(prefers-reduced-motion:reduce){g[class]{animation:none}}" in svg
    hidden = {
        id(text)
        for group in root.iter(f"{SVG}g")
        if group.get("visibility") == "hidden" or group.get("opacity") == "0"
        for text in group.iter(f"{SVG}text")
    }
    still = [text.text for text in root.iter(f"{SVG}text") if id(text) not in hidden]
    (best,) = choose_key_steps(player._content["trace"], 1)
    assert sorted(still) == sorted(texts(player.frames(best + 1, size="16:9").svg()))


def test_names_and_code_are_never_markup():
    x = ad.Variable(3.0, name='</style><script>alert("x")</script>')
    with ad.trace("</svg>") as traced:
        with ad.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
    svg = ad.play(traced).film().svg()
    assert "<script" not in svg
    assert ElementTree.fromstring(svg) is not None


@pytest.mark.parametrize("form", ["gif", "webp"])
def test_pixels_show_the_same_film(player, form, tmp_path):
    steps = player.film().steps[-3:]
    film = player.film(*steps)
    film.save(tmp_path / f"film.{form}")
    written = (tmp_path / f"film.{form}").read_bytes()
    assert written == getattr(player.film(*steps), form)(), "the same bytes each time"
    picture = open_picture(tmp_path / f"film.{form}")
    assert picture.size == (1280, 720)
    times = []
    for number in range(picture.n_frames):
        picture.seek(number)
        picture.load()
        times.append(picture.info["duration"])
    assert sum(times) == pytest.approx(film.seconds * 1000, rel=0.02)
    player.frames(steps[-1], size="16:9").save(tmp_path / "last.png")
    last = open_picture(tmp_path / "last.png").convert("RGB")
    difference = np.asarray(ImageChops.difference(picture.convert("RGB"), last))
    assert difference.mean() < 1, "the last picture is the last slide, but for a table of few colours"
    assert np.asarray(last).min() < 80, "something is drawn"


@pytest.mark.parametrize("traced", [two_tapes(), loop(8)], ids=["two tapes", "loop"])
def test_a_picture_is_the_same_as_if_all_of_it_were_drawn_again(traced):
    player = ad.play(traced)
    film = player.film(*player.film().steps[::3])
    frames, times = _photograph(film._shots)
    assert len(frames) == len(times) == sum(shot.time // TICK if shot.beads else 1 for shot in film._shots)
    at = 0
    with use_pixels(1280, 720) as draw:
        for number, shot in enumerate(film._shots):
            if not shot.beads:
                assert np.array_equal(np.asarray(frames[at]), draw(shot.shapes())[:, :, :3]), number
            at += shot.time // TICK if shot.beads else 1


@pytest.mark.parametrize("size", [20.0, 22.3, 26.0, 27.4, 30.0])
def test_letters_are_as_wide_as_their_underline_expects(size):
    words = TextLine(40.0, 100.0, "|" + 40 * "x" + "|", size)
    with use_pixels(1280, 200) as draw:
        columns = np.flatnonzero(draw([words])[:, :, 3].any(axis=0))
    assert columns[-1] - columns[0] == pytest.approx(41 * ADVANCE * size, abs=0.1 * size)


def test_a_gif_of_arrays_is_smaller_than_a_megabyte_and_keeps_what_does_not_change(tmp_path):
    player = ad.play(two_layers())
    film = player.film()
    frames, _ = _photograph(film._shots)
    player.save(tmp_path / "x.gif")
    assert (tmp_path / "x.gif").stat().st_size < 1_000_000
    picture = open_picture(tmp_path / "x.gif")
    assert picture.n_frames == len(frames)
    for number, frame in enumerate(frames):
        picture.seek(number)
        assert np.asarray(ImageChops.difference(picture.convert("RGB"), frame)).mean() < 0.5, number


def test_a_player_saves_its_film_and_its_current_step(player, tmp_path):
    short = ad.play(lambda x: x * x, 3.0)
    short.step = 3
    for name in ("x.gif", "x.webp", "x.png"):
        short.save(tmp_path / name)
    assert (tmp_path / "x.gif").read_bytes() == short.film().gif()
    assert open_picture(tmp_path / "x.webp").n_frames > len(short.film().steps)
    short.frames(3, size="16:9").save(tmp_path / "y.png")
    assert (tmp_path / "x.png").read_bytes() == (tmp_path / "y.png").read_bytes()
    shown = open_picture(tmp_path / "x.png")
    assert shown.size == (1280, 720)
    red, green, blue = (int(colour("backward-tint")[k : k + 2], 16) for k in (1, 3, 5))
    assert (np.asarray(shown) == (red, green, blue)).all(axis=2).sum() > 1000, "step 4 is in the backward pass"


def test_a_film_in_a_notebook_is_an_image(player):
    shown = player.film(1, 2)._repr_html_()
    assert shown.startswith('<img alt="Film of profit(price)"')
    assert 'src="data:image/svg+xml;base64,' in shown


# Limits --------------------------------------------------------------------------------------------------------------


def test_a_long_trace_has_a_film_of_its_key_steps():
    player = ad.play(loop(60))
    film = player.film()
    assert len(player) > 100
    assert len(film.steps) <= 24
    assert {at + 1 for at in choose_key_steps(player._content["trace"], 6)} <= set(film.steps)


def test_a_film_has_steps_that_exist_and_not_too_many(player):
    with pytest.raises(IndexError, match=f"1 to {len(player)}"):
        player.film(len(player) + 1)
    with pytest.raises(TypeError, match="integer"):
        player.film(1.5)
    with pytest.raises(ValueError, match=f"at most {MOST} steps, not {MOST + 1}"):
        player.film(*[1] * (MOST + 1))
    with pytest.raises(ValueError, match=r"\.svg, \.gif or \.webp"):
        player.film(1).save("film.mp4")


def test_a_player_that_nobody_has_moved_saves_the_step_of_its_key_frame(tmp_path):
    def save(player):
        player.save(tmp_path / "x.png")
        return (tmp_path / "x.png").read_bytes()

    def play(**options):
        return ad.play(lambda x: x * x, 3.0, **options)

    def draw(step):
        return play().frames(step, size="16:9").png()

    assert "step 6:" in play()._picture[1]
    assert save(play()) == draw(6)
    moved, changed = play(), play()
    moved.step = 1
    changed.draw(play())
    assert save(moved) == save(play(predict=True)) == draw(1)
    assert save(changed) == draw(6)


def test_a_trace_of_no_events_is_a_film_that_says_so(tmp_path):
    with ad.trace("empty") as traced:
        pass
    player = Player(traced)
    assert "Nothing happened on any tape." in texts(player.film().svg())
    for ending in ("gif", "webp", "png"):
        player.save(tmp_path / f"empty.{ending}")
        assert open_picture(tmp_path / f"empty.{ending}").size == (1280, 720)


def test_arrays_travel_without_a_number():
    player = ad.play(diamond())
    steps = player._content["trace"]["steps"]
    number = next(k for k, step in enumerate(steps) if step["kind"] == "accumulate")
    svg = player.film(number + 1).svg()
    (bead,) = [group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if group.get("opacity") == "0"]
    assert [element.tag for element in bead] == [f"{SVG}path"]


def test_beads_stay_in_the_window_of_a_graph_that_is_cut():
    film = ad.play(training(1)).film()
    travelling = [shot for shot in film._shots if shot.beads]
    assert len(travelling) > 10
    for shot in travelling:
        (window,) = [layer.window for layer in shot.layers if layer.window]
        for bead in shot.beads:
            for x, y in bead.places:
                assert window.x - 0.1 <= x <= window.x + window.width + 0.1
                assert window.y - 0.1 <= y <= window.y + window.height + 0.1
