"""The clocks: interleaved pairs, imports in subprocesses, and peak memory."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from statistics import median
from time import perf_counter
from typing import NamedTuple

SHORTEST, LONGEST = 0.01, 0.2
"""Seconds: a sample repeats its function until it lasts as long as the other side's, within these bounds.

So the grain of the clock does not show, and other work on the machine hits both of a pair alike.
"""

PATIENCE = 10.0
"""Seconds for one pair of sides. A slow peer gets fewer pairs than were asked for, but never fewer than one."""


class Pair(NamedTuple):
    """Medians: seconds by hand, seconds of the other side, and the paired ratio of the two."""

    by_hand: float
    other: float
    ratio: float


def paired(by_hand, other, repeat):
    """Time two functions alternately."""
    once_by_hand, once_other = _once(by_hand), _once(other)
    length = min(max(once_by_hand, once_other, SHORTEST), LONGEST)
    loops_by_hand, loops_other = (max(1, round(length / once)) for once in (once_by_hand, once_other))
    gc.collect()
    hands, others = [], []
    start = perf_counter()
    for k in range(repeat):
        # each side goes first in turn, so that neither always finds the caches as the other left them
        if k % 2:
            others.append(_sample(other, loops_other))
            hands.append(_sample(by_hand, loops_by_hand))
        else:
            hands.append(_sample(by_hand, loops_by_hand))
            others.append(_sample(other, loops_other))
        if perf_counter() - start > PATIENCE:
            break
    ratios = [b / a for a, b in zip(hands, others, strict=True)]
    return Pair(median(hands), median(others), median(ratios))


def seconds(function):
    """Time one call, with what it gives."""
    start = perf_counter()
    result = function()
    return perf_counter() - start, result


def _once(function):
    """Return the seconds of one call, roughly; finding out warms the function up."""
    loops = 1
    while (taken := _sample(function, loops)) * loops < SHORTEST / 5:
        loops *= 4
    return taken


def _sample(function, loops):
    start = perf_counter()
    for _ in range(loops):
        function()
    return (perf_counter() - start) / loops


def import_time(module, repeat):
    """Return the median seconds that `import module` takes in a fresh interpreter, beyond `import numpy`.

    For "numpy" itself, its own. Modules are found as this process finds them; the first import, which may have to
    compile them, does not count, and may keep what it compiled.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    first = "import numpy; " if module != "numpy" else ""
    code = f"from time import perf_counter; {first}t = perf_counter(); import {module}; print(perf_counter() - t)"
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, env=kept, capture_output=True, text=True) for _ in range(repeat + 1)]
    failed = next((run for run in runs if run.returncode), None)
    if failed:
        raise ImportError(failed.stderr.strip().splitlines()[-1])
    return median(float(run.stdout.splitlines()[-1]) for run in runs[1:])


def peak_memory(function):
    """Return the bytes that a call needs at most beyond what was there before, as NumPy and Python allocate them."""
    function()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = function()
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    del result
    return peak
