"""Where `check` and `predict` find a course: in the folder that a notebook is in, or packed into one file beside it.

The file is handed out with the notebooks, so that no answer is read in passing. It is compressed and encoded, and no
secret: anyone who decodes it can read every answer. `grade` never looks at it.
"""

from __future__ import annotations

import base64
import io
import textwrap
import zipfile
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from .contents import OURS, Course

NAME = "course.values"
"""What the file is called."""
_chosen: list[Course] = []
_unpacked: list[TemporaryDirectory[str]] = []  # which are there as long as this process


def find_course(folder: str | Path = ".", packed: bool = False) -> Course:
    """Return the course that a folder belongs to.

    A folder with a course.toml is a course; the given folder and those above it are looked at, in this order. Where
    there is none, the course is ours.

    Parameters
    ----------
    folder : path
        The folder; the current one if not given.
    packed : bool
        Whether a folder with a packed file is a course as well. `check` and `predict` ask those; commands don't.

    Examples
    --------
    >>> find_course() is OURS
    True
    """
    if _chosen:
        return _chosen[0]
    here = Path(folder).resolve()
    for each in (here, *here.parents) if here != OURS.notebooks.resolve() else ():
        for name in ("course.toml", NAME) if packed else ("course.toml",):
            if (each / name).is_file():
                parts = find_modules(each) if name != NAME else []
                changed = tuple(path.stat().st_mtime_ns for path in (each / name, *parts))
                return _read(each / name, changed)
    return OURS


def use_course(course: Course) -> None:
    """Ask this course from now on, whatever the current folder is; its values are read now."""
    _chosen[:] = [course]
    course.exercises  # noqa: B018 (what is wrong with it is said before anything is asked)


@lru_cache(maxsize=1)
def _read(path: Path, changed: tuple[int, ...]) -> Course:
    """Read a course, anew if one of its files has changed since: its author need not restart the kernel."""
    return unpack(path) if path.name == NAME else Course(path.parent)


def find_modules(folder: Path) -> list[Path]:
    """Return the modules in a folder, and in those below it that have an __init__.py, which makes them packages."""
    found = sorted(folder.glob("*.py"))
    for package in sorted(folder.glob("*/__init__.py")):
        found += find_modules(package.parent)
    return found


def pack(course: Course) -> bytes:
    """Return what course.toml and the modules beside it say, as one file; the same bytes each time."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        for path in (course.file, *find_modules(course.folder)):
            name = zipfile.ZipInfo(path.relative_to(course.folder).as_posix())  # which has no date
            written.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return "\n".join([*textwrap.wrap(base64.b64encode(archive.getvalue()).decode(), 120), ""]).encode()


def unpack(path: Path) -> Course:
    """Read a course from one file.

    Raises
    ------
    ValueError
        If the file is not what `pack` wrote.
    """
    packed = path.read_bytes()
    unpacked = TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True)
    try:
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(packed))) as archive:
            archive.extractall(unpacked.name)
        course = Course(unpacked.name, notebooks=path.parent)
    except Exception as error:  # zipfile and zlib raise a dozen kinds of errors for a damaged archive
        unpacked.cleanup()
        raise ValueError(f"{path} is damaged, so no answer can be checked. Ask your teacher for it again") from error
    _unpacked.append(unpacked)
    return course
