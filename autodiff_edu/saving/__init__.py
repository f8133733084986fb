"""Functions in files: `save` records one as data, and `load` returns it, ready to differentiate, without its code.

>>> import tempfile
>>> import numpy as np
>>> import autodiff_edu as ad
>>> from autodiff_edu.saving import load, save
>>> w = ad.Variable([2.0, 3.0], name="w")
>>> def model(x):
...     return np.sum(np.tanh(x @ w))
>>> path = tempfile.mkdtemp() + "/model.ad"
>>> save(model, path, np.ones((4, 2)))
>>> again = load(path)
>>> again
<saved function model(x: float64 (n, 2)): 3 operations, 1 variable>
>>> x = np.array([[0.1, 0.2]])
>>> ad.grad(model)(x), ad.grad(again)(x)
(Tensor([[1.11811 , 1.677166]]), Tensor([[1.11811 , 1.677166]]))

The format, version 1
---------------------
A file is a zip archive, not compressed, whose comment is the SHA-256 of all bytes before it. It holds `program.json`,
and the arrays `constants/0.npy`, ... and `variables/0.npy`, ... in NumPy's own format; nothing is pickled. The same
function and examples give the same bytes. The program is an object:

========================  =====================================================================================
format, version           "autodiff_edu saved function" and 1
name                      of the function
inputs                    for each: name, dtype, shape, and group: inputs of one group have as many samples, and any
                          number of them; null where the first axis is fixed
arguments                 for each argument the input it is, or the structure of inputs
constants, variables      for each: dtype and shape; of a variable also its name and whether it is trainable
instructions              for each: operation, arguments, parameters (by keyword), results (for each, dtype and
                          shape with the examples), place (the line that computed it)
result                    what the function returns
========================  =====================================================================================

Arguments are JSON's null, booleans, numbers and strings, or an object with one key: {"input": k}, {"variable": k},
{"constant": k}, {"result": k} (results are numbered in order), {"list": [...]}, {"tuple": [...]},
{"dict": [[key, value], ...]}, {"slice": [start, stop, step]}, {"ellipsis": null}, {"dtype": "float64"},
{"complex": [real, imaginary]}, {"float": "inf"}. An operation is NumPy's, by the name under which it has a rule here
("numpy.linalg.norm", "numpy.add.reduce"), or this package's or Python's own ("cast", "getitem"). A "custom_gradient"
has two arguments, the list of its sources and that of its outputs, and a key more, "backward": null, or an object with
cotangents (as results), instructions and result (one gradient or null for each source); there the numbers of results
go on with the cotangents.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from . import files
from .checking import check_differentiable, check_samples, check_values
from .examples import Examples
from .reading import read
from .runs import Run
from .saved import SavedFunction
from .writing import Document, document_of

__all__ = ["SavedFunction", "load", "save"]


def save(
    function: Callable[..., Any], path: str | os.PathLike[str], *examples: Any, custom_gradients: bool = True
) -> None:
    """Record a function, and write what it computes into a file, as data.

    The function is called several times: with the examples, twice; with values moved a little; and, if the examples
    have n samples, with n + 1, 2n + 1 and 4n + 3. Differences that should not be there raise an error, or a warning,
    that names the line. Python's control flow is recorded as the path taken: which branch, how many rounds.

    Three things can still slip through: code that depends on the number of samples only below n or beyond 4n + 3, such
    as `min(len(x), 10**6)`; values that leave tensors unseen, for example through a package that reads their memory;
    and random numbers of a NumPy generator that the function seeds itself, which are the same in every call.

    Parameters
    ----------
    function : callable
        A function of tensors that returns a tensor, or a list, tuple or dict of them. The variables that it reads are
        saved with it.
    path : path
        The path of the file. An existing file is replaced once the new one is complete; until then it stays unchanged.
    *examples : Tensor, array, number, or a list, tuple or dict of them
        One per argument. Loaded, the function takes arrays of these ranks and kinds of dtype, with any number of
        samples along first axes (equally many where the examples have); or only the examples' number, if it fails for
        others. So choose a number of samples that no other first axis has.
    custom_gradients : bool
        Whether to record the backward functions of custom gradients too, as they are for a real cotangent. If not,
        differentiating the loaded function raises a LookupError.

    Raises
    ------
    ValueError
        If there is no example; if the number of samples, or a value computed with plain NumPy, is baked into what was
        recorded; if nothing in the result can be differentiated; or if the function assigns to a variable.
    TypeError
        If an example is not a tensor, array or number, the result holds something other than tensors, or the function
        and the path are swapped.
    LookupError
        If a NumPy function without a rule is used.
    OSError
        If the path is empty, is a directory, or is in a directory that does not exist.

    Warns
    -----
    UserWarning
        If the function opens a file; if it draws random numbers that differ between calls or come from Python's
        `random`; or if it takes a number out of something computed from an argument or a variable, with bool()
        (Python's `if` and `max`), float(), int(), .numpy() and so on: that number is kept as a constant.

    Examples
    --------
    >>> import tempfile
    >>> import autodiff_edu as ad
    >>> from autodiff_edu.saving import load, save
    >>> path = tempfile.mkdtemp() + "/cube.ad"
    >>> save(lambda x: x**3, path, 1.0)
    >>> cube = load(path)
    >>> ad.grad(ad.grad(cube))(2.0)
    Tensor(12.)
    """
    if not callable(function):
        raise TypeError(
            f"the function to save is {function!r:.60}, which cannot be called; write ad.save(function, path, "
            "*examples): ad.save(f, 'f.ad', np.zeros((4, 3)))"
        )
    files.check_path(path)
    given = Examples(function, examples)
    run = partial(Run, function, given, custom_gradients)
    first = run(given.arrays)
    if first.recorder.made:  # a first call creates variables, as layers do; they are not part of what it computes
        first = run(given.arrays)
    program = Document(first.listing)
    check_differentiable(first, program)
    random = check_values(run, given, first)
    free = check_samples(run, given, first, random)
    document, arrays = document_of(function, given, first, program, free)
    data = files.pack(document, arrays)
    read(*files.unpack(data, path), path)  # a file that could not be loaded is never written
    files.write(path, data)


def load(path: str | os.PathLike[str]) -> SavedFunction:
    """Return a saved function. It runs NumPy operations only; the file contains nothing else that could run.

    Parameters
    ----------
    path : path
        The path of a file written by `save`.

    Returns
    -------
    SavedFunction
        Called like the original; any tape differentiates it. Its `variables` have the saved values.

    Raises
    ------
    FileNotFoundError
        If there is no file.
    ValueError
        If `save` did not write the file, or it was changed or cut short, has another version, or contains what the
        format does not allow: unregistered operations, dangling references, huge shapes and counts. Counts that the
        file computes are checked when the function is called.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> path, w = tempfile.mkdtemp() + "/model.ad", ad.Variable([1.0, 2.0], name="w")
    >>> ad.save(lambda x: np.sum(w * x), path, np.ones(2))
    >>> model = ad.load(path)
    >>> model([3.0, 4.0]), model.variables
    (Tensor(11.), (Variable('w', [1., 2.]),))
    """
    return SavedFunction(read(*files.unpack(Path(path).read_bytes(), path), path))
