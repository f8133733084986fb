"""A program of a live page, edited and run as a reader does it."""

from __future__ import annotations

import json
from typing import Any

from book.steps import sentences

LOADED = 240_000  # milliseconds: Python arrives in five seconds, and in many more on a busy machine


class Live:
    """A page of the book, and one of its programs."""

    def __init__(self, tab: Any, index: int = 0, kind: str = "play") -> None:
        self.tab, self.page = tab, tab.page
        ready(tab.page)
        told = json.loads(self.page.locator("#live-programs").text_content())
        self.program = [program for program in told["programs"] if program["kind"] == kind][index]
        number = self.program["cell"]
        self.cell = self.page.locator(".live-program" if number is None else f"div.cell >> nth={number}")
        pencil = self.cell.locator(".live-pencil")
        if kind == "play" and pencil.count():
            folded = self.cell.locator("details:not([open]):has(.live-pencil) > summary")
            if folded.count():  # the code is unfolded before it is edited
                folded.click()
            pencil.click()
        self.area = self.cell.locator("textarea")
        self.status = self.cell.locator(".live-form .live-status")

    def run(self, source: str | None = None, **fields: str) -> None:
        """Run the program, and wait until it has."""
        self.start(source, **fields)
        self.finish()

    def finish(self) -> None:
        """Wait until the program has run."""
        self.cell.locator(".live-stop:not([hidden])").wait_for(state="detached", timeout=LOADED)

    def start(self, source: str | None = None, **fields: str) -> None:
        if source is not None:
            self.area.fill(source)
        for name, text in fields.items():
            self.cell.locator(f'.live-values input[name="{name}"]').fill(text)
        self.cell.locator(".live-run").click()

    def steps(self) -> list[str]:
        """Return what the player in the page says, step by step."""
        text = self.cell.locator(".live-output script[type='application/json']").first.text_content()
        return sentences(text)

    def error(self) -> str:
        return self.cell.locator(".live-error").inner_text()


def ready(page: Any) -> None:
    """Wait until the live pages' module, which may come after the page, has prepared it."""
    page.locator("html[data-live=ready]").wait_for(state="attached")
