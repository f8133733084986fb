"""Why a gradient is None: every place where the flow from a source to a target is cut, in the user's own words.

`ways.py` finds what lies between the two; this module describes each cut on the way in a sentence.

>>> import autodiff_edu as ad
>>> x = ad.Variable(3.0, name="x")
>>> with ad.GradientTape() as tape:
...     y = x * 2.0
...     z = ad.stop_gradient(y)
>>> print(tape.explain(z, x))
dz/dx is None:
- doctest, line 3: z = ad.stop_gradient(y) cuts the flow on purpose. Use y itself where the gradient should pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.entry import Entry
from ..core.rule import RULES
from ..core.tensor import Tensor, wrap
from ..core.variable import Variable
from ..custom.call import Custom
from ..custom.recomputed import Segment
from ..custom.strays import stray_of, strayed
from ..derivatives.requests import tensors_of
from ..rules.account import remedy
from ..text.formatting import DERIVATIVES, derivative
from ..text.functions import written_name
from ..text.places import Place, Where, names, place
from .journal import KEPT, Line
from .labels import SpokenLabels, as_written, is_statement
from .sentences import KINDS, UNSEEN, WHEN
from .ways import Link, Ways

if TYPE_CHECKING:
    from ..core.tape import Tape
    from ..trace import Trace


class UnconnectedError(ValueError):
    """Raised by `unconnected_gradients="explain"` if a gradient would be None or incomplete; the message says why.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(2.7, name="x")
    >>> with ad.GradientTape() as tape:
    ...     y = np.round(x) * 2.0
    >>> try:
    ...     tape.gradient(y, x, unconnected_gradients="explain")
    ... except ad.UnconnectedError as error:
    ...     print(str(error).splitlines()[0])
    dy/dx is None:
    """


class Cause(NamedTuple):
    """One reason for a None.

    `kind` names it in two or three words; `operation` and `where` are the operation and the line of the user's code, if
    there is one; `text` is the sentence, with what to write instead.
    """

    kind: str
    operation: str | None
    where: Where | None
    text: str

    @property
    def place(self) -> Place | None:
        """The place of the operation in the user's code."""
        return None if self.where is None else place(self.where)

    def __repr__(self) -> str:
        return f"Cause({self.kind!r}, {self.operation!r}, {self.place})"


MANY = 12
"""How many items of a list are shown."""


LEFT_OUT = "This gradient misses:"


