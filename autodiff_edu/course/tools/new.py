"""Make the folder of a new course from the one in template/, which works as it stands.

python -m autodiff_edu.course new lectures/
"""

from __future__ import annotations

from pathlib import Path

from ...saving.files import resolve_folder
from ...saving.files import write as write_file

TEMPLATE = Path(__file__).parents[1] / "template"


def write(folder: str | Path) -> list[Path]:
    """Copy the template into a folder.

    Parameters
    ----------
    folder : path
        It is created; it may be there already if it is empty.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    FileExistsError
        If something is there already. Nothing has been written then.

    Examples
    --------
    >>> import tempfile
    >>> [path.name for path in write(tempfile.mkdtemp())]
    ['01-a-cup-of-tea.ipynb', 'a_cup_of_tea.py', 'course.toml']
    """
    folder = Path(folder)
    if resolve_folder(folder).exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is there already, and not empty. Nothing was written. Choose another folder")
    resolve_folder(folder).mkdir(parents=True, exist_ok=True)
    written = []
    for path in sorted(path for path in TEMPLATE.iterdir() if path.is_file()):
        written.append(folder / path.name)
        write_file(written[-1], path.read_bytes())
    return written
