"""Why a gradient is None: every place where the flow from a source to a target is cut, in the user's own words.

`flow.py` finds what lies between the two; this module lists each cut on a path with its sentence from `sentences.py`.

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

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.entry import Entry
from ..core.rule import rule_of
from ..core.tensor import Tensor, wrap
from ..core.variable import Variable
from ..custom.inner_tensors import describe_stray, stray_of
from ..derivatives.corners import Corner, corners
from ..derivatives.requests import tensors_of
from ..rules.account import remedy
from ..text.formatting import DERIVATIVES, derivative
from ..text.frames import Where
from ..text.functions import written_name
from ..text.places import Place, names, place
from ..text.printing import printable
from . import sentences
from .flow import Flow, Link
from .journal import KEPT, JournalLine
from .labels import SpokenLabels, is_statement, quote_entry
from .sentences import Reason
from .values import KnownValues

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

    `operation` and `where` are the operation and the line of the user's code, if there is one; `text` is the sentence,
    with what to write instead.
    """

    reason: Reason
    operation: str | None
    where: Where | None
    text: str

    @property
    def kind(self) -> str:
        """The name of the reason, in two or three words."""
        return self.reason.kind

    @property
    def place(self) -> Place | None:
        """The place of the operation in the user's code."""
        return None if self.where is None else place(self.where)

    def __repr__(self) -> str:
        return f"Cause({self.kind!r}, {self.operation!r}, {self.place})"


