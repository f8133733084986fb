"""Chapter 27 runs without a cluster too, as its first cell says."""

import json
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.course.contents import OURS

NEED_PROCESSES = {"cluster-1", "stop"}
START = """\
import os, sys
import dask, matplotlib

matplotlib.use("agg")
sys.modules["distributed"] = None
dask.config.set(scheduler="synchronous")  # as in a browser, which has neither processes nor threads
os.chdir(sys.argv[1])
"""


def test_chapter_27_runs_without_the_cells_that_start_and_stop_the_workers():
    path = OURS.find("a-cluster").notebook
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert {cell["id"] for cell in cells} > NEED_PROCESSES
    program = "\n".join("".join(cell["source"]) for cell in cells if cell["id"] not in NEED_PROCESSES)
    done = subprocess.run(
        [sys.executable, "-c", START + program, str(path.parent)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    for line in (
        "MemoryError: the job took 96 MB, and there is room for 16",
        "it fits. The gradient of w: [-13.88   4.02 -10.03  -1.06] and of b: -40.01",
        "turn 10: w = [ 3.  -2.   5.   0.5], b = 20.00",
        "2 blocks: -9.124",
    ):
        assert line in done.stdout


LIMITED = """\
import resource, sys
import cloudpickle, dask, numpy as np
import dask.array as da
import autodiff_edu as ad

dask.config.set(scheduler="synchronous")
path, rows = sys.argv[1], 50_000
w, b = ad.Variable(np.zeros(4)), ad.Variable(0.0)


def slopes_of(x, y):
    with ad.GradientTape() as tape:
        loss = np.mean((x @ w + b - y) ** 2)
    return [slope.numpy() for slope in tape.gradient(loss, [w, b])]


def read_block(k):
    with open(path, "rb") as file:
        return np.fromfile(file, count=5 * rows, offset=40 * k * rows).reshape(rows, 5)


def lazy(blocks):
    table = da.concatenate([da.from_delayed(dask.delayed(read_block)(k), (rows, 5), float) for k in range(blocks)])
    return slopes_of(ad.constant(table[:, :4]), ad.constant(table[:, 4]))


assert b"autodiff_edu" not in cloudpickle.dumps(dict(lazy(16)[0].dask))  # the workers don't need it
dask.compute(*lazy(1))  # what has to be loaded is loaded
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
limit = taken + 64_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    np.fromfile(path)
except MemoryError:
    print("the file does not fit")
print(*(np.round(slope, 6).tolist() for slope in dask.compute(*lazy(80))))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits what a process may take")
def test_a_worker_with_a_real_limit_differentiates_a_file_that_it_cannot_read_at_once(tmp_path):
    rows, blocks = 50_000, 80
    path = tmp_path / "rides"
    total = np.zeros(5)
    with path.open("wb") as file:
        for k in range(blocks):
            block = np.random.default_rng(k).normal(size=(rows, 5))
            total += np.append(block[:, :4].T @ block[:, 4], block[:, 4].sum())
            file.write(block.tobytes())
    assert path.stat().st_size == 160_000_000
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    refused, found = done.stdout.splitlines()
    assert refused == "the file does not fit"
    *wanted, of_b = np.round(-2.0 * total / (rows * blocks), 6).tolist()
    assert found == f"{wanted} {of_b}"


@pytest.mark.parametrize("f", [lambda x: np.sum(x[np.eye(4) > 0.0]), np.trace, lambda x: np.sum(np.diagonal(x))])
def test_a_mask_a_trace_and_a_diagonal_of_a_dask_array_end_with_an_error(f):
    da = pytest.importorskip("dask.array")
    x = ad.constant(da.from_array(np.arange(16.0).reshape(4, 4), chunks=2))

    def slope():
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x).numpy().compute()

    with pytest.raises((NotImplementedError, ValueError), match=r"fancy indexing|broadcast"):
        slope()


def test_the_fit_takes_three_times_the_file_and_with_the_rows_left_on_the_disk_twice(tmp_path):
    path = tmp_path / "rides.npy"
    np.save(path, np.ones((100_000, 5)))
    size, w, b = 4_000_000, ad.Variable(np.zeros(4)), ad.Variable(0.0)

    def fit(mode):
        tracemalloc.start()
        try:
            rows = np.load(path, mmap_mode=mode)
            with ad.GradientTape() as tape:
                loss = np.mean((rows[:, :4] @ w + b - rows[:, 4]) ** 2)
            tape.gradient(loss, [w, b])
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert fit(None) / size == pytest.approx(3.0, abs=0.1)
    assert fit("r") / size == pytest.approx(2.0, abs=0.1)