class Explanation:
    """Why a gradient is None, or the path along which it flows; true if target and source are connected.

    Attributes
    ----------
    connected : bool
        Whether the gradient is not None.
    causes : tuple of Cause
        Every cut between the two, in the order of the operations; empty if connected.
    path : tuple of Entry
        A shortest path from the source to the target, if connected.
    left_out : tuple of Cause
        If connected: where values left the tape on another path from the source to the target, so that this part is
        missing from the gradient. Deliberate cuts, such as `stop_gradient` or a step function, do not count.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0, name="x")
    >>> with ad.GradientTape() as tape:
    ...     y = x * 2.0
    >>> tape.explain(y, x)
    Explanation(connected: x → y)
    """

    def __init__(self, ways: Ways) -> None:
        path = ways.path()
        self._ways = ways
        self._labels = SpokenLabels(ways)
        self.connected = path is not None
        self.path = path or ()
        self.causes = tuple(_after_all(self) if self.connected else _causes(self))
        self.left_out = tuple(_left_out(ways, self._labels)) if self.connected else ()
        way, causes = _few(self.path), _few(self.causes)
        items = [*(part if isinstance(part, str) else self._labels.written(part) for part in way)]
        items += [part if isinstance(part, str) else part.text for part in causes]
        self._sections = [(self.title, items)]
        if self.left_out:
            self._sections.append((LEFT_OUT, [cause.text for cause in self.left_out]))

    def __bool__(self) -> bool:
        return self.connected

    @property
    def called(self) -> str:
        """The user's name for the source."""
        return self._labels.spoken(self._ways.source._id, "source")

    @property
    def title(self) -> str:
        """The first line of the text: whether the gradient is None."""
        targets, by = self._ways.targets, self._labels.spoken(self._ways.source._id, "the source")
        name = self._labels.spoken(targets[0]._id, "the target") if len(targets) == 1 else f"the {len(targets)} targets"
        slope = derivative(name, by)
        slope = slope[0].upper() + slope[1:] if " " in slope else slope
        if not self.connected:
            return f"{slope} is None:"
        how = ". The gradient flows back through:" if self.path else ": they are the same tensor."
        return f"{slope} is not None{how}"

    def __str__(self) -> str:
        return "\n".join("\n".join([title, *(f"- {item}" for item in items)]) for title, items in self._sections)

    def __repr__(self) -> str:
        if self.connected:
            ids = (self._ways.source._id, *(entry.output_id for entry in self.path))
            left_out = ", misses a part" if self.left_out else ""
            return f"Explanation(connected: {' → '.join(self._labels[id] for id in ids)}{left_out})"
        return f"Explanation(unconnected: {', '.join(dict.fromkeys(cause.kind for cause in self.causes))})"

    def _repr_html_(self) -> str:
        parts = []
        for title, items in self._sections:
            parts.append(f"<p>{escape(title)}</p><ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>")
        return f"<div>{''.join(parts)}</div>"

    def trace(self) -> Trace:
        """Return the computation between source and target as a trace with its cuts, for `play` and its transcript."""
        from ..core import events
        from ..trace import Trace

        ways, tape, source = self._ways, self._ways.tape, self._ways.source
        shown = Trace("why is it None?" if not self.connected else "along which path?")
        if source._id in tape.watched:
            named = source.as_it_is() if isinstance(source, Variable) else wrap(source._array, source._id)
            named.name = self._labels[source._id]
            shown.add(events.Watch(tape, named, tape.watched[source._id][1]))
        for link in ways.links:
            if link.on_the_way and callable(link.entry.operation) and (link.cut or not link.inside):
                kind = events.Skip if not link.recorded else events.Cut if link.cut else events.Record
                shown.add(kind(tape, link.entry))
        shown.add(*(events.Explain(tape, *told) for told in self._walked_back()))
        return shown

    def _walked_back(self) -> Iterator[tuple[str, Where | None, Entry | None]]:
        """Return the way back from the target as sentences, each with its place and, if it is about one, its entry."""
        ways, labels = self._ways, self._labels
        target = labels.spoken(ways.targets[0]._id, "the target") if len(ways.targets) == 1 else "the targets"
        start = derivative(target, labels.spoken(ways.source._id, "the source"))
        start = f"{start[0].upper()}{start[1:]}" if " " in start else start
        if self.connected:
            yield f"{start} is not None. Walk back from {target} to see its path.", None, None
        else:
            yield f"{start} is None. Walk back from {target} to find out why.", None, None
        causes = [*self.causes, *self.left_out]
        for entry in reversed(self.path):
            yield f"{labels.written(entry)} passes a cotangent back.", entry.where, entry
        for link in [] if self.connected else ways.back():
            about = link.entry if callable(link.entry.operation) else None
            cut = [cause for cause in causes if link.cut is not None and cause.where == link.entry.where]
            for cause in cut:
                causes.remove(cause)
                yield cause.text, cause.where, about
            if link.cut is None and about is not None:
                yield f"{labels.written(about)} would pass a cotangent back.", about.where, about
        if self.left_out:
            yield LEFT_OUT, None, None
        yield from ((cause.text, cause.where, None) for cause in causes)


def explain(tape: Tape, target: Any, source: Any) -> Explanation:
    """Explain the gradient of a target with respect to a source; see `GradientTape.explain`."""
    targets = tensors_of(target, "target")
    if not isinstance(source, Tensor):
        raise TypeError(
            f"the source of explain must be one Tensor or Variable, not a {type(source).__name__}; call it once for "
            "each source"
        )
    return Explanation(Ways(tape, targets, source))


def check_connected(tape: Tape, target: Any, sources: list[Tensor]) -> None:
    """Raise an UnconnectedError if the gradient with respect to one of the sources would be None or incomplete."""
    targets = tensors_of(target, "target")
    for source in sources:
        explanation = Explanation(Ways(tape, targets, source))
        if not explanation or explanation.left_out:
            raise UnconnectedError(str(explanation))


