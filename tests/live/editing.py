"""A program of a live page, edited and run as a reader does it."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from book.steps import sentences

LOADED = 240_000  # milliseconds: Python arrives in five seconds, and in many more on a busy machine

IDLE = {"check"}  # what no program builds on


class Live:
    """A page of the book, and one of its programs."""

    def __init__(self, tab: Any, index: int = 0, kind: str = "play") -> None:
        self.tab, self.page = tab, tab.page
        ready(tab.page)
        told = json.loads(self.page.locator("#live-programs").text_content())
        self.program = [program for program in told["programs"] if program["kind"] == kind][index]
        self.program["source"] = self.text_of(self.program)
        number = self.program["cell"]
        self.programs = told["programs"]
        self.cell = self.page.locator(".live-program" if number is None else f"div.cell >> nth={number}")
        pencil = self.cell.locator(".live-pencil")
        if kind != "check" and pencil.count():
            folded = self.cell.locator("details:not([open]):has(.live-pencil) > summary")
            if folded.count():  # the code is unfolded before it is edited
                folded.click()
            pencil.click()
        else:
            self.cell.locator(".live-code").click(position={"x": 60, "y": 15})
        self.area = self.cell.locator(".cm-content")
        self.area.wait_for()
        self.status = self.cell.locator(".live-form .live-status")

    def text_of(self, program: dict[str, Any]) -> str:
        """Return a program's text, which a page does not say again of what it shows."""
        shown = self.page.locator(f"div.cell >> nth={program['cell'] or 0}").locator(".cell_input pre")
        return str(program.get("source") or (shown.text_content().rstrip() if shown.count() else ""))

    def list_above(self) -> list[dict[str, str]]:
        """Return the cells above as the book has them, for a page on which no other editor is open."""
        number = self.program["cell"] or 0
        cells = [each for each in self.programs if (each["cell"] or 0) < number and each["kind"] not in IDLE]
        return [{"title": f"cell {each['cell'] + 1}", "source": self.text_of(each)} for each in cells]

    def run(self, source: str | None = None, **fields: str) -> None:
        """Run the program, and wait until it has."""
        self.start(source, **fields)
        self.finish()

    def finish(self) -> None:
        """Wait until the program has run."""
        self.cell.locator(".live-stop:not([hidden])").wait_for(state="detached", timeout=LOADED)

    def start(self, source: str | None = None, **fields: str) -> None:
        if source is not None:
            self.write(source)
        for name, text in fields.items():
            self.cell.locator(f'.live-values input[name="{name}"]').fill(text)
        self.cell.locator(".live-run").click()

    def write(self, source: str) -> None:
        """Put another text in place of the program, as a reader pastes it."""
        self.area.focus()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Delete")
        self.area.evaluate(PASTE, source)

    def text(self) -> str:
        """Return the program as the editor shows it."""
        return "\n".join(self.area.locator(".cm-line").all_text_contents())

    def list_failed(self) -> list[str]:
        """Return the numbers of the lines that are marked as failed, in the margin."""
        return self.cell.locator(".cm-gutterElement.live-failed").all_text_contents()

    def steps(self) -> list[str]:
        """Return what the player in the page says, step by step."""
        return sentences(self.find_framed("script[type='application/json']").first.text_content())

    def find_framed(self, selector: str, frame: int = 0, **options: Any) -> Any:
        """Return what is found in a frame of those with the HTML that the program shows."""
        return self.cell.frame_locator(f".live-output iframe >> nth={frame}").locator(selector, **options)

    def error(self) -> str:
        return self.cell.locator(".live-error").inner_text()


PASTE = """(area, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  area.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


def ready(page: Any) -> None:
    """Wait until the live pages' module, which may come after the page, has prepared it."""
    page.locator("html[data-live=ready]").wait_for(state="attached")


def link(source: str | bytes, name: str = "first-player", version: int = 1) -> str:
    """Return the part of an address after # that has a program in it, as linked.js writes it."""
    squeezed = zlib.compressobj(wbits=-15)
    packed = squeezed.compress(source if isinstance(source, bytes) else source.encode()) + squeezed.flush()
    return f"#program-{version}.{name}.{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
