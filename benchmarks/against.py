"""This checkout against another one, in pairs: what a change costs.

    python -m benchmarks.against ../before [--repeat 15] [--instructions] [ROW ...]

Both run in processes of their own, on this Python, and take turns, so that a noisy machine disturbs both alike. The
table has the median of each side, and the median of the paired ratios of this checkout to the other. Its rows are the
workloads of `python -m benchmarks`, and three more: an operation recorded, one outside any tape, and the import.

Both keep the memory that they free. Otherwise glibc hands pages back to the system and fetches them again, twice in
one run or once, as chance lays out the heap: that alone made a Hessian-vector product 8 % slower or faster.

With `--instructions`, the processor's instructions are counted in place of the time, by Valgrind, which has to be
installed. They say less than the time (nothing of caches and memory), but they are the same to four digits on the
noisiest machine, and one run of some minutes tells.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

SHORTEST = 0.05
"""Seconds: a sample repeats its row until it lasts about as long."""

OPERATIONS = 999

HEAVY = ("chain-10k", "chain-100k", "mlp-large", "import")
"""The rows that take Valgrind too long, and the one that is not a run in a process."""

# what Valgrind can follow; NumPy's and OpenBLAS's code for newer processors it cannot
OLD_PROCESSOR = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Haswell"}

KEEP_MEMORY = dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), str(2**30))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="the folder of the other checkout")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="some rows, by name; all if there are none")
    parser.add_argument("--repeat", type=int, default=15, metavar="N", help="pairs for each row (15)")
    parser.add_argument("--instructions", action="store_true", help="count instructions in place of time")
    options = parser.parse_args(arguments)
    if not (options.other / "autodiff_edu").is_dir():
        parser.error(f"{options.other} is not a checkout: it has no folder autodiff_edu")
    sides = [Side(Path(__file__).parents[1]), Side(options.other.resolve())]
    names = sides[0].ask("rows").split()
    if unknown := set(options.rows) - set(names):
        parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    print(f"{'row':<20}{'this':>12}{'other':>12}{'ratio':>8}")
    if options.instructions:
        for name in options.rows or [name for name in names if name not in HEAVY]:
            ours, others = (instructions(side.checkout, name) for side in sides)
            print(f"{name:<20}{ours / 1e6:>10.3f} M{others / 1e6:>10.3f} M{ours / others:>8.3f}", flush=True)
        return
    for name in options.rows or names:
        ours, others = compare(sides, name, options.repeat)
        ratio = median(a / b for a, b in zip(ours, others, strict=True))
        ours, others = (median(side) / (OPERATIONS if name in ("record", "outside") else 1) for side in (ours, others))
        print(f"{name:<20}{ours * 1e6:>9.2f} µs{others * 1e6:>9.2f} µs{ratio:>8.3f}", flush=True)


def compare(sides, name, repeat):
    """Time a row on both sides in turn, each side first in every other pair; return the seconds of both."""
    loops = max(1, round(SHORTEST / max(side.seconds(name, 1) for side in sides)))
    taken = [], []
    for k in range(repeat):
        for i in (0, 1) if k % 2 else (1, 0):
            taken[i].append(sides[i].seconds(name, loops))
    return taken


def instructions(checkout, name, times=5):
    """Count the instructions of one run of a row: those of a process with so many runs more than another."""
    counts = []
    for runs in (1, 1 + times):
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        command += [sys.executable, __file__, "--run", name, str(runs)]
        environment = {**os.environ, **OLD_PROCESSOR, "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, cwd=checkout, env=environment, text=True, capture_output=True, check=True)
        counts.append(int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)[1].replace(",", "")))
    return (counts[1] - counts[0]) / times


class Side:
    """One checkout, at work in a process of its own."""

    def __init__(self, checkout):
        self.checkout = checkout
        environment = {**os.environ, **KEEP_MEMORY, "PYTHONPATH": str(checkout)}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            cwd=checkout,
            env=environment,
            text=True,
            bufsize=1,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        if (found := self.ask("where")) != str(checkout):
            raise RuntimeError(f"the process for {checkout} imports autodiff_edu from {found}")

    def ask(self, question):
        self.process.stdin.write(f"{question}\n")
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise RuntimeError(f"the other process ended while it was asked for {question}")
        return answer

    def seconds(self, name, loops):
        return float(self.ask(f"{name} {loops}"))


def run(name, times):
    """Run a row so many times, without collecting garbage."""
    _, rows, workloads = known()
    function = rows[name] or workloads[name]().with_tape
    gc.disable()
    for _ in range(times):
        function()


def known():
    """Return the package, the rows, and the workloads among them, which are made when they are asked for."""
    sys.path[:] = [path for path in sys.path if path != str(Path(__file__).parent)]
    import autodiff_edu as ad
    from benchmarks.workloads import WORKLOADS

    rows = {"record": lambda: recorded(ad), "outside": lambda: chain(ad.constant(0.5)), **dict.fromkeys(WORKLOADS)}
    return ad, rows, WORKLOADS


def serve():
    """Answer questions: "where", "rows", or the name of a row and how many times to run it."""
    ad, rows, workloads = known()
    from benchmarks import timing

    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        name, *loops = line.split()
        if name == "where":
            print(Path(ad.__file__).parents[1], flush=True)
        elif name == "rows":
            print(*rows, "import", flush=True)
        elif name == "import":
            print(timing.import_time("autodiff_edu", 1), flush=True)
        else:
            rows[name] = rows[name] or workloads[name]().with_tape
            print(timed(rows[name], int(loops[0])), flush=True)


def timed(function, loops):
    start = perf_counter()
    for _ in range(loops):
        function()
    return (perf_counter() - start) / loops


def recorded(ad):
    x = ad.Variable(0.5)
    with ad.GradientTape():
        chain(x)


def chain(x):
    """Compute as many operations of three kinds: a function, a product with a number, a sum of two tensors."""
    import numpy as np

    for _ in range(OPERATIONS // 3):
        x = x + 1e-4 * np.sin(x)
    return x


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    elif sys.argv[1:2] == ["--run"]:
        run(sys.argv[2], int(sys.argv[3]))
    else:
        main()
