"""Writes a player to a file, in the format given by the ending of its name."""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path

from ..saving.files import check_path, write


def save(path: str | PathLike[str], forms: Mapping[str, Callable[[], bytes]]) -> None:
    """Write a file in the format given by the ending of its name.

    Parameters
    ----------
    path
        An existing file is replaced once the new one is complete.
    forms
        By the ending of the name, the function that returns the bytes.

    Raises
    ------
    ValueError
        If the name has none of these endings.
    OSError
        If the path is a directory, or is in one that does not exist.
    """
    ending = Path(path).suffix.lower()
    make = forms.get(ending)
    if make is None:
        *others, last = forms
        endings = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"cannot tell from the name {str(path)!r} what to write: end it in {endings}")
    check_path(path, f"player{ending}")
    write(path, make())