def _few(items: Sequence[Any]) -> list[Any]:
    """Drop the middle of a long list."""
    if len(items) <= MANY:
        return list(items)
    return [*items[: MANY // 2], f"(and {len(items) - MANY} more)", *items[-MANY // 2 :]]


def _after_all(explanation: Explanation) -> list[Cause]:
    """List what prevents a gradient even though the tensors are connected."""
    found = []
    for entry in explanation.path:
        if entry.operation not in RULES:
            reason, instead = remedy(written_name(entry.operation))
            text = f"has no derivative rule{reason}; gradient raises a LookupError. {instead}, or use"
            text = f"{explanation._labels.written(entry)} {text} ad.register_gradient."
            found.append(Cause("no rule", entry.name, entry.where, text))
        elif isinstance(error := explanation._ways.failures.get(entry.output_id), LookupError):
            text = f"{explanation._labels.written(entry)}: gradient raises a LookupError: {error}."
            found.append(Cause("no rule", entry.name, entry.where, text))
    tape = explanation._ways.tape
    if any(entry.values is None for entry in tape.entries):
        mark = next(mark for mark in reversed(explanation._ways.life) if mark.what == "release")
        text = (
            f"{place(mark.where)}: this one-shot tape was used here and has released its arrays, so another gradient "
            "raises a RuntimeError. Write GradientTape(persistent=True) to differentiate more than once."
        )
        found.append(Cause("released", None, mark.where, text))
    return found


def _causes(explanation: Explanation) -> list[Cause]:
    ways, labels = explanation._ways, explanation._labels
    if not ways.life:
        text = "This tape was never entered. Compute the target inside `with tape:`."
        return [Cause("never entered", None, None, text)]
    found = _about_the_source(ways, labels)
    if astray := _about_strays(ways, labels):
        return [*found, *astray]
    if not ways.doubtful:
        found += [_about_a_cut(link, labels) for link in ways.cuts()]
    elif left := ways.left():
        found += [_about_leaving(link.entry, labels) for link in left]
    elif not any(cause.kind == "rebound" for cause in found):
        found = [cause for cause in found if cause.kind == "integer"] + [_nothing(ways, labels)]
    for target in ways.targets:
        if target.dtype.kind not in "fc" and not found:
            text = f"{labels[target._id]} has dtype {target.dtype}, but only floating and complex numbers "
            found.append(Cause("integer", None, None, text + "have derivatives."))
    return _once(found) or [_nothing(ways, labels)]


def _left_out(ways: Ways, labels: SpokenLabels) -> list[Cause]:
    return _once([*(_about_a_cut(link, labels) for link in ways.lost), *_about_strays(ways, labels)])


def _once(causes: Iterable[Cause]) -> list[Cause]:
    """Keep one of several causes of the same kind in a line: for `y = np.cos(x * w)` outside the tape, the whole."""
    once: dict[Any, Cause] = {}
    for cause in causes:
        line = cause.place and cause.place[:3]
        key = (cause.kind, line if cause.kind in UNSEEN else cause.place or cause.text)
        if key not in once or cause.kind in UNSEEN:
            once[key] = cause
    return list(once.values())


def _about_the_source(ways: Ways, labels: SpokenLabels) -> list[Cause]:
    """List why the tape does not follow the source, if it does not."""
    source, tape, name = ways.source, ways.tape, labels[ways.source._id]
    line = ways.origin(source)
    where = line.where if line else None
    born = f"{place(where)}: {name}" if where else name
    if source._id in tape.connected:
        return []
    if stray := _about_a_stray(source, ways, labels):
        return [stray]
    if source.dtype.kind not in "fc":
        text = f"{born} has dtype {source.dtype}, but only floating and complex numbers have derivatives. "
        return [Cause("integer", None, where, text + "Write it with a decimal point, or pass dtype=float.")]
    if source._id in tape.forgotten and not any(link.cut == "reset" for link in ways.cuts()):
        mark = next(mark for mark in reversed(ways.life) if mark.what == "reset")
        text = f"{place(mark.where)}: reset forgot that {name} was watched, and what was computed from it. "
        return [Cause("reset", None, mark.where, text + "Watch and compute after reset.")]
    if isinstance(source, Variable):
        if not any(link.on_the_way and source._id in link.entry.ids and link.cut not in UNSEEN for link in ways.links):
            return []  # the tape never saw it; the cuts on the way say why
        if not source.trainable:
            text = f"{born} is a variable with trainable=False, which tapes do not watch automatically. "
            return [Cause("not trainable", None, where, f"{text}Write {_watching(name)}.")]
        if not tape.watch_accessed_variables:
            text = f"{born} was never watched: this tape has watch_accessed_variables=False. "
            return [Cause("never watched", None, where, f"{text}Write {_watching(name)}.")]
        return []
    if line is not None and callable(line.operation):
        return [_about_a_computed_source(line, ways, labels)]
    text = f"{born} is a constant that the tape was never asked to watch. "
    return [Cause("never watched", None, where, f"{text}Write {_watching(name)} before it is used.")]


def _about_strays(ways: Ways, labels: SpokenLabels) -> list[Cause]:
    others = [target for target in ways.targets if target._id != ways.source._id]
    return [cause for target in others if (cause := _about_a_stray(target, ways, labels))]


def _about_a_stray(tensor: Tensor, ways: Ways, labels: SpokenLabels) -> Cause | None:
    """Return the cause for a tensor that was computed inside a checkpointed function, but is not part of its result."""
    call = stray_of(ways.tape, tensor._id)
    if call is None:
        return None
    return Cause("inside a checkpoint", None, call.where, f"{labels.spoken(tensor._id)} {strayed(call)}.")


def _about_a_computed_source(line: Line, ways: Ways, labels: SpokenLabels) -> Cause:
    name, written = labels[line.output_id], names(line.where)
    labels.take_from(line, {})
    if written.result is not None and written.result in written.arguments:
        name, code = written.result, as_written(line, line.name) or f"{line.name}(...)"
        new = code if is_statement(code) else f"{name} = {code}"
        text = (
            f"{place(line.where)}: {new} makes {name} a new tensor: from here on, the name no longer refers to the "
            f"earlier variable or tensor. Write {name}.assign(...) to give a variable a new value, or "
            f"tape.watch({name}) inside the tape."
        )
        return Cause("rebound", line.name, line.where, text)
    when = WHEN.get(ways.state(line.time), "where this tape does not follow it")
    text = f"{labels.written(line)} was computed {when}, so to this tape it is a constant. "
    return Cause(
        "never watched", line.name, line.where, f"{text}Compute it inside the tape, or write {_watching(name)}."
    )


def _about_a_cut(link: Link, labels: SpokenLabels) -> Cause:
    entry, kind = link.entry, str(link.cut)
    if kind == "left":
        return _about_leaving(entry, labels)
    function, output = names(entry.where).function, labels.spoken(entry.output_id)
    operation = entry.name if callable(entry.operation) else function or entry.operation
    x = labels.spoken(min(link.dead or filter(None, entry.ids), default=entry.output_id))
    if callable(entry.operation):
        start = labels.written(entry)
    elif entry.operation in DERIVATIVES:
        whose = "" if output == "the tensor" else f" {output}"
        start = f"{place(entry.where)}: the {DERIVATIVES[entry.operation]}{whose}"
    else:
        code = as_written(entry, function) if function else None
        start = f"{place(entry.where)}: {code or ('assign' if kind == 'assigned' else output)}"
    said = kind
    if kind == "argument" and isinstance(entry.operation, Custom):
        by = min(link.dead)
        silent = "recomputed" if isinstance(entry.operation, Segment) else "silent"
        said = "captured" if by in entry.operation.captured else "named" if by in entry.operation.named else silent
    return Cause(kind, operation, entry.where, start + KINDS[said](output, x))


def _about_leaving(entry: Entry, labels: SpokenLabels) -> Cause:
    name, function = labels.spoken(next(id for id in entry.ids if id)), names(entry.where).function
    code = as_written(entry, function) if function else None
    text = (
        f"{place(entry.where)}: {code or entry.operation} returns the plain numbers of {name}{'' if code else ' here'}"
        f", which no tape follows. Compute with {name} itself: operators and NumPy functions accept it, and np.stack "
        "joins tensors."
    )
    return Cause("left for NumPy", str(entry.operation), entry.where, text)


def _watching(name: str) -> str:
    return f"tape.watch({name if name.isidentifier() else '...'})"


def _nothing(ways: Ways, labels: SpokenLabels) -> Cause:
    targets = ", ".join(labels[target._id] for target in ways.targets) or "no target"
    text = f"Nothing that leads to {targets} was computed from {labels[ways.source._id]}."
    if len(ways.kept) >= KEPT and ways.kept[0].time > ways.life[0].time:
        text += f" (Of the operations that no tape recorded, only the latest {KEPT} are remembered.)"
    else:
        text += " Did you mean another tensor of that name, or an earlier one?"
    line = next((line for target in ways.targets if (line := ways.origin(target))), None)
    operation = getattr(line.operation, "__name__", None) if line else None
    return Cause("not used", operation, line.where if line else None, text)
