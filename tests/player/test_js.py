"""The player's modules in Node: js/ tests what is a pure function there, with real traces and what Python says."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import programs
import pytest
from browser.test_compiler_passes import step
from moments import read_moment

import autodiff_edu as ad
from autodiff_edu.core.active import only
from autodiff_edu.course.contents import OURS
from autodiff_edu.player.build import node
from autodiff_edu.player.drill_levels import LEVELS, draw
from autodiff_edu.player.packing import dumps, pack
from autodiff_edu.text.shared import shared

JS = Path(__file__).parent / "js"
FOLLOWED = "nested logistic cubic rows power pushing stacked a_cut cut_off not_a_number divided marks einsum"
TRACES = {program.__name__: program for program in programs.EXAMPLES}
TRACES |= {name: getattr(programs, name) for name in FOLLOWED.split()}
TRACES |= {"loop": lambda: programs.loop(6)}


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the modules are given, and what they must find, in one file."""
    players = {name: ad.play(program()) for name, program in TRACES.items()}
    found = {name: followed(player) for name, player in players.items()}
    shrinking = ad.play(ad.compile(step).program(0.5, 1.0, 0.5))
    others = {"training": ad.play(programs.training(8)), "walk": walk(), "shrinking": shrinking}
    others["calling"] = ad.play(programs.calling())
    others["series"] = ad.play(programs.series, 0.8)
    others["newton"] = ad.play(programs.newton, 2.0)
    others |= {"branches": ad.play(programs.branches, 3.0), "twice": ad.play(programs.twice, 1.0)}
    others["tiny"] = ad.play(lambda x, d: (x + 0.2 - 0.3) * d**4, 0.1, 1e-4)  # whose difference is 0 up to rounding
    path = tmp_path_factory.mktemp("js") / "traces.json"
    content = {
        "traces": found,
        "others": {name: drawn(player) for name, player in others.items()},
        "packed": {name: there_and_back(player._content) for name, player in (players | others).items()},
        "odd": odd(),
        "drills": [drilled(level) for level in LEVELS],
        "dampings": dampings(),
        "predictions": [asked(prediction) for prediction in OURS.predictions.values()],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def followed(player: ad.Player) -> dict[str, Any]:
    """A trace, and what is known at each of its steps, as Python folds it."""
    document = player._content["trace"]
    tensors, entries, tapes = (range(len(document[part])) for part in ("tensors", "entries", "tapes"))

    def text(array: dict[str, Any] | None) -> str | None:
        return None if array is None else array["text"]

    steps = []
    for number in range(len(document["steps"])):
        now = read_moment(document, number)
        steps.append({
            "values": [text(now.values.get(tensor)) for tensor in tensors],
            "cotangents": [text(now.flows.get(tensor)) for tensor in tensors],
            "arrived": [text(now.arrived.get(entry)) for entry in entries],
            "states": [now.state(entry) for entry in entries],
            "lanes": [[now.lanes.get((entry, tape), "") for tape in tapes] for entry in entries],
            "unconnected": sorted(now.unconnected),
            "paused": now.paused,
            "pass": now.on_show,
            "backward": now.backward,
            "tangents": now.tangents,
            "update": now.update,
            "where": now.step["where"],
        })  # fmt: skip
    return {**drawn(player), "steps": steps}


def drawn(player: ad.Player) -> dict[str, Any]:
    return {"document": player._content["trace"], "layout": player._content["layout"]}


def walk() -> ad.Player:
    return ad.descend(lambda p: p[0] ** 4 - 2 * p[0] ** 2 + p[1] ** 2, (0.3, 1.0))


def there_and_back(content: Any) -> dict[str, Any]:
    return {"page": json.loads(dumps(pack(content))), "content": content}


def odd() -> dict[str, Any]:
    """What a trace may hold, and some of it must not come back as something else."""
    values = [None, True, False, 0, -0.0, 1.5, 1e300, -7, "", "ü😀", "\x00<!--"]
    values += [[], {}, [[]], [None, 1], {"a": [1, "1"]}]
    more = {"twice": [values, values], "many": [*range(100), 3, 3, 10**9], "tenths": [0.1, 12.3, 7.0], "zero": -0.0}
    empty = {"version": shared()["version"], "steps": [], "entries": [], "tensors": []}
    return there_and_back({"trace": {**empty, "odd": values, **more}})


def drilled(level: int) -> dict[str, Any]:
    with only(), np.errstate(all="ignore"):
        answers = [answer for _, answer in draw(level, 11)]
    content = ad.drill(level, 11)._content
    return {"level": level, "programs": [content, *content["drill"]], "answers": answers}


def dampings() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    found = []
    for damping in (0.0, 0.02, 0.3, 2.9, 400.0) * 5:
        hessian = rng.normal(size=(2, 2))
        hessian, gradient = hessian + hessian.T, rng.normal(size=2)
        step = -np.linalg.solve(hessian + damping * np.eye(2), gradient)
        parts = {"gradient": gradient.tolist(), "hessian": hessian.tolist(), "step": step.tolist()}
        found.append({"lambda": damping, **parts})
    return found


def asked(prediction: Any) -> dict[str, Any]:
    """What a page is given of a prediction, with its answer unsealed."""
    html = prediction._repr_mimebundle_()["text/html"]
    content = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL).group(1))
    return {**content, **json.loads(base64.b64decode(content["sealed"])), "css": ""}


@pytest.mark.parametrize("module", sorted(path.name for path in JS.glob("*.test.mjs")))
def test_in_node(module: str, traces: Path) -> None:
    command = [*node(), "--import", (JS / "modules.mjs").as_uri(), "--test-reporter=tap", str(JS / module)]
    surroundings = {**os.environ, "AUTODIFF_TRACES": str(traces)}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, encoding="utf-8", check=False)
    counts = {name: int(count) for name, count in re.findall(r"^# (\w+) (\d+)$", done.stdout, re.MULTILINE)}
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts["pass"] == counts["tests"] > 0, done.stdout
