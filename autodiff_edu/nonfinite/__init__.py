"""Where a NaN or an infinity comes from: the first operation, forward or backward, that made one from finite numbers.

The search goes back from the damage. If the target is not finite, it follows bad values from there to the operation
that made them; else, if a gradient is not finite, it follows bad contributions to the step that made them, and bad
values from there. A harmless one is named only if nothing else is wrong.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.Variable([0.0, 1.0], name="x")
>>> with ad.GradientTape() as tape, np.errstate(divide="ignore"):
...     y = np.where(x > 0, np.log(x), 0.0)
>>> print(first_nonfinite(tape, y, x))
Forward, doctest, line 2: t2 = log(x): log of 0 gives -inf at element [0].
The where in doctest, line 2 does not take this element. So y is finite; but going backward its cotangent 0 meets a
derivative that is not finite here, and 0 times that is nan.
Make the input harmless before the operation sees it:
    safe = np.where(x > 0, x, 1.0)
    np.where(x > 0, np.log(safe), 0.0)
"""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.active import only
from ..core.reach import ahead, behind
from ..core.rule import kind_of, runs_code
from ..derivatives.requests import seeds_of, tensors_of
from ..derivatives.steps import Step, steps
from ..text.formatting import short_argument
from ..text.labels import labels_of
from ..text.places import Place
from ..text.printing import printable
from .origin import (
    Index,
    at,
    bad,
    bad_arguments,
    describe_backward,
    describe_forward,
    find_worst,
    first,
    firsts,
    inputs_of,
    is_elementwise,
)
from .remedies import LARGE, remedy
from .silencers import explain_zero, silencer

if TYPE_CHECKING:
    from ..core.entry import Entry
    from ..core.tape import Tape
    from ..core.tensor import Tensor
    from .remedies import Makers


@dataclass(frozen=True, eq=False, repr=False)
class Nonfinite:
    """The origin of a NaN or an infinity; `print` it to read it.

    Attributes
    ----------
    entry : Entry or None
        The entry whose operation made it; if it came in with the data, the entry that first used it, if any.
    place : Place or None
        The entry's place in the user's code.
    operation : str or None
        The operation's name; None if no operation made it.
    direction : {"forward", "backward"}
        The pass in which it was made.
    value : {"nan", "inf", "-inf"}
        What was made.
    index : tuple of int
        The first bad element of the output (forward) or of the contribution (backward).
    inputs : tuple
        The operation's inputs; if it works element by element, at that element.
    remedy : str
        What to write instead.
    account : str
        What happened, in words, without the remedy.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> x = ad.Variable([4.0, -1.0])
    >>> with ad.GradientTape() as tape, np.errstate(invalid="ignore"):
    ...     y = np.sum(np.sqrt(x))
    >>> found = tape.first_nonfinite(y, x)
    >>> found.operation, found.direction, found.value, found.index
    ('sqrt', 'forward', 'nan', (1,))
    """

    entry: Entry | None
    place: Place | None
    operation: str | None
    direction: str
    value: str
    index: Index
    inputs: tuple[Any, ...]
    remedy: str
    account: str

    def __str__(self) -> str:
        lines = f"{self.account}\n{self.remedy}".split("\n")
        return printable("\n".join(line if line.startswith(" ") else textwrap.fill(line, 116) for line in lines))

    def __repr__(self) -> str:
        where = f", {self.place}" if self.place else ""
        return f"<Nonfinite: {self.value} from {self.operation or 'the data'}, {self.direction}{where}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def first_nonfinite(tape: Tape, target: Any, sources: Any) -> Nonfinite | None:
    """Name the first operation, forward or backward, that made a NaN or an infinity between sources and target.

    This does not use up the tape, records nothing, and notifies no hook.

    Parameters
    ----------
    tape : Tape
        It must still have its arrays: a persistent tape, or a one-shot tape that has not been used yet.
    target, sources : Tensor, Variable, or a nested list, tuple or dict of them
        As for `GradientTape.gradient`.

    Returns
    -------
    Nonfinite or None
        None if every value that the tape followed to the target is finite, and so are the gradients.

    Raises
    ------
    RuntimeError, TypeError, LookupError
        As `GradientTape.gradient` does.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(0.0, name="x")
    >>> with ad.GradientTape() as tape:
    ...     y = 3.0 * np.sqrt(x)
    >>> print(first_nonfinite(tape, y, x))
    Backward, doctest, line 2: t1 = sqrt(x): the derivative of sqrt of 0 with respect to x is inf, and times the
    cotangent 3 gives inf.
    np.linalg.norm and np.std have the gradient 0 at 0.
    Otherwise, keep the input away from where this happens (where the guard replaces a value, no gradient flows back):
        np.sqrt(np.maximum(x, 2e-16))
    """
    wanted = tensors_of(sources, "sources")
    tape.check_usable()
    with only(), np.errstate(all="ignore"):
        return _Search(tape, tensors_of(target, "target"), wanted).run()


