"""`GradientTape`: core's Tape, with all the questions that you can ask it.

Each question is answered in the room that it is named after, which is imported with the first question.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.constant(2.0)
>>> with ad.GradientTape() as tape:
...     tape.watch(x)
...     y = x * np.sin(x)
>>> print(tape)
#  line             entry        value
1  doctest, line 3  t1 = sin(x)  0.909297
2  doctest, line 3  y = x * t1   1.81859
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from .core.active import emit, now, start_listening, stop_listening
from .core.events import Event, Pause, Read, Reset, Resume
from .core.tape import Tape
from .core.variable import Variable
from .derivatives.requests import check_option, check_watchable, gradient, seeds_of, tensors_of
from .derivatives.steps import Step, as_tensors, steps

if TYPE_CHECKING:
    from .derivatives.corners import Corner
    from .derivatives.nudge import Nudge
    from .explain.explanation import Explanation
    from .nonfinite import Nonfinite
    from .program.code import Code


class GradientTape(Tape):
    """A list of the operations computed while it records, which can be read backwards.

    Parameters
    ----------
    persistent : bool
        Whether `gradient` may be called more than once. A one-shot tape releases the arrays of each entry as soon as
        the first has passed it, even if a rule fails later on the way.
    watch_accessed_variables : bool
        Whether trainable variables are watched when they are read.

    Attributes
    ----------
    entries : list of Entry
        What was recorded, in order.

    Notes
    -----
    Every question raises the errors that `gradient` raises for a tape, a target or sources that don't fit.

    While the tape is recording, what would silently turn a tensor it follows into plain numbers, such as `a[0] = x`,
    `np.sum([x, y])`, `math.sin(x)` or a callback of SciPy that returns one, raises an error. You still get numbers if
    the code shows that it asks for them: `x.numpy()`, `float(x)`, `map(float, x)`, `max(x, key=float)`, `"%g" % x`. In
    `json.dumps(x, default=float)` or `functools.partial(float)(x)` it does not show; write `float(x)` yourself.

    A tape records the thread that entered it; with asyncio, the task that entered it and those that this task starts
    inside the `with` block, but not other tasks that happen to run in the meantime.

    Examples
    --------
    Tapes nest, so you can take derivatives of any order:

    >>> import autodiff_edu as ad
    >>> x = ad.Variable(1.0)
    >>> with ad.GradientTape() as outer:
    ...     with ad.GradientTape() as inner:
    ...         y = x**3
    ...     slope = inner.gradient(y, x)
    >>> slope, outer.gradient(slope, x)
    (Tensor(3.), Tensor(6.))
    """

    stepwise = (
        False  # whether it is beginning a backward pass that goes step by step, and releases nothing before its end
    )

    def watch(self, tensors: Any) -> None:
        """Follow tensors from here on: what is computed from them is recorded.

        Parameters
        ----------
        tensors : Tensor, Variable, or a nested list, tuple or dict of them
            Their dtypes must be floating or complex.

        Raises
        ------
        ValueError, TypeError, RuntimeError
            If something is not a tensor, holds integers or booleans, or the tape is not recording.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.constant(3.0)
        >>> with ad.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.gradient(y, x)
        Tensor(6.)
        """
        self._check_recording(RuntimeError, "it cannot watch; call watch")
        for tensor in check_watchable(tensors):
            self.watch_tensor(tensor)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables that the tape watches, in the order of their creation.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> w, b = ad.Variable(2.0, name="w"), ad.Variable(1.0, name="b")
        >>> with ad.GradientTape() as tape:
        ...     y = w * 3.0
        >>> [variable.name for variable in tape.watched_variables()]
        ['w']
        """
        return tuple(tensor for _, (tensor, _) in sorted(self.watched.items()) if isinstance(tensor, Variable))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Pause this tape, and no other, during a `with` block.

        Raises
        ------
        RuntimeError
            If the tape is not recording.
        ValueError
            If it is already paused.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable(3.0)
        >>> with ad.GradientTape() as tape:
        ...     y = x * x
        ...     with tape.stop_recording():
        ...         size = y * y
        >>> size, len(tape.entries)
        (Tensor(81.), 1)
        """
        self._check_recording(RuntimeError, "it cannot be paused; write stop_recording")
        if self not in now().listeners:
            raise ValueError("this tape is already paused; one stop_recording is enough")
        place = stop_listening(self)
        try:
            self._mark(Pause)
            yield
        finally:
            if self._recording and self not in now().listeners:
                start_listening(self, place)
                self._mark(Resume)

    def reset(self) -> None:
        """Forget every entry and every watch; the tape goes on recording.

        Raises
        ------
        ValueError
            If the tape is not recording.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable(3.0)
        >>> with ad.GradientTape() as tape:
        ...     attempt = x * x
        ...     tape.reset()
        ...     y = x * x * x
        >>> len(tape.entries), tape.gradient(y, x)
        (2, Tensor(27.))
        """
        self._check_recording(ValueError, "there is nothing to reset; call reset")
        self.forgotten = set(self.watched)
        self._forget()
        self._mark(Reset)

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any:
        """Differentiate the target with respect to the sources; a target that is not a scalar is summed.

        Parameters
        ----------
        target : Tensor, Variable, or a nested list, tuple or dict of them
            What to differentiate. Several targets are added up.
        sources : Tensor, Variable, or a nested list, tuple or dict of them
            What to differentiate with respect to.
        output_gradients : array_like, or a structure like that of the target, optional
            The first cotangents, each with its target's shape; None means ones.
        unconnected_gradients : {"none", "zero", "explain"}
            What to return for a source that the target does not depend on; "explain" raises an error that says why.

        Returns
        -------
        Tensor or None, in the structure of the sources
            Each of the shape and dtype of its source.

        Raises
        ------
        RuntimeError
            If the tape was never entered, or is a one-shot tape that has already been used.
        TypeError
            If a target or a source is not a tensor.
        ValueError
            If the structure, the number or a shape of `output_gradients` does not match the targets; an
            `UnconnectedError` under "explain".
        LookupError
            If a NumPy function on the way has no rule.

        Examples
        --------
        >>> import numpy as np
        >>> import autodiff_edu as ad
        >>> w, b = ad.Variable([1.0, 2.0]), ad.Variable(0.5)
        >>> with ad.GradientTape() as tape:
        ...     loss = np.sum((w * 3.0 + b) ** 2)
        >>> tape.gradient(loss, {"w": w, "b": b})
        {'w': Tensor([21., 39.]), 'b': Tensor(20.)}
        """
        self._check_option(unconnected_gradients, target, sources, lambda: seeds_of(target, output_gradients))
        return gradient(self, target, sources, output_gradients, unconnected_gradients)

    def steps(self, target: Any, sources: Any, output_gradients: Any = None) -> Iterator[Step]:
        """Walk backwards one entry at a time; `gradient` is this walk, run to its end.

        The walk uses up a one-shot tape when it starts, with the first `next`. The tape keeps all its arrays until the
        walk ends, or is closed, and then releases them at once; `gradient` releases those of each entry as it passes.
        Parameters and errors are those of `gradient`.

        Returns
        -------
        iterator of Step
            The entry, the cotangent that arrived, and the contributions, each with the accumulator before and after.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> a = ad.Variable(3.0)
        >>> with ad.GradientTape() as tape:
        ...     b = a * a
        >>> step = next(tape.steps(b, a))
        >>> [(c.before, c.value, c.after) for c in step.contributions]
        [(None, Tensor(3.), Tensor(3.)), (Tensor(3.), Tensor(3.), Tensor(6.))]
        """
        seeds, wanted = seeds_of(target, output_gradients), {one._id for one in tensors_of(sources, "sources")}

        def walk() -> Iterator[Event]:
            with self.backward_pass():
                self.stepwise = not self.persistent
                try:
                    cotangents = self.seed(seeds)
                finally:
                    self.stepwise = False
                yield from self.walk(cotangents, wanted, lazy=True)

        return as_tensors(steps(walk()))

    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: str = "none", chunk_size: int | None = None
    ) -> Any:
        """Differentiate every element of the target with respect to every element of the sources, in one backward pass.

        Parameters
        ----------
        target : Tensor, or a nested structure of them
            Real.
        sources : Tensor, Variable, or a nested structure of them
            As for `gradient`.
        unconnected_gradients : {"none", "zero", "explain"}
            As for `gradient`.
        chunk_size : int, optional
            How many elements of the target to treat at once; by default as many as fit into 256 MiB.

        Returns
        -------
        Tensor or None, in the structure of the sources
            Of shape `target.shape + source.shape`. For a structure of targets, one of these for each, in its structure.

        Raises
        ------
        TypeError, ValueError
            If a target is not a real tensor, or `chunk_size` is not a whole number of at least 1.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable([1.0, 2.0])
        >>> with ad.GradientTape() as tape:
        ...     y = x**2
        >>> tape.jacobian(y, x)
        Tensor([[2., 0.],
                [0., 4.]])
        """
        from .derivatives.jacobians import jacobian, real_tensors

        check_option(unconnected_gradients)
        for one in real_tensors(target, "jacobian"):
            self._check_option(unconnected_gradients, one, sources, lambda: None)
        return jacobian(self, target, sources, unconnected_gradients, chunk_size)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: str = "none",
        check: bool = False,
        chunk_size: int | None = None,
    ) -> Any:
        """Differentiate each sample of the target with respect to its own sample of the source.

        The first axis of each counts the samples, which must not mix (as batch normalisation would mix them).

        Parameters
        ----------
        target, source : Tensor
            Of rank 2 or more, with equally many samples.
        unconnected_gradients, chunk_size
            As for `jacobian`; a chunk consists of elements of one sample.
        check : bool
            Whether to raise a ValueError that names the samples that others depend on.

        Returns
        -------
        Tensor or None
            Of shape `target.shape + source.shape[1:]`.

        Raises
        ------
        ValueError
            If a rank is below 2, or the numbers of samples differ, or `check` found samples that mix, or cannot tell
            because a derivative is infinite or NaN.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with ad.GradientTape() as tape:
        ...     y = x**2
        >>> tape.batch_jacobian(y, x)
        Tensor([[[2., 0.],
                 [0., 4.]],
        <BLANKLINE>
                [[6., 0.],
                 [0., 8.]]])
        """
        from .derivatives.jacobians import batch_jacobian, one_tensor

        self._check_option(unconnected_gradients, target, source, lambda: one_tensor(target, "batch_jacobian"))
        return batch_jacobian(self, target, source, unconnected_gradients, check, chunk_size)

    def explain(self, target: Any, source: Any) -> Explanation:
        """Explain why the gradient of the target with respect to the source is None, or how the two are connected.

        If values of the source left the tape on another path to the target, it lists where: the gradient is incomplete.

        It never uses up a tape, and works on a used one: the names and the lines stay.

        Parameters
        ----------
        target : Tensor, Variable, or a nested structure of them
            What would be differentiated.
        source : Tensor or Variable
            What to differentiate with respect to.

        Returns
        -------
        Explanation
            True if the two are connected. Its text names every cut, the operation and the line in your code.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.constant(3.0, name="x")
        >>> with ad.GradientTape() as tape:
        ...     y = x * x
        >>> print(tape.explain(y, x))  # doctest: +ELLIPSIS
        dy/dx is None:
        - doctest, line 1: x is a constant that the tape was never asked to watch. Write tape.watch(x) before ...
        """
        from .explain.explanation import explain

        return explain(self, target, source)

    def first_nonfinite(self, target: Any, sources: Any) -> Nonfinite | None:
        """Find the first operation, forward or backward, that made a NaN or an infinity from finite numbers.

        Never uses a tape up.

        Parameters
        ----------
        target, sources : Tensor, Variable, or a nested structure of them
            As for `gradient`.

        Returns
        -------
        Nonfinite or None
            Its text names the operation, the line and the numbers, and says what to write instead; None if every
            number on the way is finite.

        Examples
        --------
        >>> import numpy as np
        >>> import autodiff_edu as ad
        >>> x = ad.Variable([4.0, 0.0], name="x")
        >>> with ad.GradientTape() as tape:
        ...     y = np.sum(np.sqrt(x))
        >>> found = tape.first_nonfinite(y, x)
        >>> found.operation, found.direction
        ('sqrt', 'backward')
        """
        from .nonfinite import first_nonfinite

        self._read_where_recorded(target, "tape.first_nonfinite")
        return first_nonfinite(self, target, sources)

    def corners(self, target: Any, sources: Any) -> tuple[Corner, ...]:
        """List the operations that stand at a corner, where the rule chose one of several slopes that fit.

        At a corner, an operation has one slope on the left and another on the right, such as `np.abs` at 0 and
        `np.maximum` at a tie. An operation is listed if it is on a path on which a cotangent flows from the target to
        the sources, and the slopes of one of its results with respect to one element of an argument, with all others
        held, differ on the two sides. Never uses up a tape.

        Parameters
        ----------
        target, sources : Tensor, Variable, or a nested structure of them
            As for `gradient`.

        Returns
        -------
        tuple of Corner
            In the order of computation; empty if no operation stands at a corner. On a tape that has released its
            arrays: all operations on the way that can have corners, by name and line only.

        Notes
        -----
        A jump is not a corner, and neither is the edge of a domain, such as 0 for `np.sqrt`. `np.where(c, a, b)` and
        `x * c` stand at a corner where the condition changes as the sources move, the branches are equal, and their
        slopes with respect to the sources are not; the condition must consist of comparisons of tensors on the way. Not
        seen are other conditions, such as those of an `if` or made of plain numbers, branches whose slopes are unknown
        (they come from a custom gradient, a checkpoint or another corner), what happens inside a checkpoint or a custom
        gradient, and equal eigenvalues of a matrix that is not symmetric.

        Two corners may cancel each other: `relu(x) - relu(-x)` is x. A complex element moves along the real axis;
        where its size decides and does not change there, along the imaginary axis.

        Examples
        --------
        >>> import numpy as np
        >>> import autodiff_edu as ad
        >>> x = ad.Variable([-1.0, 0.0, 2.0])
        >>> with ad.GradientTape() as tape:
        ...     y = np.sum(np.maximum(x, 0.0))
        >>> print(*tape.corners(y, x))
        maximum, doctest, line 2: any slope from 0 to 1 fits at [1]; this rule takes 0.5
        """
        from .derivatives.corners import corners
        from .explain.journal import journal

        self._read_where_recorded(target, "tape.corners")
        return corners(self, target, sources, journal.lines())

    def nudge(self, target: Any, tensor: Any, by: Any) -> Nudge:
        """Nudge a tensor: compute how far the target moves, and how far the cotangent says it does.

        Runs again what was recorded after the tensor. Orders are found anew, and so are masks and indices that stand
        alone, as in `x[mask]` and `np.where(mask, x, y)`. Anything else stays as it was, such as the way an `if` went,
        `i` in `x[..., i]` and `np.take(x, i)`, plain numbers, and what was computed while the tape was paused. Never
        uses up a tape.

        At a corner, nudges in opposite directions show the two slopes, and their gaps how far either is from the one
        that was taken; see `corners`.

        Parameters
        ----------
        target, tensor : Tensor or Variable
            Any two on the tape, such as a loss and what it was computed from.
        by : array_like
            How far to move the tensor: a number, or an array that broadcasts to its shape.

        Returns
        -------
        Nudge
            With `moved`, `said` and their difference, `gap`: each of the target's shape. `kept` names what would have
            come out differently but stays as it was, as far as the tape knows: choices, and plain numbers that left.

        Raises
        ------
        ValueError, TypeError
            If `by` does not fit the tensor, the tensor or the target cannot be computed with again, or the nudge
            changes the target's shape.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable(3.0)
        >>> with ad.GradientTape() as tape:
        ...     y = x * x
        >>> tape.nudge(y, x, 0.1)
        The target moves by 0.61; the cotangent says 0.6
        """
        from .derivatives.nudge import nudge
        from .explain.flow import find_left
        from .explain.journal import journal

        self._read_where_recorded(target, "tape.nudge")
        return nudge(self, target, tensor, by, journal.lines(), partial(find_left, self))

    def code(self, target: Any, sources: Any, output_gradients: Any = None) -> Code:
        """Write the forward and the backward pass from the sources to the target as a plain NumPy program.

        It uses names from your code, and shows every rule as applied to these arguments. Like the tape it is a straight
        line: for other shapes, another order of the numbers that were sorted or searched, or another path through your
        code, record again. It never uses up a tape, but calls the backward functions of custom gradients once.

        Parameters
        ----------
        target, sources, output_gradients
            As for `gradient`.

        Returns
        -------
        Code
            `print` it to read it, or run it: `exec(str(program), names)` with `names = program.namespace` leaves what
            `gradient` would give, as plain arrays, in `names["gradient"]`.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable(3.0, name="x")
        >>> with ad.GradientTape() as tape:
        ...     y = x * x
        >>> print(tape.code(y, x))
        import numpy as np
        <BLANKLINE>
        # forward
        x = np.float64(3.0)
        y = x * x  # doctest, line 2
        <BLANKLINE>
        # backward: x_bar is the derivative of y with respect to x, and so on
        y_bar = np.float64(1.0)
        x_bar = y_bar * x          # multiply
        x_bar = x_bar + y_bar * x  # multiply
        gradient = x_bar
        """
        from .program.code import code

        return code(self, target, sources, output_gradients)

    def _check_recording(self, error: type[Exception], remedy: str) -> None:
        self._check_thread()
        if not self._recording:
            raise error(f"this tape is not recording, so {remedy} inside its with block")

    def _read_where_recorded(self, target: Any, how: str) -> None:
        """Read the target where a program is recorded: an answer that depends on its numbers must not be kept."""
        for tensor in tensors_of(target, "target") if any(one.compiles for one in now().followers) else ():
            emit(Read, tensor, how)

    def _check_option(self, unconnected: str, target: Any, sources: Any, check_target: Callable[[], Any]) -> None:
        check_option(unconnected)
        if unconnected == "explain":
            from .explain.explanation import check_connected

            check_target()  # errors in the question itself come first
            check_connected(self, target, tensors_of(sources, "sources"))

    def __repr__(self) -> str:
        kind = "persistent" if self.persistent else "one-shot"
        return f"<{type(self).__name__}: {kind}, {len(self.entries)} entries>"

    def __str__(self) -> str:
        from .text.printing import printable
        from .text.table import table_of

        return printable(table_of(self)) if self.entries else f"{self!r}: nothing recorded"
