"""What a player has to show, as the states of the trace document say, and what one does show in a browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from moments import Moment, read_moment

import autodiff_edu as ad

UNKNOWN = "—"

# One call reads everything that is on show, so that nothing can change in between.
READ = """root => {
  const all = (selector) => [...root.querySelectorAll(selector)];
  const texts = (selector) => all(selector).map((element) => element.textContent);
  const lines = all("[data-line][data-lit]").filter((line) => line.getClientRects().length);
  const fields = ["operation", "value", "cotangent", "before", "contribution", "after", "count"];
  const field = (name) => texts(`[data-field="${name}"]`); // none where the panel lists what has a name
  return {
    step: Number(root.dataset.step),
    kind: root.dataset.kind,
    sentence: texts(".sentence").join(),
    playhead: all('li[data-entry] [aria-current="step"]').map((item) => Number(item.closest("li").dataset.entry)),
    numbers: texts("li[data-entry] .number"),
    states: all("li[data-entry]").map((item) => item.dataset.state),
    lit: lines.map((line) => [Number(line.dataset.line), line.querySelector("code").textContent]),
    mark: lines.flatMap((line) => [...line.querySelectorAll("mark")]).map((mark) => mark.textContent),
    fields: Object.fromEntries(fields.map((name) => [name, field(name).length ? field(name).join() : "—"])),
    boxes: Object.fromEntries(
      all("[data-tensor]").map((box) => [box.dataset.tensor, box.querySelector("title").textContent]),
    ),
    scrubber: Number(root.querySelector("input[type=range]").value),
  };
}"""


# The lines of the NumPy program that are lit; of one that is folded, all of it.
PROGRAM = """root => [...root.querySelectorAll("[data-program-line][data-program-lit]")].map(
  (line) => [Number(line.dataset.programLine), line.title || line.querySelector("code").textContent])"""


# Clicks and presses keys as a reader does, and reads something after each. It does so in the page, for each of
# Playwright's own clicks takes as long as ten of these; what they find out, whether a button can be hit, is asked here.
THROUGH = """
  const seen = [];
  for (const action of actions) {
    const button = root.querySelector(`button[data-action="${action}"]`);
    if (button?.checkVisibility()) {
      for (let tries = 0; ; tries++) {
        button.scrollIntoView({ block: "nearest" });
        const { x, y, width, height } = button.getBoundingClientRect();
        const hit = root.getRootNode().elementFromPoint(x + width / 2, y + height / 2);
        if (button.contains(hit)) break;
        if (tries === 100) throw new Error(`${hit?.outerHTML ?? "nothing"} stands before the button "${action}"`);
        await new Promise(requestAnimationFrame); // the page around the player may be moving still
      }
      button.click();
    } else if (action[0] === "=") {
      const field = root.querySelector(".predict input");
      if (field.checkVisibility()) {
        field.value = action.slice(1);
        field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
      }
    } else if (!button) {
      const at = root.getRootNode().activeElement ?? root;
      const options = { key: action, bubbles: true, composed: true, cancelable: true };
      at.dispatchEvent(new KeyboardEvent("keydown", options));
    }
    await new Promise(requestAnimationFrame);
    seen.push([Number(root.dataset.step), await read(root)]);
  }
  return seen;
