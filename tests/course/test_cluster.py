"""Chapter 24 runs without a cluster too, as its first cell says."""

import json
import os
import subprocess
import sys

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


def test_chapter_21_runs_without_the_cells_that_start_and_stop_the_workers():
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
    assert "turn 10: loss    0.996, w = [ 3.  -2.   5.   0.5], b = 20.00" in done.stdout
    assert "2 blocks: -9.127" in done.stdout
