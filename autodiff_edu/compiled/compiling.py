"""The compiled function: it finds the program for a call, or records one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from threading import RLock
from types import MethodType
from typing import Any

from ..arrays.structures import flatten, rebuild
from ..core.active import Listener, State, always, begin, now, only
from ..core.events import Assign
from ..core.tape import Tape
from ..core.tensor import Tensor, constant
from ..core.variable import Variable
from ..custom.draws import generators_of, state_of
from ..program.comparison import Difference, find_differences
from ..program.instructions import Listing
from ..program.passes import PASSES, Pass
from ..text.functions import name_of
from ..text.places import place
from ..trace.garbage_collection import without_collecting
from .guards import GuardedRecorder
from .programs import Program
from .results import builder, tensors_of
from .signature import exact, has_ended, is_array, taken_apart, with_tensors

MOST_PROGRAMS = 64
"""How many programs a compiled function keeps."""

MOST_PATHS = 16
"""How many of them may be for arguments of the same kind."""


class DifferentError(ValueError):
    """Raised where a function computes something different in a second call with the same arguments."""


class Compiled:
    """A function that is recorded once for each kind of arguments, and then runs as a plain NumPy program.

    See `compile`. `print(compiled)` shows its programs.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> cube = ad.compile(lambda x: x * x * x)
    >>> cube(2.0), cube(np.array([1.0, 3.0]))
    (Tensor(8.), Tensor([ 1., 27.]))
    >>> print(cube.program(2.0))
    # <lambda>: 2 operations, 2 left
    def function(x):
        t2 = x * x * x  # doctest, line 1
        return t2,
    """

    def __init__(self, function: Callable[..., Any], passes: tuple[str | Pass, ...]) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function, self.passes = function, passes
        self.__name__ = name_of(function)
        self._paths: dict[Any, tuple[Program, ...]] = {}
        self._lock = RLock()

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Return what the function returns, with tensors in place of arrays."""
        paths, signature, arrays = self._found(args, named)
        if now().listeners != always.listeners and _is_heard(begin(), args, named, paths):
            return self._plainly(args, named)
        for program in paths:
            try:
                found = program.run(*arrays, *[variable._array for variable in program.variables])
            except Exception:  # the function raises it too, at its own line and in our words
                return self._undone_if_it_fails(args, named)
            if found is not None:
                return program.finish(found)
        program = self._add(signature, args, named, paths)
        found = program.run(*arrays, *[variable._array for variable in program.variables])
        return self(*args, **named) if found is None else program.finish(found)  # None: another thread assigned

    def _plainly(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Run the function itself; its result holds tensors, like that of a program."""
        leaves = [leaf for _, leaf in flatten((args, named), "")]
        tensors = (constant(leaf) if is_array(leaf) and not isinstance(leaf, Tensor) else leaf for leaf in leaves)
        args, named = rebuild((args, named), tensors)
        return self.function(*args, **named)

    def _undone_if_it_fails(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Run the function itself; if it fails, give its variables back the values that they had before."""
        before: dict[int, tuple[Variable, Any]] = {}

        def keep(event: Assign) -> None:
            before.setdefault(event.variable._id, (event.variable, event.before))

        with only(*now().listeners, Listener({Assign: keep})):
            try:
                return self._plainly(args, named)
            except BaseException:
                for variable, array in before.values():
                    variable._array = array
                raise

    def __reduce__(self) -> Any:
        return Compiled, (self.function, self.passes)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, as a function in a class does."""
        return self if instance is None else MethodType(self, instance)

    def program(self, *args: Any, **named: Any) -> Program:
        """Return the program for these arguments; record it if there is none yet.

        Parameters
        ----------
        *args, **named
            As for a call. Nothing is assigned to variables.

        Returns
        -------
        Program
            `print` shows it, `summary` tells what each pass removed, and calling it with arrays runs it.

        Raises
        ------
        TypeError, ValueError
            As for a call; see `compile`.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> six = ad.compile(lambda x: x * 2.0 * 3.0)
        >>> program = six.program(1.0)
        >>> program.summary
        '2 operations, 1 left (folded −1)'
        >>> program(5.0)
        (30.0,)
        """
        paths, signature, arrays = self._found(args, named)
        for program in paths:
            if program.run(*arrays, *[variable._array for variable in program.variables]) is not None:
                return program
        return self._add(signature, args, named, self._paths.get(signature, ()))

    def clear(self) -> None:
        """Forget all programs; the next call records a new one.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> rate = 0.5
        >>> step = ad.compile(lambda x: x * rate)
        >>> step(10.0)
        Tensor(5.)
        >>> rate = 0.25
        >>> step(10.0)  # as it was recorded
        Tensor(5.)
        >>> step.clear()
        >>> step(10.0)
        Tensor(2.5)
        """
        with self._lock:
            self._paths = {}

    def _found(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Program, ...], Any, list[Any]]:
        """Return the programs for these arguments, the key of their kind, and the arrays among them."""
        key: list[Any] = []
        arrays: list[Any] = []
        taken_apart(args, key, arrays)
        if named:
            key += named
            taken_apart(named.values(), key, arrays)
        signature = tuple(key)
        try:
            return self._paths.get(signature, ()), signature, arrays
        except TypeError:
            raise _unhashable(self.__name__, args, named) from None

    def _add(self, signature: Any, args: tuple[Any, ...], named: dict[str, Any], tried: tuple[Program, ...]) -> Program:
        """Record the path that these arguments take, and keep its program."""
        with self._lock, without_collecting():
            paths = self._paths.get(signature, ())
            if len(paths) > len(tried):  # another thread has recorded one meanwhile
                return paths[-1]
            listing, build, captured = self._recorded_twice(args, named)
            if len(paths) >= MOST_PATHS:
                guards = [one for one in listing.instructions if one.is_guard]
                raise ValueError(
                    f"{place(guards[-1].where)}: {self.__name__} takes another path here for the "
                    f"{MOST_PATHS + 1}th time with arguments of the same shapes, so compiling it is not worth it. "
                    "Use np.where instead of `if` and masks; pass whole numbers for range() as arguments, not as "
                    "tensors; or leave this part out of the compiled function"
                )
            program = Program(self.__name__, listing, build, captured, self.passes)
            self._paths[signature] = (*paths, program)
            self._forget()
        return program

    def _recorded_twice(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Listing, Any, set[int]]:
        """Record the function twice, and compare; once more if the first call created variables, as layers do."""
        first, build, captured, created = self._recorded(args, named)
        if created:
            first, build, captured, _ = self._recorded(args, named)
        generators = generators_of(self.function, args, named)
        before = [state_of(generator) for generator in generators]
        second, *_ = self._recorded(args, named, [variable for variable, _ in first.variables])
        difference = next(find_differences(first, second), None)
        if difference is not None and difference.instruction is not None:
            raise DifferentError(_describe(difference, self.__name__))
        for generator, state in zip(generators, before, strict=True):
            if state_of(generator) != state:
                raise DifferentError(
                    f"{self.__name__} draws random numbers each time it is called, and a compiled "
                    "program would keep those of the first call: draw them outside, and pass them to "
                    f"{self.__name__} as an argument"
                )
        if difference is not None:
            raise DifferentError(_describe(difference, self.__name__))
        return first, build, captured

    def _recorded(
        self, args: tuple[Any, ...], named: dict[str, Any], marked: list[Variable] | None = None
    ) -> tuple[Listing, Any, set[int], bool]:
        """Return what was recorded, how the result is built, the constants, and whether variables were created."""
        tensors, args, named = with_tensors(self.function, args, named)
        recorder = GuardedRecorder(tensors, marked)
        result = recorder.run(lambda: self.function(*args, **named))
        values = [recorder.value_of(tensor) for tensor in tensors_of(result, self.__name__)]
        return recorder.listing(values), builder(result, recorder.made), recorder.captured, bool(recorder.made)

    def _forget(self) -> None:
        """Drop the programs for objects that are gone; then the one unused for longest, if there are too many."""
        self._paths = {signature: paths for signature, paths in self._paths.items() if not has_ended(signature)}
        programs = [(program.used, signature) for signature, paths in self._paths.items() for program in paths]
        if len(programs) > MOST_PROGRAMS:
            used, signature = min(programs, key=lambda pair: pair[0])
            left = tuple(program for program in self._paths[signature] if program.used != used)
            self._paths = {**self._paths, signature: left} if left else {
                other: paths for other, paths in self._paths.items() if other != signature
            }  # fmt: skip

    def __str__(self) -> str:
        programs = [str(program) for paths in self._paths.values() for program in paths]
        return "\n\n".join(programs) or f"{self!r}: call it first, then print it again"

    def __repr__(self) -> str:
        count = sum(map(len, self._paths.values()))
        return f"<compiled {self.__name__}: {count} program{'' if count == 1 else 's'}>"


def _is_heard(state: State, args: Any, named: Any, paths: tuple[Program, ...]) -> bool:
    """Return whether something listens to what the function computes; a program would not report it."""
    leaves = [leaf for _, leaf in flatten((args, named), "") if isinstance(leaf, Tensor)]
    variables = [leaf for leaf in leaves if isinstance(leaf, Variable)]
    variables += [variable for program in paths for variable in program.variables]
    for listener in state.listeners:
        if listener in always.listeners:
            continue
        ids = [leaf._id for leaf in (*leaves, *variables)]
        ids += [id for program in paths for id in program.captured]
        if not isinstance(listener, Tape) or not paths or listener.follows(ids):
            return True
        if any(listener.watches(variable) for variable in variables):
            return True
    return False


def _describe(difference: Difference, name: str) -> str:
    """Describe a difference: its line, and why a program of the first call would be wrong."""
    instruction = difference.instruction
    if instruction is None:
        found = f"{name} returned or assigned something else"
    elif difference.kind == "path":
        found = f"{place(instruction.where)}: from {instruction.name} on, {name} took another path"
    else:
        return (
            f"{place(instruction.where)}: {instruction.name} uses numbers that differ when {name} is called again with "
            "the same arguments. Random numbers, or numbers that an earlier call left behind, would stay those of the "
            f"first call: draw or keep them outside, and pass them to {name} as an argument"
        )
    return (
        f"{found} when called again with the same arguments, so one program cannot replace it. What it does may depend "
        "on its arguments and on variables, but not on what an earlier call left behind in lists, globals or attributes"
    )


def _unhashable(name: str, args: Any, named: Any) -> TypeError:
    for path, leaf in [*flatten(args, "argument "), *flatten(named, "argument ")]:
        try:
            hash(None if is_array(leaf) else exact(leaf))
        except TypeError:
            return TypeError(
                f"{path} of {name} is {leaf!r:.60} of type {type(leaf).__name__}, which cannot be hashed, so a "
                "compiled function cannot find the program for it. Pass numbers, arrays, strings, tuples, lists or "
                "dicts of them, or an object that can be hashed"
            )
    return TypeError(f"an argument of {name} cannot be hashed")


def compile(function: Callable[..., Any] | None = None, *, passes: Iterable[str | Pass] | None = None) -> Any:
    """Return a function that computes what `function` computes, as fast as NumPy written by hand.

    The first call with arguments of new structures, shapes or dtypes records every operation on tensors, also those of
    the tapes inside, and writes one NumPy function; later calls run that function. So your Python code runs only while
    it is recorded, twice, to compare, and once more if it makes variables. It prints each time; later calls print
    nothing, and leave your counters and lists as they are. What the code reads keeps the value that it had then, unless
    it is an argument or a variable. That includes attributes of arguments, such as `self.rate` in a method: pass the
    rate too, make it a variable, or call `clear()` when it has changed.

    Parameters
    ----------
    function : callable
        Takes arrays, numbers and structures of them; returns tensors, None, and structures of them. It may open tapes,
        take gradients of any order, and read and assign variables.
    passes : sequence of str or callable, optional
        The passes that make the program shorter and faster, in the order in which they run. By default "unused",
        "folded", "shared", "postponed", "joined", "reused"; `()` for none. A function is a pass of your own: it takes a
        `Listing`, the program as a list of instructions, and returns another.

    Returns
    -------
    Compiled
        Called like the function. Floats, complex numbers, arrays and tensors are its inputs. Whole numbers, booleans,
        strings, variables and other objects are part of the program: a different one gets its own program.
        `print` shows the programs, `program(*args)` returns one, and `clear()` forgets them.

    Raises
    ------
    TypeError
        When called: if plain numbers are taken out of a tensor, as with float() or .numpy(); if the result holds
        anything but tensors and None; if an argument cannot be hashed, or can be read only once, like a generator; if a
        pass of your own does not return a listing.
    ValueError
        When called: if the function computes something different when called again with the same arguments, as with
        random numbers; if arguments of the same kind take more than 16 paths.

    Notes
    -----
    Variables are read in every call, and assigned to when the program has finished. A float is a float64 tensor, as in
    `constant`: next to float32 arrays, pass `np.float32(0.1)` in place of `0.1`. Text made of a tensor, as in f"{x}",
    stays that of the first call, and so does what another thread computes for the function. What nothing needs does not
    run, so NumPy does not warn about it either, nor raise its errors. `np.linalg.cholesky` and `inv` always run,
    because some code calls them only for their errors.

    Where Python needs a truth value or a whole number from a tensor (`if x > 0`, `while`, `range(int(n))`), the program
    checks that the answer is the one recorded. If it is not, the function is recorded once more, and both are kept.

    Under a tape that follows an argument or a variable, and in the player, the function itself runs.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> @ad.compile
    ... def slope(x):
    ...     return ad.grad(lambda x: np.sum(x**2 * 3.0))(x)
    >>> slope(np.array([1.0, 2.0]))
    Tensor([ 6., 12.])
    >>> print(slope.program(np.array([1.0, 2.0])))
    # slope: 6 operations, 1 left (unused −3, folded −2)
    def slope(x):
        x_bar = 6.0 * x  # doctest, line 3
        return x_bar,
    """
    if function is None:
        return functools.partial(compile, passes=passes)
    if not callable(function):
        raise TypeError(f"ad.compile takes a function, not {function!r:.60}; write ad.compile(f) and call the result")
    chosen = tuple(PASSES) if passes is None else tuple(passes)
    if unknown := [one for one in chosen if not callable(one) and one not in PASSES]:
        raise ValueError(
            f"{unknown[0]!r} is not a pass; the passes are {', '.join(map(repr, PASSES))}, and functions of your own"
        )
    return Compiled(function, chosen)
