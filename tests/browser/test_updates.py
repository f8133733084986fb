"""Updates and checkpoints in a browser: the third pill, the formula of an assignment, what runs again; and how long
arrays and the heads of rows are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_edu as ad
from autodiff_edu.core import events
from autodiff_edu.player.print.frames import StepPicture
from autodiff_edu.trace.foreign import ForeignTape, Gradient
from browser.player_page import only, save_page, violations_in_both_schemes

READ = """root => ({
  kind: root.dataset.kind,
  direction: root.dataset.direction,
  pill: root.querySelector("header .direction").textContent,
  formula: root.querySelector('[data-field="forward"]').textContent.replace(/\\\\s/g, ""),
  cotangent: root.querySelector('[data-field="cotangent"]')?.textContent,
  memory: root.querySelector('[data-field="memory"]').textContent,
})"""


def descent(start: Any) -> ad.Trace:
    w = ad.Variable(start, name="w")
    with ad.trace() as kept:
        for _ in range(2):
            with ad.GradientTape() as tape:
                loss = np.sum((w - 1.0) ** 2)
            slope = tape.gradient(loss, w)
            w.assign_sub(0.1 * slope)
    return kept


def recomputed() -> ad.Trace:
    w = ad.Variable(0.7, name="w")

    def block(x: Any) -> Any:
        return np.exp(np.sin(w * x))

    x = ad.Variable(1.2, name="x")
    with ad.trace() as kept:
        with ad.GradientTape() as tape:
            z = ad.checkpoint(block)(x) * x
        tape.gradient(z, [x, w])
    return kept


def test_an_update_has_a_pill_a_colour_and_a_formula_while_the_cotangent_is_still_there(
    visit: Any, tmp_path: Path
) -> None:
    shown = only(visit(save_page(descent(3.0), tmp_path)))
    seen = [step for step in shown.at_every_step(READ) if step["kind"] == "assign"]
    assert [step["pill"] for step in seen] == ["↻ update"] * 2
    assert {step["direction"] for step in seen} == {"update"}
    assert seen[0]["formula"] == "w:=w−0.1·w¯=3−0.1·4=2.6"
    assert seen[0]["cotangent"] == "4"
    assert seen[1]["formula"] == "w:=w−0.1·w¯=2.6−0.1·3.2=2.28"
    assert shown.root.locator("header .direction").get_attribute("data-phase") == "update"
    assert violations_in_both_schemes(shown.root) == []
    shown.legible()


def test_the_pill_says_backward_pass_while_an_outer_tape_records_it_and_finished_at_the_return(
    visit: Any, tmp_path: Path
) -> None:
    def newton(x: Any) -> Any:
        with ad.GradientTape() as outer:
            outer.watch(x)
            with ad.GradientTape() as inner:
                inner.watch(x)
                y = x**3
            dy = inner.gradient(y, x)
        x = x - dy / outer.gradient(dy, x)
        return x  # noqa: RET504

    with ad.trace() as kept:
        newton(ad.constant(2.0))
    shown = only(visit(save_page(kept, tmp_path)))
    seen = shown.at_every_step(READ)
    pills = [step["pill"] for number, step in enumerate(seen) if step["pill"] != seen[number - 1]["pill"]]
    assert pills == ["→ forward pass", "← backward pass", "↻ update", "✓ finished"]
    assert violations_in_both_schemes(shown.root) == []
    content = ad.play(kept)._content
    printed = [StepPicture(content["trace"], content["layout"], number, (400, 400, 1)) for number in range(len(seen))]
    assert [frame.direction for frame in printed] == [step["pill"] for step in seen]


def test_the_formula_of_an_update_of_an_array_is_in_names(visit: Any, tmp_path: Path) -> None:
    shown = only(visit(save_page(descent(np.arange(6.0).reshape(2, 3)), tmp_path)))
    seen = [step for step in shown.at_every_step(READ) if step["kind"] == "assign"]
    assert [step["formula"] for step in seen] == ["w:=w−0.1·w¯"] * 2


def test_a_second_run_says_why_in_its_frame_and_the_bytes_rise_and_fall(visit: Any, tmp_path: Path) -> None:
    shown = only(visit(save_page(recomputed(), tmp_path)))
    label = shown.root.locator(".group .label")
    assert label.text_content() == "↻ block, run again: it was not kept"
    assert label.evaluate("label => label.scrollWidth <= label.clientWidth"), "all of it can be read"
    memory = [step["memory"] for step in shown.at_every_step(READ)]
    rising = [text for text in memory if text.endswith("↑")]
    assert any("the rerun of block holds " in text for text in rising)
    assert any(re.search(r"^tape holds \d+ bytes ↓", text) for text in memory)
    chips = shown.root.locator(".chips button").all_text_contents()
    assert [chip.partition(" = ")[0] for chip in chips][:1] == ["bytes held"]


def test_the_head_of_a_row_is_words_for_those_who_listen_and_a_triangle_is_not_read(visit: Any, tmp_path: Path) -> None:
    shown = only(visit(save_page(descent(3.0), tmp_path)))
    shown.click("next")
    tree = shown.root.aria_snapshot()
    assert 'rowheader "w input scalar float64"' in tree
    assert "The same as NumPy" in tree
    assert not re.search("[▾▸]", tree)


def test_a_long_array_of_the_program_is_folded_and_its_numbers_are_in_the_title(visit: Any, tmp_path: Path) -> None:
    shown = only(visit(save_page(descent(np.linspace(0.0, 1.0, 12).reshape(4, 3)), tmp_path)))
    line = shown.root.locator("[data-program-line]").filter(has_text="np.array")
    assert line.locator("code").text_content() == "w = np.array(…)  # 4×3"
    whole = line.get_attribute("title")
    exec(whole, names := {"np": np})
    assert names["w"].shape == (4, 3)


def test_what_pytorch_has_added_up_is_called_grad_and_only_what_arrived_has_a_bar(visit: Any, tmp_path: Path) -> None:
    tape, kept, w = ForeignTape(), ad.Trace("a second pass"), ad.constant(3.0, name="w")
    arrived, before, total = ad.constant(1.0), ad.constant(-4.0), ad.constant(-3.0)
    kept.add(
        events.Watch(tape, w, None),
        events.Seed(tape, w, arrived),
        Gradient(tape, ".grad", (w,), w, total, True, False, (), before),
    )
    seen = only(visit(save_page(kept, tmp_path))).at_every_step(READ)
    assert [step["formula"] for step in seen] == ["w=3", "w¯=1", "w.grad=−3"]
    assert seen[-1]["cotangent"].startswith("1")
