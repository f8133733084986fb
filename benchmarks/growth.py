"""How the cost grows with the size: log-log plots, one SVG each, in benchmarks/plots/."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from .agreement import disagreement, to_numpy
from .peers import UnsupportedError
from .report import table, three_digits
from .timing import seconds
from .workloads import Chain, Jacobian, Mlp, has

PLOTS = Path(__file__).parent / "plots"
LONGEST = 8.0
"""Seconds: a line ends at the first run that takes longer."""

# for each plot: the workload of a size, the sizes, its x label, its y label, and what the seconds are divided by
GROWTH = {
    "chain": (
        lambda n: Chain(round(n / 3), "n"),
        [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
        "operations in the chain",
        "µs per operation, forward and backward",
        lambda n: n / 1e6,
    ),
    "jacobian": (
        Jacobian,
        [10, 30, 100, 300, 1_000],
        "size n of a Jacobian n→n, of two tanh layers",
        "milliseconds",
        lambda n: 1e-3,
    ),
    "batch": (
        lambda n: Mlp("mlp", n, (784, 128, 128, 10), ("tanh", "relu")),
        [1, 4, 16, 64, 256, 1_024, 4_096],
        "batch size, for the gradient of an MLP 784-128-128-10",
        "milliseconds",
        lambda n: 1e-3,
    ),
}


def draw(peers, repeat):
    """Measure and draw every plot; the figures themselves go to stdout as Markdown."""
    PLOTS.mkdir(exist_ok=True)
    sides = ["NumPy by hand", "autodiff_edu", *(peer.title for peer in peers)]
    for name, (make, sizes, x_label, y_label, divisor) in GROWTH.items():
        lines = {side: [] for side in sides}
        for size in sizes:
            print(f"{name}: {size:,}", file=sys.stderr)
            workload = make(size)
            expected = workload.by_hand()
            for side, prepare, convert in sides_of(workload, peers):
                if len(lines[side]) < sizes.index(size):
                    continue  # its line has ended
                with suppress(UnsupportedError):
                    function = prepare(workload)
                    difference = disagreement(convert(function()), expected)
                    if difference:
                        raise AssertionError(f"{name}, {size:,}: {side} is wrong: {difference}")
                    lines[side] += measured(function, repeat, divisor(size))
        plot(name, sizes, lines, x_label, y_label)
        rows = [[side, *map(three_digits, line)] + ["–"] * (len(sizes) - len(line)) for side, line in lines.items()]
        print(f"\n{x_label[0].upper()}{x_label[1:]}: {y_label}\n")
        print(table(["", *(f"{size:,}" for size in sizes)], rows))


def sides_of(workload, peers):
    """List every side that can do a workload: its name, what gives the function to time, what gives its arrays."""
    yield "NumPy by hand", lambda w: w.by_hand, lambda result: result
    if has(workload.needs):
        yield "autodiff_edu", lambda w: w.with_tape, to_numpy
    for peer in peers:
        yield peer.title, getattr(peer, workload.kind), peer.numpy


def measured(function, repeat, divisor):
    """Return the median of some runs in a list; an empty list where one run takes too long. The check warms up."""
    runs = [seconds(function)[0]]
    if runs[0] > LONGEST:
        return []
    while len(runs) < repeat and sum(runs) < LONGEST:
        runs.append(seconds(function)[0])
    return [float(np.median(runs)) / divisor]


def plot(name, sizes, lines, x_label, y_label):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = name  # the same figures give the same bytes
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for side, line in lines.items():
        if not line:
            continue
        ours = side == "autodiff_edu"
        axes.loglog(sizes[: len(line)], line, marker="o", markersize=4, linewidth=3 if ours else 1.2, label=side)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(PLOTS / f"{name}.svg", metadata={"Date": None})
    pyplot.close(figure)