MANY = 12
"""How many items of a list are shown."""


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
    corners : tuple of Corner
        If connected, and the tape still has its arrays: where the gradient passes a corner; see `GradientTape.corners`.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0, name="x")
    >>> with ad.GradientTape() as tape:
    ...     y = x * 2.0
    >>> tape.explain(y, x)
    Explanation(connected: x → y)
    """

    def __init__(self, flow: Flow) -> None:
        path = flow.path()
        self._flow = flow
        self._labels = labels = SpokenLabels(flow)
        self.connected = path is not None
        self.path = path or ()
        self.causes = tuple(_causes(flow, labels) if path is None else _errors(flow, labels, path))
        self.left_out = tuple(_losses(flow, labels)) if self.connected else ()
        items = _few([labels.describe(entry) for entry in self.path]) + _few([cause.text for cause in self.causes])
        self._sections = [(self.title, items)]
        if self.left_out:
            self._sections.append((sentences.LEFT_OUT, [cause.text for cause in self.left_out]))
        self.corners = _find_corners(flow) if self.path else ()
        if self.corners:
            told = [sentences.AT_A_CORNER.format(code=labels.describe(c.entry), text=c.text) for c in self.corners]
            self._sections.append((sentences.AT_CORNERS, _few(told)))

    def __bool__(self) -> bool:
        return self.connected

    @property
    def called(self) -> str:
        """The user's name for the source."""
        return self._labels.name_of(self._flow.source._id, "source")

    @property
    def title(self) -> str:
        """The first line of the text: whether the gradient is None."""
        text = sentences.HAS_PATH if self.path else sentences.IS_THE_SAME if self.connected else sentences.IS_NONE
        return text.format(slope=self._slope(self._target(f"the {len(self._flow.targets)} targets")))

    def _target(self, several: str) -> str:
        targets = self._flow.targets
        return self._labels.name_of(targets[0]._id, "the target") if len(targets) == 1 else several

    def _slope(self, target: str) -> str:
        slope = derivative(target, self._labels.name_of(self._flow.source._id, "the source"))
        return f"T{slope[1:]}" if slope.startswith("the ") else slope

    def __str__(self) -> str:
        lines = (line for title, items in self._sections for line in (title, *(f"- {item}" for item in items)))
        return printable("\n".join(lines))

    def __repr__(self) -> str:
        if self.connected:
            ids = (self._flow.source._id, *(entry.output_id for entry in self.path))
            left_out = ", misses a part" if self.left_out else ""
            return printable(f"Explanation(connected: {' → '.join(self._labels[id] for id in ids)}{left_out})")
        return f"Explanation(unconnected: {', '.join(dict.fromkeys(cause.kind for cause in self.causes))})"

    def _repr_html_(self) -> str:
        parts = []
        for title, items in self._sections:
            parts.append(f"<p>{escape(title)}</p><ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>")
        return f"<div>{''.join(parts)}</div>"

    def trace(self) -> Trace:
        """Return the computation between source and target as a trace with its cuts, for `play` and its transcript.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable(3.0, name="x")
        >>> with ad.GradientTape() as tape:
        ...     y = ad.stop_gradient(x)
        >>> steps = tape.explain(y, x).trace()
        >>> ad.play(steps)
        Player('why is it None?', 4 steps)
        >>> steps.transcript().splitlines()[2]
        '3. dy/dx is None. Walk back from y to find out why.'
        """
        from ..core import events
        from ..trace import Trace

        flow, tape, source = self._flow, self._flow.tape, self._flow.source
        shown = Trace("why is it None?" if not self.connected else "along which path?")
        if source._id in tape.watched:
            named = source.as_it_is() if isinstance(source, Variable) else wrap(source._array, source._id)
            named.name = self._labels[source._id]
            shown.add(events.Watch(tape, named, tape.watched[source._id][1]))
        values = KnownValues(flow)
        for link in flow.links:
            if link.on_path and callable(link.entry.operation) and (link.cut or not link.inside):
                kind = events.Skip if not link.recorded else events.Cut if link.cut else events.Record
                shown.add(kind(tape, values.fill_in(link.entry)))
        shown.add(*(events.Explain(tape, *told) for told in self._walk_back()))
        shown.causes = tuple(cause.text for cause in (*self.causes, *self.left_out))
        return shown

    def _walk_back(self) -> Iterator[tuple[str, Where | None, Entry | None]]:
        """Return the way back from the target as sentences, each with its place and, if it is about one, its entry."""
        labels, target = self._labels, self._target("the targets")
        text = sentences.SEE_THE_PATH if self.connected else sentences.FIND_OUT_WHY
        yield text.format(slope=self._slope(target), target=target), None, None
        causes = [*self.causes, *self.left_out]
        for entry in reversed(self.path):
            yield sentences.PASSES.format(code=labels.describe(entry)), entry.where, entry
        for link in [] if self.connected else self._flow.back():
            about = link.entry if callable(link.entry.operation) else None
            cut = [cause for cause in causes if link.cut is not None and cause.where == link.entry.where]
            for cause in cut:
                causes.remove(cause)
                yield cause.text, cause.where, about
            if link.cut is None and about is not None:
                yield sentences.WOULD_PASS.format(code=labels.describe(about)), about.where, about
        if self.left_out:
            yield sentences.LEFT_OUT, None, None
        yield from ((cause.text, cause.where, None) for cause in causes)


def explain(tape: Tape, target: Any, source: Any) -> Explanation:
    """Explain the gradient of a target with respect to a source; see `GradientTape.explain`."""
    targets = tensors_of(target, "target")
    if not isinstance(source, Tensor):
        raise TypeError(
            f"the source of explain must be one Tensor or Variable, not a {type(source).__name__}; call it once for "
            "each source"
        )
    return Explanation(Flow(tape, targets, source))


def check_connected(tape: Tape, target: Any, sources: list[Tensor]) -> None:
    """Raise an UnconnectedError if the gradient with respect to one of the sources would be None or incomplete."""
    targets = tensors_of(target, "target")
    for source in sources:
        explanation = Explanation(Flow(tape, targets, source))
        if not explanation or explanation.left_out:
            raise UnconnectedError(str(explanation))


