"""What must work where nothing but the wheel was installed: run this with that Python, from an empty folder."""

import base64
import gzip
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import autodiff_edu as ad
from autodiff_edu.course.tools.book import find_machinery


def main() -> None:
    assert not (Path(ad.__file__).parents[1] / "notebooks").exists(), "this is the checkout, not what was installed"
    assert all(hasattr(ad, name) for name in ad.__all__)
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape() as tape:
        y = x * np.sin(x)
    assert np.isclose(tape.gradient(y, x), np.sin(2.0) + 2.0 * np.cos(2.0))
    player = ad.play(lambda x: x * np.sin(x), 2.0)
    (packed,) = re.findall(r'atob\("([^"]+)"\)', player.html())
    script = gzip.decompress(base64.b64decode(packed))
    assert b"attachShadow" in script, "the player's script is not in the wheel"
    assert "<svg" in player.frames().svg()
    command = [sys.executable, "-m", "autodiff_edu.course", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Stop recording" in listed, listed
    subprocess.run([*command[:-1], "new", "lectures"], capture_output=True, check=True)
    listed = subprocess.run(command, cwd="lectures", capture_output=True, text=True, check=True).stdout
    assert "A cup of tea" in listed, listed
    assert {"_config.yml", "_ext", "_static", "live"} == {path.name for path in find_machinery().iterdir()}
    print("the wheel works")


if __name__ == "__main__":
    main()
