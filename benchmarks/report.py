"""What is printed: the progress bar, numbers, and the table."""

from __future__ import annotations

import sys


class Progress:
    """A bar on stderr, and notes above it."""

    def __init__(self, total, stream=sys.stderr):
        self.total, self.done, self.stream = total, 0, stream
        self.live = stream.isatty()

    def step(self, what):
        filled = 30 * self.done // self.total
        bar = f"[{'#' * filled}{'.' * (30 - filled)}] {self.done}/{self.total} {what}"
        # in a log, where nothing can be drawn over, each step has its line
        self.stream.write(f"\r\033[K{bar}" if self.live else f"{bar}\n")
        self.stream.flush()
        self.done += 1

    def note(self, text):
        self.stream.write(f"\r\033[K{text}\n" if self.live else f"{text}\n")
        self.stream.flush()

    def close(self):
        self.step("done")
        if self.live:
            self.stream.write("\n")


def three_digits(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def milliseconds(seconds):
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{three_digits(seconds * 1e3)} ms"


def table(header, rows):
    """Lay out Markdown that reads well as plain text too."""
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)