def _few(items: list[str]) -> list[str]:
    """Drop the middle of a long list."""
    if len(items) <= MANY:
        return items
    return [*items[: MANY // 2], sentences.AND_MORE.format(count=len(items) - MANY), *items[-MANY // 2 :]]


def _causes(flow: Flow, labels: SpokenLabels) -> list[Cause]:
    if not flow.life:
        return [_cause(Reason.NEVER_ENTERED)]
    found = _about_the_source(flow, labels)
    if strays := _find_strays(flow.others, flow, labels):
        return [*found, *strays]
    if not flow.is_guess:
        found += [_about_a_cut(link, labels) for link in flow.cuts()]
    elif left := flow.find_exits():
        found += [_about_a_cut(link, labels) for link in left]
    elif not any(cause.reason is Reason.REBOUND for cause in found):
        found = [cause for cause in found if cause.reason is Reason.INTEGER_SOURCE] + [_nothing(flow, labels)]
    for target in flow.targets:
        if target.dtype.kind not in "fc" and not found:
            found.append(_cause(Reason.INTEGER_TARGET, y=labels[target._id], dtype=target.dtype))
    return _once(found) or [_nothing(flow, labels)]


def _errors(flow: Flow, labels: SpokenLabels, path: Iterable[Entry]) -> list[Cause]:
    """List what prevents a gradient even though the tensors are connected."""
    found = []
    for entry in path:
        if rule_of(entry.operation) is None:
            why, instead = remedy(written_name(entry.operation))
            code = labels.describe(entry)
            found.append(_cause(Reason.NO_RULE, entry.name, entry.where, code=code, why=why, instead=instead))
        elif isinstance(error := flow.failures.get(entry.output_id), LookupError):
            code = labels.describe(entry)
            found.append(_cause(Reason.NO_BACKWARD, entry.name, entry.where, code=code, error=error))
    if any(entry.values is None for entry in flow.tape.entries):
        found.append(_cause(Reason.RELEASED, where=flow.latest("release")))
    return found


def _losses(flow: Flow, labels: SpokenLabels) -> list[Cause]:
    return _once([*(_about_a_cut(link, labels) for link in flow.lost), *_find_strays(flow.others, flow, labels)])


def _find_corners(flow: Flow) -> tuple[Corner, ...]:
    """List the corners on the way, as far as the tape still knows them; none if a rule of the user's fails."""
    try:
        found = corners(flow.tape, flow.targets, flow.source, flow.kept)
    except Exception:  # gradient will raise it
        return ()
    return tuple(corner for corner in found if corner.elements is not None)


def _cause(reason: Reason, operation: str | None = None, where: Where | None = None, **filled: object) -> Cause:
    filled = {"place": where and place(where), "when": reason.when, **filled}
    return Cause(reason, operation, where, reason.sentence.format(**filled))


def _once(causes: Iterable[Cause]) -> list[Cause]:
    """Keep one of several causes of the same kind in a line: for `y = np.cos(x * w)` outside the tape, the whole."""
    once: dict[Any, Cause] = {}
    for cause in causes:
        as_a_whole = cause.reason.hides and cause.reason is not Reason.LEFT
        line = cause.place and cause.place[:3]
        key = (cause.kind, line if as_a_whole else cause.place or cause.text)
        if key not in once or as_a_whole:
            once[key] = cause
    return list(once.values())


def _about_the_source(flow: Flow, labels: SpokenLabels) -> list[Cause]:
    """List why the tape does not follow the source, if it does not."""
    source, tape, name = flow.source, flow.tape, labels[flow.source._id]
    line = flow.origin(source)
    where = line.where if line else None
    code = f"{place(where)}: {name}" if where else name
    if source._id in tape.connected:
        return []
    if strays := _find_strays([source], flow, labels):
        return strays
    if source.dtype.kind not in "fc":
        return [_cause(Reason.INTEGER_SOURCE, None, where, code=code, dtype=source.dtype)]
    if source._id in tape.forgotten and not any(link.cut is Reason.RESET for link in flow.cuts()):
        return [_cause(Reason.FORGOTTEN, None, flow.latest("reset"), x=name)]
    if not isinstance(source, Variable):
        if line is not None and callable(line.operation):
            return [_about_a_computed_source(line, flow, labels)]
        reason = Reason.NEVER_WATCHED
    elif not any(
        link.on_path and source._id in link.entry.ids and not (link.cut and link.cut.hides) for link in flow.links
    ):
        return []  # the tape never saw it; the cuts on the path say why
    elif not source.trainable:
        reason = Reason.NOT_TRAINABLE
    elif not tape.watch_accessed_variables:
        reason = Reason.NOT_AUTOMATIC
    else:
        return []
    return [_cause(reason, None, where, code=code, watch=_watching(name))]


def _find_strays(tensors: Iterable[Tensor], flow: Flow, labels: SpokenLabels) -> list[Cause]:
    """List which of these tensors were computed inside a checkpointed function without being part of its result."""
    return [
        _cause(Reason.INSIDE_A_CHECKPOINT, None, call.where, y=labels.name_of(tensor._id), strayed=describe_stray(call))
        for tensor in tensors
        if (call := stray_of(flow.tape, tensor._id))
    ]


def _about_a_computed_source(line: JournalLine, flow: Flow, labels: SpokenLabels) -> Cause:
    name, written = labels[line.output_id], names(line.where)
    labels.take_from(line, {})
    if written.result is not None and written.result in written.arguments:
        name, code = written.result, quote_entry(line, line.name) or f"{line.name}(...)"
        code = code if is_statement(code) else f"{name} = {code}"
        return _cause(Reason.REBOUND, line.name, line.where, code=code, x=name)
    when = (flow.why_not(line.time) or Reason.COMPUTED).when
    code, watch = labels.describe(line), _watching(name)
    return _cause(Reason.COMPUTED, line.name, line.where, code=code, when=when, watch=watch)


def _about_a_cut(link: Link, labels: SpokenLabels) -> Cause:
    entry, reason, here = link.entry, link.cut, ""
    assert reason is not None
    function = names(entry.where).function
    x = labels.name_of(min(link.dead or filter(None, entry.ids), default=entry.output_id))
    y = labels.name_of(entry.output_id) if entry.output_id else entry.operation
    operation = function or entry.operation
    if callable(entry.operation):
        operation, code = entry.name, labels.describe(entry)
    elif entry.operation in DERIVATIVES:
        whose = "" if y == "the tensor" else f" {y}"
        code = f"{place(entry.where)}: the {DERIVATIVES[entry.operation]}{whose}"
    else:
        written = quote_entry(entry, function) if function else None
        code = f"{place(entry.where)}: {written or (entry.operation if reason is Reason.ASSIGNED else y)}"
        if reason is Reason.LEFT:
            operation, here = entry.operation, "" if written else " here"
    return _cause(reason, operation, entry.where, code=code, x=x, y=y, here=here)


def _watching(name: str) -> str:
    return f"tape.watch({name if name.isidentifier() else '...'})"


def _nothing(flow: Flow, labels: SpokenLabels) -> Cause:
    y = ", ".join(labels[target._id] for target in flow.targets) or "no target"
    is_old = len(flow.kept) >= KEPT and flow.kept[0].time > flow.life[0].time
    reason = Reason.NOT_REMEMBERED if is_old else Reason.NOT_USED
    if not is_old and (decisions := flow.decisions()):
        what = "comparisons" if all(line.operation != "index()" for line in decisions) else "choices"
        at, *more = dict.fromkeys(str(place(line.where)) for line in decisions)
        at += f", and {len(more)} more {'place' if len(more) == 1 else 'places'}" if more else ""
        return _cause(Reason.DECIDES, None, decisions[0].where, what=what, x=labels[flow.source._id], at=at, y=y)
    line = next((line for target in flow.targets if (line := flow.origin(target))), None)
    operation = getattr(line.operation, "__name__", None) if line else None
    return _cause(reason, operation, line.where if line else None, x=labels[flow.source._id], y=y, kept=KEPT)
