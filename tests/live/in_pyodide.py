"""Runs pytest in Pyodide, on what `given` names, and prints one line of JSON with the outcomes."""

import json
import os
import sys
from pathlib import Path
from unittest.mock import MagicMock

TOOLS = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py.py")  # all pure Python


class Counted:
    def __init__(self):
        self.outcomes = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = (
                "passed" if report.outcome == "passed" else f"{report.outcome}: {report.longrepr}"
            )

    def pytest_collectreport(self, report):
        if report.outcome != "passed":
            self.outcomes[report.nodeid] = f"{report.outcome}: {report.longrepr}"


def main(selection, left_out):
    tools = Path("/tools")
    tools.mkdir()
    for tool in TOOLS:  # one by one: the folder that they come from has Matplotlib and ipywidgets too
        (tools / tool).symlink_to(f"/site/{tool}")
    sys.path.remove("")  # else the checkout would hide the wheel
    sys.path.insert(0, str(tools))
    sys.modules["hypothesis"] = MagicMock()  # partly compiled; conftest.py sets it up, and nothing here draws examples
    import pytest

    os.chdir("/checkout")
    counted = Counted()
    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", "--tb=short"]
    code = pytest.main([*options, *selection, *(f"--deselect={test}" for test in left_out)], plugins=[counted])
    print(json.dumps(counted.outcomes))
    return int(code)


if "given" in globals():  # set by pyodide.mjs, which reads the code too
    code = main(given["selection"], given["left_out"])  # noqa: F821
