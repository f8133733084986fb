"""How long the player takes to open a long trace and to step through it, in Chromium: `python -m benchmarks.player`.

The page is one that `Player.save` writes. "Open" is from the first line of the page's script to the first picture,
"step" the median of what a step takes until the browser has laid it out again, "worst" the longest of them, "jump" the
same for a jump of the scrubber, and "unfolded" the step again with the loop unfolded.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import autodiff_edu as ad
from autodiff_edu.player.layout.layout import layout

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
  return { open: window.opened, step: median(durations.steps), worst, jump: median(durations.jumps) };
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


def loop(turns: int) -> ad.Trace:
    """A loop of three entries in each turn, and the backward pass through it."""
    x = ad.Variable(0.5, name="x")
    with ad.trace(f"{turns} turns") as traced:
        with ad.GradientTape() as tape:
            y = x
            for _ in range(turns):
                y = np.sin(y)
                y = y * x
                y = y + 0.1
        tape.gradient(y, x)
    return traced


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.player", description=__doc__)
    parser.add_argument("--turns", type=int, nargs="*", default=[200, 667], help="of the loop, 3 entries each")
    parser.add_argument("--steps", type=int, default=200, help="how many steps to take")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    print(f"{'entries':>8}{'steps':>8}{'layout':>10}{'open':>10}{'step':>10}{'worst':>10}{'jump':>10}{'unfolded':>10}")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for turns in options.turns:
            traced = loop(turns)
            document = traced.document()
            begin = time.perf_counter()
            layout(document)
            placed = 1000 * (time.perf_counter() - begin)
            path = Path(folder) / "player.html"
            ad.play(traced).save(path)
            page = browser.new_page()
            page.add_init_script(OPENED)
            page.goto(path.as_uri())
            page.wait_for_function("window.opened")
            found = page.evaluate(MEASURE, [options.steps, False])
            unfolded = page.evaluate(MEASURE, [options.steps, True])
            figures = [placed, *(found[name] for name in ("open", "step", "worst", "jump")), unfolded["step"]]
            row = f"{len(document['entries']):>8}{len(document['steps']):>8}"
            print(row + "".join(f"{figure:>7.1f} ms" for figure in figures))
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