"""


class Expected:
    """What the trace says about each step."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.steps = document["steps"]
        self._known: dict[int, dict[str, Any]] = {}

    def __len__(self) -> int:
        return len(self.steps)

    def has(self, kind: str) -> bool:
        return any(step["kind"] == kind for step in self.steps)

    def at(self, number: int) -> dict[str, Any]:
        """Return what a player shows at a step."""
        if number not in self._known:
            self._known[number] = self._at(number)
        return self._known[number]

    def _at(self, number: int) -> dict[str, Any]:
        now, entries = read_moment(self.document, number), self.document["entries"]
        return {
            "step": number,
            "kind": now.step["kind"],
            "sentence": now.step["text"],
            "playhead": [now.step["entry"]] if "entry" in now.step else [],
            "numbers": ["" if each["number"] is None else str(each["number"]) for each in entries],
            "states": [now.state(index) for index in range(len(entries))],
            **self.code(now.step["where"]),
            "fields": self.fields(now),
            "boxes": {str(i): self.box(i, now) for i in range(len(self.document["tensors"]))},
            "scrubber": number,
        }

    def code(self, where: dict[str, Any] | None) -> dict[str, Any]:
        if where is None:
            return {"lit": [], "mark": []}
        part = self.document["code"][where["code"]]
        line = part["lines"][where["line"] - part["first_line"]]
        columns = where["columns"]
        return {"lit": [[where["line"], line]], "mark": [line[slice(*columns)]] if columns else []}

    def program(self, number: int) -> list[list[Any]]:
        """The lines of the NumPy program that are lit at a step: one at most."""
        program = self.document["program"]
        at = program["steps"][number]
        return [] if at is None else [[at, program["lines"][at]]]

    def fields(self, now: Moment) -> dict[str, str]:
        """The panel: the operation, what is known of its output, and what is added up."""
        step = now.step
        entry = self.document["entries"][step["entry"]] if "entry" in step else None
        subject = step.get("tensor") if entry is None else entry["output"]
        name = UNKNOWN if subject is None else self.document["tensors"][subject]["name"]
        arrived = now.flows.get(subject) if entry is None else now.arrived.get(step["entry"])
        adding = step["kind"] == "accumulate"
        before, contribution = shown(step.get("before")), shown(step.get("contribution"))
        if adding and step["before"] is None:
            before = "nothing yet"
        if step["kind"] == "push forward":
            parts = [part["text"] for part in step.get("contributions", ()) if part]
            before, contribution = parts or [step["tangent"]["text"], "nothing else"]
        return {
            "operation": name if entry is None else f"{name} = {entry['text']}",
            "value": shown(now.values.get(subject)),
            "cotangent": shown(arrived),
            "before": before,
            "contribution": contribution,
            "after": shown(step.get("after", step.get("tangent"))),
            "count": f"{step['count']} of {step['of']}" if adding else "",
        }

    def box(self, tensor: int, now: Moment) -> str:
        word = "tangent" if now.tangents else "cotangent"
        text = f"{self.document['tensors'][tensor]['name']}: {shown(now.values.get(tensor))}"
        return f"{text}, {word} {now.flows[tensor]['text']}" if tensor in now.flows else text


def shown(array: dict[str, Any] | None) -> str:
    return UNKNOWN if array is None else array["text"]


# Where the parts that are read together stand on the screen, and how high the player is. A step that is about no tensor
# has no panel to show, and one that adds nothing up no accumulator.
TOGETHER = """root => {
  const at = (selector) => [...root.querySelectorAll(selector)]
    .filter((part) => part.checkVisibility({ visibilityProperty: true }) && part.getClientRects().length)
    .map((part) => part.getBoundingClientRect().toJSON());
  const sentence = root.querySelector(".sentence");
  return {
    kind: root.dataset.kind,
    height: root.getBoundingClientRect().height,
    controls: at(".bar"),
    sentence: at(".sentence"),
    unread: sentence.scrollHeight - sentence.clientHeight,
    lit: at("[data-lit]").map((line) => ({ ...line, box: at(".code:not(.program)")[0] })),
    accumulator: at(".accumulator"),
    sums: [...root.querySelectorAll(".sum .part")].every((part) => part.getBoundingClientRect().bottom <=
      root.querySelector(".accumulator").getBoundingClientRect().bottom),
  };
}"""


