"""Compiled functions against NumPy by hand, and what compiling and calling them costs.

    python -m benchmarks.compiling [--repeat 15] [WORKLOAD ...]

By hand, the chain has NumPy's scalars here, and the Hessians a stack of tangents, because that is what a program may
compute with. A recorded call is one run of the function under the listener that records it. Compiling runs it twice.
"""

from __future__ import annotations

import argparse
from functools import partial
from statistics import median
from time import perf_counter, process_time

import numpy as np

import autodiff_edu as ad

from . import timing
from .peers.compiled import PEERS
from .report import milliseconds, table, three_digits
from .workloads import WORKLOADS, Chain


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiling", description=__doc__.splitlines()[0])
    parser.add_argument(
        "workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join([*WORKLOADS, 'tea'])}; all by default"
    )
    parser.add_argument("--repeat", type=int, default=15, metavar="N", help="pairs for each figure (15)")
    options = parser.parse_args(arguments)
    names = options.workloads or [*WORKLOADS, "tea"]
    rows = [tea(options.repeat) if name == "tea" else measured(name, options.repeat) for name in names]
    print(
        table(["workload", "by hand", "on the tape", "compiled", "operations", "compiling", "in recorded calls"], rows)
    )
    if not options.workloads:
        print()
        print(
            table(["operations in a chain", "recorded", "compiling", "µs for each recorded", "peak memory"], growth())
        )
        print()
        print(table(["arrays among the arguments", "a call beyond its program"], calls()))


def measured(name, repeat):
    """Return a row: the medians of paired ratios, and the processor time of compiling."""
    workload = WORKLOADS[name]()
    run = getattr(PEERS[0], workload.kind)(workload)
    by_hand = getattr(workload, "by_scalars", None) or (
        workload.by_stack if workload.kind == "hessian" else workload.by_hand
    )
    compiling = compile_time(run)
    program = run.compiled.program(*run.arguments)
    pair = timing.paired(by_hand, run, repeat)
    on_tape = timing.paired(by_hand, workload.with_tape, repeat)
    recorded = median(recording_time(run) for _ in range(3))
    left = f"{program.lengths['recorded']:,} → {[*program.lengths.values()][-1]:,}"
    return [
        workload.title.partition(" (")[0],
        milliseconds(pair.by_hand),
        three_digits(on_tape.ratio),
        three_digits(pair.ratio),
        left,
        milliseconds(compiling),
        three_digits(compiling / recorded),
    ]


def tea(repeat):
    """Return the row of chapter 23's step, which fits a curve to six readings: nearly all of it is bookkeeping."""
    hours, readings = np.linspace(0.0, 1.0, 6), np.array([0.70, 0.49, 0.34, 0.24, 0.17, 0.12])
    arguments = np.float64(0.5), np.float64(1.0), np.float64(0.5)

    def loss(start, rate):
        return np.mean((start * np.exp(-rate * hours) - readings) ** 2)

    def step(start, rate, size):
        d_start, d_rate = ad.grad(loss, argnums=(0, 1))(start, rate)
        return start - size * d_start, rate - size * d_rate, loss(start, rate)

    def by_hand(start, rate, size):
        decay = np.exp(-rate * hours)
        off = start * decay - readings
        back = off * decay / 3.0
        return start - size * back.sum(), rate + size * start * (back * hours).sum(), (off * off).mean()

    compiled = ad.compile(step)
    assert np.allclose([float(one) for one in compiled(*arguments)], by_hand(*arguments))
    ratios = [timing.paired(partial(by_hand, *arguments), partial(f, *arguments), repeat) for f in (step, compiled)]
    figures = [three_digits(pair.ratio) for pair in ratios]
    return ["a step of chapter 23's tea", f"{ratios[0].by_hand * 1e6:.1f} µs", *figures, "28 → 20", "–", "–"]


def compile_time(run):
    run()  # imports
    start = process_time()
    compiled_anew(run)
    return process_time() - start


def recording_time(run):
    start = process_time()
    run.compiled._recorded(tuple(run.arguments), {})
    return process_time() - start


def growth():
    """How compiling grows with the number of operations."""
    rows = []
    for steps in (1_000, 10_000, 33_334):
        run = PEERS[0].chain(Chain(steps, "n"))
        start = process_time()
        program = run.compiled.program(*run.arguments)
        taken = process_time() - start
        count = program.lengths["recorded"]
        cells = [f"{3 * steps:,}", f"{count:,}", milliseconds(taken), three_digits(taken / count * 1e6)]
        rows.append([*cells, f"{timing.peak_memory(lambda run=run: compiled_anew(run)) / 1e6:.0f} MB"])
    return rows


def compiled_anew(run):
    run.compiled.clear()
    return run.compiled.program(*run.arguments)


def calls():
    """What finding the program and wrapping its result takes."""
    rows = []
    for count in (1, 2, 5, 10):
        compiled, arrays = ad.compile(lambda *x: x[0] + 1.0), [np.ones(3)] * count
        compiled(*arrays)
        program = compiled.program(*arrays)
        called, run = partial(compiled, *arrays), partial(program.run, *arrays)
        beyond = median(best(called) - best(run) for _ in range(7))
        rows.append([str(count), f"{beyond * 1e6:.1f} µs"])
    return rows


def best(function, loops=5_000):
    """Return the shortest of some means: of what lasts a microsecond, a median says more of the machine."""
    found = []
    for _ in range(5):
        start = perf_counter()
        for _ in range(loops):
            function()
        found.append((perf_counter() - start) / loops)
    return min(found)


if __name__ == "__main__":
    main()
