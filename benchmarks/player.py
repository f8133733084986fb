"""How long the player takes to open a long trace and to step through it, in Chromium: `python -m benchmarks.player`.

"Play" is `ad.play` of a function, from the call to its return, and "show" what a cell then takes to show the player.
The page is one that `Player.save` writes; "weight" is its size, "buttons" are those in it. "Open" is from the first
line of the page's script to the first picture, "step" the median of what a step takes until the browser has laid it out
again, "worst" the longest of them, "jump" the same for a jump of the scrubber, and "unfolded" the step again with the
loop unfolded.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

import autodiff_edu as ad

ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]

# Everything is measured inside the page; reading a height makes the browser lay out what has changed.
MEASURE = """async ([count, unfold]) => {
  const host = document.querySelector("[data-autodiff-player]");
  const root = () => host.shadowRoot.querySelector("section.player");
  if (unfold) root().querySelector(".group").click();
  const next = root().querySelector('button[data-action="next"]');
  const scrubber = root().querySelector("input[type=range]");
  const durations = { steps: [], jumps: [] };
  const timed = (name, change) => {
    const begin = performance.now();
    change();
    root().querySelector(".graph").scrollHeight + root().querySelector(".tape").scrollHeight;
    durations[name].push(performance.now() - begin);
  };
  const frame = () => new Promise(requestAnimationFrame);
  for (let part = 0; part < 4; part++) {
    timed("jumps", () => {
      scrubber.value = Math.floor(scrubber.max * part / 4);
      scrubber.dispatchEvent(new Event("input"));
    });
    for (let k = 0; k < count / 4; k++) {
      timed("steps", () => next.click());
      await frame();
    }
  }
  const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  const worst = Math.max(...durations.steps);
  const buttons = root().querySelectorAll("button").length;
  return { open: window.opened, step: median(durations.steps), worst, jump: median(durations.jumps), buttons };
}"""

OPENED = """
window.started = performance.now();
new MutationObserver((changes, observer) => {
  const host = document.querySelector("[data-autodiff-player]");
  const script = host?.querySelector('script[type="application/json"]');
  if (script) {
    observer.disconnect();
    window.started = performance.now();
    const check = () => {
      const section = host.shadowRoot?.querySelector("section.player[data-step]");
      if (!section) return requestAnimationFrame(check);
      section.getBoundingClientRect();
      window.opened = performance.now() - window.started;
    };
    check();
  }
}).observe(document, { childList: true, subtree: true });
"""


def loop(x: ad.Tensor, turns: int) -> ad.Tensor:
    """Compute a loop of three entries in each turn."""
    y = x
    for _ in range(turns):
        y = np.sin(y)
        y = y * x
        y = y + 0.1
    return y


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.player", description=__doc__)
    parser.add_argument("--turns", type=int, nargs="*", default=[200, 667, 830], help="of the loop, 3 entries each")
    parser.add_argument("--steps", type=int, default=200, help="how many steps to take")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    times = ("play", "show", "open", "step", "worst", "jump", "unfolded")
    print(f"{'entries':>8}{'steps':>8}{'weight':>10}{'buttons':>10}" + "".join(f"{name:>12}" for name in times))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for turns in options.turns:
            begin = time.perf_counter()
            player = ad.play(partial(loop, turns=turns), 0.5)
            played = time.perf_counter()
            player._repr_mimebundle_()
            shown = time.perf_counter()
            path = Path(folder) / "player.html"
            player.save(path)
            page = browser.new_page()
            page.add_init_script(OPENED)
            page.goto(path.as_uri())
            page.wait_for_function("window.opened")
            found = page.evaluate(MEASURE, [options.steps, False])
            unfolded = page.evaluate(MEASURE, [options.steps, True])
            made = [1000 * (played - begin), 1000 * (shown - played)]
            figures = [*made, *(found[name] for name in ("open", "step", "worst", "jump")), unfolded["step"]]
            row = f"{3 * turns:>8}{len(player):>8}{path.stat().st_size / 1000:>7.0f} kB{found['buttons']:>10}"
            print(row + "".join(f"{figure:>9.1f} ms" for figure in figures))
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
