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
        An existing file of that name is replaced when the new one is complete.
    forms
        By the ending of the name, the function that makes the bytes.

    Raises
    ------
    ValueError
        If the name has none of these endings.
    OSError
        If the path is a directory, or lies in one that does not exist.
    """
    ending = Path(path).suffix.lower()
    make = forms.get(ending)
    if make is None:
        *others, last = forms
        raise ValueError(
            f"cannot tell from the name {str(path)!r} what to write: end it in {', '.join(others)} or {last}"
        )
    check_path(path, f"player{ending}")
    write(path, make())
