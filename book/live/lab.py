"""Build the course as a JupyterLite, a JupyterLab that runs in the browser: "Open in JupyterLab" leads there.

    python book/live/lab.py

It needs the extra [lite], and Pyodide in book/made/python, where fetch.py puts it: chapters that are opened load NumPy
and Matplotlib from where the live pages do. The book takes what it finds in book/made/lab; built without it, it has no
such button.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fetch import digest, write_json

from autodiff_edu.course.tools.execute import list_frameworks

HERE = Path(__file__).parent
PYTHON = HERE.parent / "made" / "python"
ROOT = HERE.parents[1]
TARGET = HERE.parent / "made" / "lab"
EXTENSIONS = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
KERNEL = EXTENSIONS / "@jupyterlite" / "pyodide-kernel-extension"
OWN = ("piplite", "pyodide_kernel", "ipykernel")  # wheels that come with the kernel's extension
WITH_VIEWS = ("jupyterlab_widgets", "anywidget")  # wheels with what JupyterLab itself needs to show a player
DASK = ("click", "cloudpickle", "fsspec", "locket", "packaging", "partd", "pyyaml", "toolz")  # what its arrays need
PLATFORMS = ("--platform", "any", "--abi", "none", "--implementation", "cp", "--python-version", "3.14")
PLATFORMS += ("--platform", "manylinux2014_x86_64", "--abi", "cp314")  # PyYAML also works without it


def build(target: Path) -> None:
    """Write the site of JupyterLite into a folder.

    Raises
    ------
    FileNotFoundError
        If the extra or Pyodide is missing.
    """
    for name in ("jupyterlite_core", "jupyterlite_pyodide_kernel", "pip"):
        if find_spec(name) is None:
            raise FileNotFoundError(f'{name} is missing: pip install -e ".[lite]"')
    if not (PYTHON / "files.json").exists():
        raise FileNotFoundError("book/made/python is missing: run python book/live/fetch.py first")
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        wheels, lite, python = (Path(folder) / name for name in ("wheels", "lite", "python"))
        download(wheels)
        write_contents(lite / "contents")
        views = [path for path in wheels.iterdir() if path.name.startswith(WITH_VIEWS)]
        preloaded = write_python(wheels, python)
        configure(lite, target, views, preloaded)
        command = [sys.executable, "-m", "jupyterlite_core", "build"]
        subprocess.run(command, cwd=lite, check=True, stdout=subprocess.DEVNULL)
        shutil.copytree(python, target / "python")


def download(wheels: Path) -> None:
    """Download the wheels that lab.txt lists; pip checks their hashes."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    listed = ["--require-hashes", "--requirement", str(HERE / "lab.txt")]
    subprocess.run([*pip, *PLATFORMS, "--only-binary=:all:", "--dest", str(wheels), *listed], check=True)
    for path in wheels.glob("*manylinux*.whl"):
        drop_compiled(path)


def drop_compiled(wheel: Path) -> None:
    """Replace a wheel by one without its compiled modules."""
    distribution, version, *_ = wheel.name.split("-")
    plain = wheel.with_name(f"{distribution}-{version}-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive, zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as copy:
        for file in archive.infolist():
            if not file.filename.endswith(".so"):
                copy.writestr(file, archive.read(file))
    wheel.unlink()


def write_contents(folder: Path) -> None:
    """Write the chapters that run in a page, and their data: without outputs, which the reader is here to make."""
    shutil.copytree(ROOT / "notebooks" / "data", folder / "data")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if list_frameworks(path):  # which no page can load
            continue
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell |= {"outputs": [], "execution_count": None}
        (folder / path.name).write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")


def write_python(wheels: Path, folder: Path) -> list[str]:
    """Write what Python loads there beyond the live pages' files, and a lock file; return what it loads at once."""
    folder.mkdir(parents=True)
    lock = json.loads((PYTHON / "pyodide-lock.json").read_text(encoding="utf-8"))
    packages: dict[str, dict[str, Any]] = lock["packages"]
    for package in packages.values():
        if "://" not in package["file_name"]:
            package["file_name"] = f"../../python/{package['file_name']}"
    packages["autodiff-edu"]["depends"] = ["numpy", "matplotlib"]
    preloaded = ["autodiff-edu"]  # a cell with a magic, such as %load_ext, isn't searched for what it imports
    own = [path for name in OWN for path in (KERNEL / "static" / "pypi").glob(f"{name}-*.whl")]
    for path in [*sorted(wheels.iterdir()), *own]:
        distribution, version, *_ = path.name.split("-")
        if distribution == "jupyterlab_widgets":
            continue
        name = distribution.replace("_", "-").lower()
        if name not in ("dask", *DASK):  # loaded when a cell imports it
            preloaded.append(name)
        shutil.copyfile(path, folder / path.name)
        packages[name] = packages["numpy"] | {
            "name": name,
            "version": version,
            "imports": modules(path),
            "depends": list(DASK) if name == "dask" else [],
            "file_name": path.name,
            "sha256": digest(path),
        }
    write_json(folder / "pyodide-lock.json", lock)
    return preloaded


def modules(wheel: Path) -> list[str]:
    """Return what can be imported from a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    return sorted(top.removesuffix(".py") for top in tops if not top.endswith((".dist-info", ".data")))


def configure(lite: Path, target: Path, views: list[Path], preloaded: list[str]) -> None:
    """Write the settings: Python comes from beside the book, and nothing from anywhere else."""
    making = {
        "apps": ["lab"],
        "contents": [str(lite / "contents")],
        "output_dir": str(target),
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "ignore_sys_prefix": ["federated_extensions"],  # whatever else is installed
        "federated_extensions": [str(KERNEL), *map(str, views)],
    }
    kernel = {
        "pyodideUrl": "./../python/pyodide.mjs",
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"lockFileURL": "./python/pyodide-lock.json", "packages": preloaded},
    }
    page = {
        "appName": "autodiff_edu",
        "exposeAppInBrowser": True,  # for tests
        "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": kernel},
    }
    write_json(lite / "jupyter_lite_config.json", {"LiteBuildApp": making})
    write_json(lite / "jupyter-lite.json", {"jupyter-lite-schema-version": 0, "jupyter-config-data": page})
    write_json(lite / "overrides.json", {"@jupyterlab/apputils-extension:themes": {"adaptive-theme": True}})


if __name__ == "__main__":
    build(TARGET)
    sizes = [path.stat().st_size for path in TARGET.rglob("*") if path.is_file()]
    print(f"{TARGET.relative_to(ROOT)}: {sum(sizes) / 1e6:.1f} MB in {len(sizes)} files")
