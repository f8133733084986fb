"""Writing a player to a file, in the form that the file's name asks for."""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path

from ..saving.files import check_path, write


def save(path: str | PathLike[str], forms: Mapping[str, Callable[[], bytes]]) -> None:
    """Write a file in the form that its name asks for.

    Parameters
    ----------
    path
        Where to; an existing file is replaced when the new one is complete.
    forms
        What makes the bytes, by the ending of the name.

    Raises
    ------
    ValueError
        If the name has none of these endings.
    OSError
        If it lies in a directory that is not there, or is one.
    """
    make = forms.get(Path(path).suffix.lower())
    if make is None:
        *others, last = forms
        raise ValueError(
            f"cannot tell from the name {str(path)!r} what to write: end it in {', '.join(others)} or {last}"
        )
    check_path(path)
    write(path, make())