class _Search:
    """One search: the tape, the steps of its backward pass, and the names in its table."""

    def __init__(self, tape: Tape, targets: list[Tensor], sources: list[Tensor]) -> None:
        self.tape, self.targets, self.sources = tape, targets, sources
        self.makers: Makers = {entry.output_id: entry for entry in tape.entries}
        self.numbers = {entry.output_id: k for k, entry in enumerate(tape.entries)}
        self.steps: list[Step] = []
        self.bad_targets = [target for target in targets if bad(target._array).any()]
        self.labels = labels_of(tape)

    def run(self) -> Nonfinite | None:
        if self.bad_targets:
            makers = [self.makers[target._id] for target in self.bad_targets if target._id in self.makers]
            return self.forward(makers) if makers else self.tell_data(target=self.bad_targets[0])
        cotangents = self.tape.seed(seeds_of(self.targets, None))
        self.steps = list(steps(self.tape.walk(cotangents, {source._id for source in self.sources})))
        spoilt = {source._id for source in self.sources if bad(cotangents.get(source._id)).any()}
        return self.backward(spoilt) if spoilt else self.harmless()

    # Following bad values to their origin -----------------------------------------------------------------------------

    def forward(self, pending: list[Entry], made: Any = None, step: Step | None = None) -> Nonfinite:
        """Follow bad values from the pending entries to their earliest origin.

        `step` is the step of the backward pass that they spoil, and `made` marks the elements.
        """
        seen, origins = set(), []
        while pending:
            entry = pending.pop()
            if entry.output_id in seen:
                continue
            seen.add(entry.output_id)
            arguments = bad_arguments(entry)
            order = self.numbers[entry.output_id]
            if not arguments:
                origins.append((order, False, -1, entry))
            for k in arguments:
                maker = self.makers.get(entry.ids[k])
                if maker is None:
                    origins.append((order, entry.ids[k] is None, k, entry))
                else:
                    pending.append(maker)
        _, _, k, entry = min(origins, key=lambda origin: origin[:3])
        return self.tell_forward(entry, made, step) if k < 0 else self.tell_data(entry, k)

    def backward(self, spoilt: set[int]) -> Nonfinite:
        """Follow bad contributions from the gradients to the earliest step that made one, walking backwards."""
        origin: tuple[Step, int, Any, Any, bool] | None = None
        for step in reversed(self.steps):
            entry, cotangent, contributions = step
            arrived = bad(cotangent).any()
            for sent in reversed(contributions):
                if sent.id not in spoilt:
                    continue
                argument, before, value, after = sent.argument, sent.before, sent.value, sent.after
                made = bad(value)
                if made.any() and arrived:
                    spoilt.add(entry.output_id)
                    continue
                is_sum = not made.any()
                if is_sum:
                    made, value = bad(after) & ~bad(before), after
                if made.any():
                    origin = step, argument, made, value, is_sum
        assert origin is not None, "a gradient that is not finite was made by some step"
        step, argument, made, value, is_sum = origin
        entry = step[0]
        tainted = [bad(v) & made if is_elementwise(entry) else bad(v) for v in (entry.output_value, *entry.values)]
        if not is_sum and any(wrong.any() for wrong in tainted):
            return self.forward([entry], made, step)
        return self.tell_backward(step, argument, made, value, is_sum)

    def harmless(self) -> Nonfinite | None:
        """Name the first bad value on the way to the target when neither the target nor a gradient is bad."""
        connected = self.tape.connected
        followed = [entry for entry in self.tape.entries if entry.output_id in connected]
        for entry in behind(followed, {target._id for target in self.targets}):
            for k, id in enumerate(entry.ids):
                if id in connected and id not in self.makers and bad(entry.values[k]).any():
                    return self.tell_data(entry, k, afterthought=self.afterthought())
            if bad(entry.output_value).any():
                return self.forward([entry], None, next((s for s in self.steps if s[0] is entry), None))
        return None

    # Telling it -------------------------------------------------------------------------------------------------------

    def tell_data(
        self, entry: Entry | None = None, argument: int = 0, target: Any = None, afterthought: str = ""
    ) -> Nonfinite:
        """Describe an argument of an entry, or of a target, that was not finite to begin with."""
        array = target._array if entry is None else entry.values[argument]
        id: int | None = target._id if entry is None else entry.ids[argument]
        index, value = first(array, bad(array))
        if id is not None and id in self.labels:
            name = self.labels[id]
        else:
            name = target.name or "the target" if entry is None else f"the constant {short_argument(array)}"
        used = "" if entry is None else f" (used in {entry.place}: {self.equation(entry)})"
        account = (
            f"Forward: {name} is {value}{at(index)} from the start{used}; no operation on this tape made "
            f"it.{afterthought}"
        )
        advice = "Check where it comes from before the tape starts, for example with np.isfinite(...).all()."
        place, inputs = None if entry is None else entry.place, (np.asarray(array)[index],)
        return Nonfinite(entry, place, None, "forward", value, index, inputs, advice, account)

    def tell_forward(self, entry: Entry, made: Any, step: Step | None) -> Nonfinite:
        wrong = bad(entry.output_value)
        if made is not None and made.shape == wrong.shape and (wrong & made).any():
            wrong = wrong & made  # of several bad elements, take one that does harm
        found = firsts(entry.output_value, wrong)
        (index, value), inputs = found[0], inputs_of(entry, found[0][0])
        said = "; ".join(describe_forward(entry, *each) for each in found)
        account = f"Forward, {entry.place}: {self.equation(entry)}: {said}."
        by = None
        if not self.bad_targets:
            if step is not None:
                by = silencer(step, self.steps, index if np.shape(step[1]) == wrong.shape else None)
                if by is not None and step.entry is not entry:  # the bad value went on before it did harm
                    by = by._replace(is_aligned=by.is_aligned and self.keeps_places(entry, step.entry))
            account += "" if by is None else f"\n{explain_zero(by.entry)}."
            if made is None:
                account += self.afterthought()
            elif by is None:
                account += f"\n{self.target()} is finite, but going backward the derivative here is not."
            else:
                account += (
                    f" So {self.target()} is finite; but going backward its cotangent 0 meets a derivative that is not "
                    "finite here, and 0 times that is nan."
                )
        worst, kind = find_worst(entry.output_value, wrong)
        advice = remedy(entry, inputs_of(entry, worst), kind, by, self.labels, self.makers)
        return Nonfinite(entry, entry.place, entry.name, "forward", value, index, inputs, advice, account)

    def keeps_places(self, first: Entry, last: Entry) -> bool:
        """Return whether what is computed from one entry, up to another, has its elements, each in its place."""
        between = ahead(self.makers.values(), {first.output_id})
        return all(
            is_elementwise(later) and np.shape(later.output_value) == np.shape(first.output_value)
            for later in between
            if later.output_id <= last.output_id
        )

    def tell_backward(self, step: Step, argument: int, made: Any, sent: Any, is_sum: bool) -> Nonfinite:
        entry, cotangent, _ = step
        found = firsts(sent, made)
        (index, value), *_ = found
        name = self.labels[entry.ids[argument]]
        together = is_elementwise(entry) and np.shape(cotangent) == np.shape(sent)
        inputs, by = inputs_of(entry, index if together else None), None
        said = "; ".join(describe_backward(entry, argument, name, cotangent, sent, *each, is_sum) for each in found)
        account = f"Backward, {entry.place}: {self.equation(entry)}: {said}."
        if together and not is_sum:
            by = silencer(step, self.steps, index)
        elif value == "nan" and not is_sum and not runs_code(entry.operation):
            by = silencer(step, self.steps, None)
        if by is not None:
            account += f"\n{explain_zero(by.entry)}: that is why the cotangent is 0. But 0 times inf is nan."
        if is_sum:
            advice = LARGE
        elif kind_of(entry.operation) == "custom":
            advice = f"Check what the backward function of {entry.name} computes there, for example with np.isfinite."
        else:
            advice = remedy(entry, (*inputs, cotangent), value, by, self.labels, self.makers)
        return Nonfinite(entry, entry.place, entry.name, "backward", value, index, inputs, advice, account)

    def equation(self, entry: Entry) -> str:
        return f"{self.labels[entry.output_id]} = {self.labels.text(entry)}"

    def target(self) -> str:
        id = self.targets[0]._id
        return self.labels[id] if len(self.targets) == 1 and id in self.labels else "the target"

    def afterthought(self) -> str:
        return f"\nIt does no harm here: {self.target()} and the gradients are finite."