class Shown:
    """One player in a page, and hands to work it with."""

    def __init__(self, root: Any) -> None:
        self.root = root

    def click(self, action: str) -> None:
        button = self.root.locator(f'button[data-action="{action}"]')
        # Playwright waits for a button to be enabled; at the ends a reader clicks all the same
        button.click(force=button.get_attribute("aria-disabled") == "true")

    def press(self, key: str) -> None:
        self.root.page.keyboard.press(key)

    def stands_at(self, number: int) -> None:
        """Wait until the player is at a step."""
        from playwright.sync_api import expect

        expect(self.root).to_have_attribute("data-step", str(number), timeout=60_000)

    def agrees(self, expected: Expected, number: int) -> None:
        """Assert that all that is on show is what the trace says about a step."""
        self.stands_at(number)
        assert_agrees(self.root.evaluate(READ), expected, number)

    def through(self, actions: list[str], read: str) -> list[tuple[int, Any]]:
        """Click buttons, named by their actions, press keys, or answer ("=77"); return each step and what was read."""
        found = self.root.evaluate(f"async (root, actions) => {{ const read = {read}; {THROUGH} }}", actions)
        return [(number, value) for number, value in found]

    def at_every_step(self, read: str) -> list[Any]:
        """Go from the first step to the last; return what was read at each."""
        last = int(self.root.locator(".bar input[type=range]").get_attribute("max"))
        self.click("first")  # by hand: Playwright brings the player into view
        seen = self.through(["first", *["next"] * last], read)
        assert [number for number, _ in seen] == list(range(last + 1))
        return [value for _, value in seen]

    def walks(self, expected: Expected, forwards: str, backwards: str) -> None:
        """Go from the first step to the last and back, by buttons or by keys, and look at every one of them."""
        last = len(expected) - 1
        self.agrees(expected, 0)
        by_hand = self.click if self.root.locator(f'button[data-action="{forwards}"]').count() else self.press
        by_hand(forwards)
        self.agrees(expected, 1)
        read = f"root => [({READ})(root), ({PROGRAM})(root)]"
        seen = self.through([*[forwards] * last, *[backwards] * last], read)  # at both ends one more than there are
        wanted = [*range(2, last + 1), last, *range(last - 1, -1, -1)]
        assert [number for number, _ in seen] == wanted
        for number, (part, program) in seen:
            assert_agrees(part, expected, number)
            assert program == expected.program(number), number
        self.agrees(expected, 0)

    def is_seen_at_once(self, *parts: str) -> None:
        """Assert that some parts stand in the window together at every step, and that nothing moves the page.

        Of a player with more than 100 steps, every third is looked at: its steps are of the same few kinds.

        The player's top is brought to that of the window first, as a reader does; after that nothing is scrolled.
        """
        self.click("first")
        self.root.evaluate("root => root.getRootNode().host.scrollIntoView({ block: 'start' })")
        last = int(self.root.locator(".bar input[type=range]").get_attribute("max"))
        script = f"""async (root, last) => {{
          const read = {TOGETHER}, seen = [], range = root.querySelector("input[type=range]");
          for (let step = 0; step <= last; step += last > 100 ? 3 : 1) {{
            range.value = step;
            range.dispatchEvent(new Event("input"));
            for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame); // what is lit is scrolled to
            seen.push(read(root));
          }}
          return [seen, innerHeight];
        }}"""
        seen, bottom = self.root.evaluate(script, last)
        assert len({step["height"] for step in seen}) == 1
        for number, step in enumerate(seen):
            about = (number, step["kind"])
            for part in parts:
                for box in step[part]:
                    assert box["top"] >= -1, (part, *about, box)
                    assert box["bottom"] <= bottom + 1, (part, *about, box)
            if "lit" in parts and step["lit"]:
                for box in step["lit"]:
                    assert box["top"] < box["box"]["bottom"], about
                    assert box["bottom"] > box["box"]["top"], about
            assert step["sentence"], about
            assert bool(step["accumulator"]) is (step["kind"] == "accumulate"), about
            assert step["sums"], about

    def measures(self, **wanted: float) -> None:
        """Wait until the player's box has these measures: entering and leaving full screen takes a moment."""
        for _ in range(100):
            box = self.root.bounding_box()
            if box and {name: box[name] for name in wanted} == wanted:
                return
            self.root.page.wait_for_timeout(50)
        assert {name: box[name] for name in wanted} == wanted

    def legible(self) -> None:
        """Assert that the player has the brightness of the page, light or dark, and that all its texts stand out."""
        for scheme in SCHEMES:
            self.root.page.emulate_media(color_scheme=scheme)
            assert_legible(self.root.evaluate(CONTRAST), dark=scheme == "dark")

    def fits(self) -> None:
        """Assert that nothing of the player is wider than its place; what scrolls in a box of its own may be."""
        assert self.root.evaluate(TOO_WIDE) == []

    def picture(self, name: str) -> None:
        """Keep a picture of the player, in the directory that the variable AUTODIFF_SCREENSHOTS names."""
        folder = os.environ.get("AUTODIFF_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.root.screenshot(path=Path(folder) / f"{name}.png")


# Asked of a whole page, and not of what stands in it.
OF_THE_PAGE = {"page-has-heading-one", "region", "landmark-one-main"}


SCHEMES = ("dark", "light")


def violations_in_both_schemes(root: Any) -> list[str]:
    """Run axe-core on what follows the reader's scheme: all rules in light, and contrast in dark as well."""
    root.page.emulate_media(color_scheme="dark")
    dark = violations(root, "color-contrast")
    root.page.emulate_media(color_scheme="light")
    return dark + violations(root)


def violations(root: Any, *rules: str) -> list[str]:
    """Run axe-core, or only some of its rules, on a player; it looks into open shadow roots by itself."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    page = root.page
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = root.evaluate(
        """async (root, rules) => {
          for (let k = 0; k < 2; k++) await new Promise(requestAnimationFrame); // what is lit is scrolled to
          const about = { resultTypes: ["violations"], ...rules };
          const still = document.createElement("style"); // half-faded text fails the contrast check
          still.textContent = "* { transition: none !important; }";
          root.append(still);
          const { violations } = await axe.run({ include: [root.getRootNode().host] }, about);
          still.remove();
          return violations;
        }""",
        {"runOnly": list(rules)} if rules else {},
    )
    return [
        f"{violation['id']}: {violation['help']}: {node['html'][:200]}"
        for violation in found
        if violation["id"] not in OF_THE_PAGE
        for node in violation["nodes"]
    ]


def assert_agrees(seen: dict[str, Any], expected: Expected, number: int) -> None:
    """Assert that what was read of a player is what the trace says about a step."""
    for part, value in expected.at(number).items():
        assert seen[part] == value, f"step {number}: the {part}"


def assert_legible(seen: tuple[float, float, str], dark: bool) -> None:
    """Assert that a player has the brightness of the page, and that all its texts stand out from it."""
    back, weakest, text = seen
    assert (back < 0.2) == dark
    assert weakest >= 4.5, (text, weakest, dark)


def read(traced: ad.Trace) -> Expected:
    return Expected(traced.document())


def save_page(traced: ad.Trace, folder: Path) -> str:
    """Write the page, and give its address."""
    path = folder / "player.html"
    path.write_text(ad.play(traced).page(), encoding="utf-8")
    return path.as_uri()


def only(tab: Any) -> Shown:
    return Shown(tab.page.locator("section.player"))


TOO_WIDE = """root => {
  const page = document.documentElement;
  const found = page.scrollWidth > page.clientWidth ? ["the page scrolls sideways"] : [];
  const room = root.getRootNode().host.parentElement.getBoundingClientRect();
  for (const element of [root, ...root.querySelectorAll("*")]) {
    const box = element.getBoundingClientRect();
    if (element.parentElement?.closest(".scroll") || !box.width) continue;
    const out = box.left < room.left - 0.5 || box.right > room.right + 0.5;
    if (out) found.push(`${element.tagName} ${element.textContent}`);
  }
  return found;
}"""

# Colours are painted onto a canvas to learn what they are, for they are mixed in the style sheet.
CONTRAST = """root => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const painted = (...colours) => {
    const key = colours.join();
    if (!known.has(key)) known.set(key, paint(colours));
    return known.get(key);
  };
  const paint = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
    }
    const linear = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  };
  const colours = new Map();
  const behind = (element) => {
    if (!colours.has(element)) {
      const further = element === root ? [] : behind(element.parentElement);
      colours.set(element, [...further, getComputedStyle(element).backgroundColor]);
    }
    return colours.get(element);
  };
  let weakest = [Infinity, ""];
  for (const element of root.querySelectorAll("h2, p, span, code, dt, dd, figcaption, mark")) {
    if (!element.textContent.trim() || element.children.length || !element.getClientRects().length) continue;
    const back = painted(...behind(element));
    const text = painted(...behind(element), getComputedStyle(element).color);
    const ratio = (Math.max(back, text) + 0.05) / (Math.min(back, text) + 0.05);
    if (ratio < weakest[0]) weakest = [ratio, element.textContent];
  }
  return [painted(getComputedStyle(root).backgroundColor), ...weakest];
}"""
