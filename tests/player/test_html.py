"""The HTML of a player: the same bytes each time, safe, light, and readable where no script runs."""

import base64
import html
import re

import numpy as np

import autodiff_edu as ad
from autodiff_edu.player.unpacking import content_of


def square(x):
    return x * x


def test_the_same_function_gives_the_same_bytes():
    assert ad.play(square, 3.0).html() == ad.play(square, 3.0).html()
    assert ad.play(square, 3.0).page() == ad.play(square, 3.0).page()


def test_the_html_needs_no_network_and_has_no_ids():
    text = ad.play(square, 3.0).html()
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert not re.search(r"""@import|url\(\s*["']?https?:|\bfetch\(|from\s+["']https?:""", text)
    assert not re.search(r"<[^>]*\sid=", text.split("<script")[0])


def test_the_transcript_is_there_for_where_scripts_do_not_run():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as t, ad.GradientTape():
        x * x
    transcript = re.search(r"<pre[^>]*>(.*?)</pre>", ad.play(t).html(), re.DOTALL).group(1)
    assert html.unescape(transcript).strip() == t.transcript().strip()


def test_of_a_long_transcript_a_page_has_the_beginning_and_the_end():
    player = ad.play(lambda x: sum(x * k for k in range(40)), 1.0)
    lines = player.transcript().split("\n")
    assert len(lines) > 60
    shown = html.unescape(re.search(r"<pre[^>]*>(.*?)</pre>", player.html(), re.DOTALL).group(1)).split("\n")
    assert shown[:15] + shown[-15:] == lines[:15] + lines[-15:]
    assert shown[15:-15] == [f"… {len(lines) - 30} more steps, which the player shows where scripts run …"]


def test_only_the_output_of_a_cell_says_how_to_run_it():
    player = ad.play(square, 3.0)
    hint = "▶ Choose Run → Run All Cells: then you can step through it."
    assert hint in player._repr_mimebundle_()["text/html"]
    assert hint not in player.html()
    assert hint not in player.page()


NASTY = "</script><img src=x onerror=alert(1)>&amp;<!--\u2028"


def test_names_titles_and_code_from_the_user_cannot_become_markup():
    x = ad.Variable(3.0, name=NASTY)
    with ad.trace(NASTY) as t:
        with ad.GradientTape() as tape:
            y = x * ad.constant(2.0, name=NASTY)  # </script><img src=x onerror=alert(1)>
        tape.gradient(y, x)
    player = ad.play(t)
    harmless = ad.play(square, 3.0)
    for text, plain in ((player.html(), harmless.html()), (player.page(), harmless.page())):
        assert text.count("<img") == plain.count("<img") == 1, "the key frame"
        assert text.count("</script>") == plain.count("</script>")
        assert text.count("<!--") == plain.count("<!--")
        assert text.count("<script") == plain.count("<script")
    d = content_of(player.html())["trace"]
    shown = NASTY.replace("\u2028", "\\u2028")
    assert d["title"] == shown
    assert shown in [tensor["name"] for tensor in d["tensors"]]
    assert any("<img src=x" in line for part in d["code"] for line in part["lines"])


def test_a_key_frame_stands_above_the_transcript_for_where_scripts_do_not_run():
    player = ad.play(square, 3.0)
    found = re.search(
        r'<img alt="([^"]*)" [^>]*src="data:image/svg\+xml;base64,([^"]*)">.*<pre', player.html(), re.DOTALL
    )
    about, picture = found.groups()
    assert html.unescape(about).startswith("square(x), step 6: The contribution to x is 3.")
    assert base64.b64decode(picture).decode() == player.frames(6).svg()


def test_a_player_of_thirty_steps_is_a_light_file():
    def network(x, w, b, v, c):
        return np.sum((np.maximum(x @ w + b, 0.0) @ v + c) ** 2)

    rng = np.random.default_rng(0)
    player = ad.play(network, *(rng.normal(size=shape) for shape in ((3, 2), (2, 4), (4,), (4, 1), (1,))))
    assert 30 <= len(player) <= 40
    assert len(player.html().encode()) < 200_000


def test_large_and_odd_values_can_be_played():
    for value in (np.arange(1e5), np.nan, np.inf, 1 + 2j, np.zeros((0, 3)), np.float32(1.5)):
        assert len(ad.play(lambda x: np.sum(x * x), value).html()) < 300_000
