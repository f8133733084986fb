"""The command line and the table; see the package's docstring."""

from __future__ import annotations

import argparse
import gc
import sys

import numpy as np

from . import timing
from .agreement import disagreement, to_numpy
from .peers import UnsupportedError, installed
from .report import Progress, milliseconds, table, three_digits
from .workloads import WORKLOADS, has

MISSING = "–"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [*WORKLOADS, "import"]
    parser.add_argument("workloads", nargs="*", metavar="workload", help=f"of {', '.join(names)}, or their first words")
    parser.add_argument("--peers", default="all", help='"all", "none", or names separated by commas')
    parser.add_argument("--repeat", type=int, default=9, metavar="N", help="pairs for each figure (default: 9)")
    parser.add_argument("--growth", action="store_true", help="plot how the cost grows, into benchmarks/plots/")
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")
    chosen = [name for name in names if not options.workloads or any(map(name_matches(name), options.workloads))]
    for word in options.workloads:
        if not any(map(name_matches(word, reverse=True), names)):
            parser.error(f"no workload {word!r}; there are {', '.join(names)}")
    peers = installed(options.peers, lambda text: print(text, file=sys.stderr))
    gc.collect()
    gc.freeze()  # so that no peer's collections have to look through the objects of another
    if options.growth:
        from . import growth

        growth.draw(peers, options.repeat)
        return 0
    rows, failed = measure(chosen, peers, options.repeat)
    print(table(["workload", "NumPy by hand", "autodiff_edu", *(peer.title for peer in peers)], rows))
    return 1 if failed else 0


def name_matches(name, reverse=False):
    """Return a test whether a word of the command line means a workload: "chain" means all three."""
    return lambda other: (f"{other}-".startswith(f"{name}-")) if reverse else (f"{name}-".startswith(f"{other}-"))


def measure(names, peers, repeat):
    """Measure the rows of the table; also tell whether any result was wrong."""
    progress = Progress(sum(len(peers) + 1 for _ in names))
    rows, failed = [], False
    for name in names:
        if name == "import":
            rows.append(import_row(peers, repeat, progress))
            continue
        workload = WORKLOADS[name]()
        row = Row(workload, repeat, progress)
        progress.step(f"{name}: autodiff_edu")
        row.ours()
        for peer in peers:
            progress.step(f"{name}: {peer.title}")
            row.peer(peer)
        rows.append(row.cells())
        if name == "rosenbrock":
            rows.append(memory_row(workload, peers))
        failed |= row.failed
    progress.close()
    return rows, failed


class Row:
    """One workload: its figures by hand, with the tape, and for each peer."""

    def __init__(self, workload, repeat, progress):
        self.workload, self.repeat, self.progress = workload, repeat, progress
        self.expected = workload.by_hand()
        self.by_hand, self.figures, self.failed = [], [], False
        self.stack = self._stack()

    def ours(self):
        """Measure the tape, where the package has got what the workload needs."""
        if not has(self.workload.needs):
            self._missing("autodiff_edu", f"it has no {self.workload.needs} yet")
        else:
            pair = self._compare("autodiff_edu", self.workload.with_tape, to_numpy)
            if pair and self.stack:
                self.figures[-1] = f"{three_digits(pair.ratio)} (to stack: {three_digits(pair.ratio / self.stack)})"

    def peer(self, peer):
        """Measure a peer."""
        try:
            prepare = getattr(peer, self.workload.kind)
            self._compare(peer.title, prepare(self.workload), peer.numpy)
        except UnsupportedError as reason:
            self._missing(peer.title, reason)
        except Exception as error:  # a peer that fails must not cost the others their figures
            self._wrong(f"{type(error).__name__}: {error}", peer.title)

    def cells(self):
        """Return the row of the table."""
        time = np.median(self.by_hand or [timing.seconds(self.workload.by_hand)[0]])
        stack = f" (stack: {three_digits(self.stack)})" if self.stack else ""
        if operations := self.workload.operations:
            each = time / operations * 1e6
            figures = [f if isinstance(f, str) else three_digits(f * each) for f in self.figures]
            return [self.workload.title, three_digits(each), *figures]
        figures = [f if isinstance(f, str) else three_digits(f) for f in self.figures]
        return [self.workload.title, milliseconds(time) + stack, *figures]

    def _compare(self, who, function, convert):
        difference = disagreement(convert(function()), self.expected)
        if difference:
            self._wrong(difference, who)
            return None
        pair = timing.paired(self.workload.by_hand, function, self.repeat)
        self.by_hand.append(pair.by_hand)
        self.figures.append(pair.ratio)
        return pair

    def _stack(self):
        """Measure what a stack of cotangents costs by hand, as a ratio to the closed form; None where there is none."""
        by_stack = getattr(self.workload, "by_stack", None)
        if by_stack is None:
            return None
        difference = disagreement(by_stack(), self.expected)
        if difference:
            raise AssertionError(f"{self.workload.name}: stack and closed form disagree: {difference}")
        return timing.paired(self.workload.by_hand, by_stack, self.repeat).ratio

    def _missing(self, who, reason):
        self.progress.note(f"{self.workload.name}: {who}: {reason}")
        self.figures.append(MISSING)

    def _wrong(self, what, who):
        self.progress.note(f"{self.workload.name}: {who} is WRONG: {what}")
        self.figures.append("error")
        self.failed = True


def import_row(peers, repeat, progress):
    cells = ["import, beyond NumPy's", milliseconds(timing.import_time("numpy", repeat))]
    for title, module in [("autodiff_edu", "autodiff_edu"), *((peer.title, peer.module) for peer in peers)]:
        progress.step(f"import: {title}")
        cells.append(milliseconds(timing.import_time(module, repeat)))
    return cells


def memory_row(workload, peers):
    """Return peak memory beyond the input, ours and that of the peers whose arrays are NumPy's."""
    by_hand = timing.peak_memory(workload.by_hand)
    cells = [f"{workload.title.partition(' ')[0]}, peak extra memory", f"{by_hand / 1e6:.3g} MB"]
    cells.append(three_digits(timing.peak_memory(workload.with_tape) / by_hand))
    for peer in peers:
        seen = peer.module in (
            "autograd",
            "mygrad",
            "autodiff_edu.compiled",
        )  # tracemalloc does not see what the others allocate
        cells.append(three_digits(timing.peak_memory(peer.rosenbrock(workload)) / by_hand) if seen else MISSING)
    return cells


if __name__ == "__main__":
    sys.exit(main())
