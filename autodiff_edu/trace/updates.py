"""Assignments to variables as lines of a trace's program: `W1 = W1 - 0.1 * W1_bar`, as far as the trace heard how.

The value assigned to a variable is mostly computed outside tapes, but a trace hears everything. Each line is tested
before it is written: it must give the variable's new value bit for bit.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from math import isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..core import events
from ..core.entry import Entry
from ..core.events import Event
from ..core.rule import RULES
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..program import formulas
from ..program.combining import LONG, LONGEST, write_operation
from ..program.spelling import Text, infix, same
from ..program.writing import TapeWriter
from ..rules.operations import alias
from ..text.formatting import SUBSCRIPTS, derivative
from ..text.frames import Where
from ..text.places import names, written
from .lines import Rebind

WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "assign_sub": np.subtract,
    "assign_add": np.add,
    "assign": lambda before, source: source,
}
SPOKEN = {"assign_sub": "{} - {}", "assign_add": "{} + {}", "assign": "{1}"}
UNKNOWN = "computed outside of this program"
WORD = re.compile(r"\b[^\W\d]\w*")
SPOKEN_WORD = re.compile(r"((?:[/@*]|\*\*) )?(\b[^\W\d]\w*)")
WRITTEN_OUT = "np.array("
"""How an array without a name begins in a program; the reader's line may have a name for it."""
LONGEST_SPOKEN = 40
"""A longer expression is not read out in a sentence."""


class Update(NamedTuple):
    """How a variable got its new value: an expression for a sentence, if it is short, and the tree of the formula.

    The sentence has the names in the user's code, the formula the cotangents, each None or empty if it is not known.
    Leaf k of `in_numbers` stands for `numbers[k]`; both are empty unless every number is known.
    """

    spoken: str
    formula: Any
    in_numbers: Any = None
    numbers: tuple[Any, ...] = ()


class Updates:
    """Writes the lines that give variables their new values.

    Parameters
    ----------
    writer : TapeWriter
        Of the program.
    source : Trace
        The trace, with the operations heard meanwhile.
    """

    def __init__(self, writer: TapeWriter, source: Any) -> None:
        self.writer, self.heard, self.made = writer, source.heard, source.made
        computed = [event for event in self.heard if isinstance(event, Entry)]
        self.order = {entry.output_id: k for k, entry in enumerate(computed)}
        self.makers: dict[int, Entry] = {entry.output_id: entry for entry in computed}
        # an optimizer's memory is plain arrays, so it is recognised as the same object
        self.same: dict[int, int] = {id(entry.output_value): entry.output_id for entry in computed}
        self.uses = Counter(maker for entry in computed for maker in self._makers_of(entry))
        self.bars: dict[int, list[tuple[int, int]]] = {}  # by the id of an array: whose cotangent it is, by pass
        self.latest: dict[tuple[int, int], Any] = {}  # by pass and tensor: the cotangent so far
        self.spans = _spans(source.events)
        self.newest = -1  # the pass that had a cotangent last
        outcomes = [event for event in source.events if isinstance(event, events.Outcome) and event.result is not None]
        self.named = source.received | source.assigned
        self.gradients = {id(event.result._array): event for event in outcomes}
        self.parts: dict[str, str] = {}  # by its name in the program: the reader's name of a part of an expression
        self.values: dict[str, Any] = {}  # by its name in the program: what an expression was computed from
        self.written: dict[str, tuple[int, int]] = {}  # by its name in the program: the pass and tensor of a cotangent
        self.known: dict[int, Update] = {}  # by the number of the event

    def note_cotangent(self, number: int, tensor: int, cotangent: Any) -> None:
        """Note the cotangent that a tensor has now."""
        self.bars.setdefault(id(cotangent), []).append((number, tensor))
        self.latest[number, tensor] = cotangent
        self.newest = number

    def name_cotangent(self, array: Any, tensor: int) -> str | None:
        """Return the name of the cotangent that this array still is at a tensor, in the latest such pass."""
        at = [key for key in self.bars.get(id(array), ()) if key[1] == tensor and self.latest[key] is array]
        return self.writer.bar(*at[-1]) if at else None

    def write(self, i: int, happening: Any) -> int:
        """Write the line of an assignment, after any lines it needs; return its index."""
        event, where = happening.event, happening.where
        variable, value = event.variable._id, event.value._array
        before, name = self.writer.latest(variable) or (None, "")
        function = names(where).function if where is not None else None
        ways = [function] if function in WAYS else list(WAYS)
        expression, remark, self.values = None, UNKNOWN, {name: before}
        for source, text in self._sources(happening):
            way, cast = _way(ways, before, source, value)
            if way is not None and (text or way != "assign"):
                spelled = text() if callable(text) else text or Text(repr(source))
                expression = spelled if way == "assign" else infix("-+"[way == "assign_add"], Text(name), spelled)
                expression = Text(f"{expression.within(10)}.astype(np.{value.dtype})") if cast else expression
                break
        if where is not None and any(names(where).literal[1:]):
            remark = ""
        argument = names(where).arguments[1:] if where is not None else ()
        said = SPOKEN.get(function or "", "").format(self.writer.labels[variable], *argument) if any(argument) else ""
        if expression and len(expression.text) <= LONGEST:
            self._note_update(i, expression.text, variable, name, value)
        label, known = self.writer.labels[variable], self.known.get(i, Update("", None))
        quote = _quote(where, label)
        is_plain = expression is None or WRITTEN_OUT in expression.text or _list_names(expression.text) == {name}
        if quote and (known.formula is None or is_plain):
            known = _read_quote(quote, {**happening.numbers, label: before}, label, value)
        said = said or known.spoken or quote
        if said or known.formula is not None:
            self.known[i] = known._replace(spoken=said if len(said) <= LONGEST_SPOKEN else "")
        firsts, lasts = self.spans.get(variable, ([], []))
        k = bisect_left(firsts, i)
        fresh = k > 0 and lasts[k - 1] > i
        return self.writer.update(variable, value, expression, "" if expression else remark, fresh)

    def rebind(self, i: int, event: Rebind) -> int:
        """Write the line that gives a tensor's name to a new one, after any lines it needs; return its index."""
        before, after, value = event.source._id, event.tensor._id, event.tensor._array
        origin = after
        while origin not in self.makers and origin in self.made:
            origin = self.made[origin]
        maker = self.makers.get(origin) or self.makers.get(self.same.get(id(value), 0))
        while maker is not None and maker.operation is alias:
            maker = self.makers.get(maker.ids[0])
        name, expression = self.writer.name(before, event.source._array), None
        self.values = {name: event.source._array}
        if maker is not None:
            way, cast = _way(["assign"], None, maker.output_value, value)
            known = {id(event.source._array): Text(name)}
            spelled = self.expression(maker.output_id, before, known) if way else Text("")
            expression = Text(f"{spelled.within(10)}.astype(np.{value.dtype})") if cast else spelled
        if expression and len(expression.text) <= LONGEST:
            self._note_update(i, expression.text, before, name, value)
        line = self.writer.update(after, value, expression, "" if expression else UNKNOWN, fresh=True)
        if not isinstance(event.tensor, Variable):  # what is computed from it uses its name, not its expression
            self.writer.computed[after] = self.writer.name(after, value)
        return line

    def _sources(self, happening: Any) -> Iterator[tuple[Any, Any]]:
        """List what may have been assigned, added or subtracted: the value, and how to write it."""
        event, where, variable = happening.event, happening.where, happening.event.variable._id
        given = self.makers.get(event.source._id) if isinstance(event.source, Tensor) else None
        last = self.heard[happening.mark - 1] if happening.mark else None
        for entry in (given, last if isinstance(last, Entry) else None):
            if entry is not None:
                yield entry.output_value, lambda entry=entry: self.expression(entry.output_id, variable)
        for (number, tensor), cotangent in reversed(self.latest.items()):
            if tensor == variable:
                yield cotangent, self._write_bar(number, tensor)
                break
        if where is not None and len(texts := names(where).texts[1:]) == 1 and texts[0] and names(where).literal[1]:
            yield ast.literal_eval(texts[0]), None

    def expression(self, target: int, variable: int, known: Mapping[int, Text] = MappingProxyType({})) -> Text:
        """Write how something was computed; parts that are used twice or long get a line of their own.

        Arrays whose ids are `known` are written like that.
        """
        texts: dict[int | None, Text] = {}
        needed, waiting = set[int](), [target]
        while waiting:
            at = waiting.pop()
            if at in needed or at in self.writer.computed:
                continue
            needed.add(at)
            for tensor, value in zip(self.makers[at].ids, self.makers[at].values, strict=True):
                if tensor is not None and (text := self._bar(value, variable) or known.get(id(value))):
                    texts[tensor] = text
            waiting += self._makers_of(self.makers[at], texts)
        for at in sorted(needed, key=self.order.__getitem__):
            entry = self.makers[at]
            for tensor, value in zip(entry.ids, entry.values, strict=True):
                maker = self._maker(tensor, value, self.order[at])
                if maker is not None and tensor not in texts:
                    texts[tensor] = texts[maker] if maker in texts else Text(self.writer.computed[maker])
            if entry.operation not in RULES:
                text = self.writer.operand(None, entry.output_value)
            else:
                text = write_operation(self.writer, entry, {}, texts)
            for tensor, value in zip(entry.ids, entry.values, strict=True):
                self.values[self._name_operand(tensor, texts)] = value
            own = self.named.get(at, "")
            is_renewed = own and any(self.parts.get(word) == own for word in WORD.findall(text.text))  # m = 0.9 * m + g
            if at != target and (self.uses[at] > 1 or len(text.text) > LONG or is_renewed):
                text = Text(self.writer.part(text, own or "part"))
                self.writer.computed[at] = text.text
                self.parts[text.text] = own
            texts[at] = text
        return texts[target] if target in texts else Text(self.writer.computed[target])

    def _name_operand(self, tensor: int | None, texts: dict[int | None, Text]) -> str:
        if tensor is None or tensor in texts:
            return texts[tensor].text if tensor in texts else ""
        return self.writer.computed.get(tensor) or (self.writer.latest(tensor) or (None, ""))[1]

    def _bar(self, value: Any, variable: int) -> Text | None:
        """Find the cotangent that is this array, preferably one of this variable."""
        found = [pair for pair in self.bars.get(id(value), ()) if self.latest[pair] is value]
        found.sort(key=lambda pair: pair[1] == variable)
        return self._write_bar(*found[-1]) if found else None

    def _write_bar(self, number: int, tensor: int) -> Text:
        name = str(self.writer.bar(number, tensor))
        self.written[name] = number, tensor
        return Text(name)

    def _note_update(self, i: int, expression: str, variable: int, name: str, value: Any) -> None:
        """Note how an event came to its value, unless that is only a number."""
        found = _list_names(expression)
        labels, leaves, spoken = self.writer.labels, dict[str, Any](), dict[str, str]()
        of = {each: self.written[each] for each in found if each in self.written}
        about = {self.writer.shown[each] for each in found}
        names = {each: self._call_gradient(pair, about) or f"{labels[pair[1]]}_bar" for each, pair in of.items()}
        for each in sorted(found):
            if each == name:
                leaves[each], spoken[each] = 0, labels[variable]
            elif each in of:
                number, tensor = of[each]
                is_own = tensor == variable and number == self.newest
                leaves[each] = "g" if is_own else ("bar", labels[tensor])
                # Two gradients must not look alike: neither two of one tensor, nor two that the program calls the same.
                spoken[each] = each if [*names.values()].count(names[each]) > 1 else names[each]
                if sum(tensor == other for _, other in of.values()) > 1:
                    leaves[each] = "name", spoken[each]
            else:
                shown, own = self.writer.shown[each], self.parts.get(each, "")
                if own and not labels.has(own) and [self.parts.get(other) for other in found].count(own) == 1:
                    shown = own
                is_named = shown == own or labels.has(shown)  # any other part has a name in the program alone
                leaves[each] = "name", shown if is_named else each
                if is_named:
                    spoken[each] = shown
        if found:
            said = SPOKEN_WORD.sub(lambda word: _speak(word[1] or "", spoken.get(word[2], word[2])), expression)
            is_short = found == spoken.keys() and len(said) <= LONGEST_SPOKEN
            values = self.values | {each: self.latest[pair] for each, pair in of.items()}
            tree = formulas.tree(expression, tuple(leaves.items()))
            self.known[i] = Update(said if is_short else "", tree, *_put_in(expression, leaves, values, value))

    def _call_gradient(self, pair: tuple[int, int], about: set[str]) -> str:
        """Return the user's name for a gradient, or else dy/dx; with subscripts if others are `about` such tensors."""
        event, labels = self.gradients.get(id(self.latest[pair])), self.writer.labels
        if event is None:
            return ""
        if (own := self.named.get(event.result._id)) or event.targets[1:] or event.word != "gradient":
            return own or ""
        names = [labels[one._id] for one in (*event.targets, event.source)]
        has_numbers = any(name in about and name[-1] in SUBSCRIPTS for name in names)
        called = derivative(*(name if has_numbers else name.rstrip(SUBSCRIPTS) for name in names))
        return "" if " with respect to " in called else called

    def _maker(self, id_of_tensor: int | None, value: Any, before: int) -> int | None:
        """Find the operation that computed an operand of a later one."""
        for maker in (id_of_tensor, self.same.get(id(value)) if id_of_tensor is not None else None):
            if maker is not None and self.order.get(maker, before) < before:
                return maker
        return None

    def _makers_of(self, entry: Entry, without: Any = ()) -> Iterator[int]:
        for id, value in zip(entry.ids, entry.values, strict=True):
            maker = self._maker(id, value, self.order[entry.output_id])
            if maker is not None and id not in without:
                yield maker


def _list_names(expression: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name)} - {"np"}


def _speak(before: str, name: str) -> str:
    """Return an operator and a name, in parentheses where x / dy/dx would be misread."""
    return f"{before}({name})" if "/" in name and before.strip() in ("/", "**") else before + name


def _read_quote(quote: str, numbers: dict[str, Any], label: str, value: Any) -> Update:
    """Return an update as the user's line spells it, for a value whose computation no tape heard."""
    names = list[str]()
    for node in ast.walk(ast.parse(quote, mode="eval").body):
        match node:
            case ast.Attribute(value=ast.Name(id="np")) | ast.Call(func=ast.Attribute(value=ast.Name(id="np"))):
                pass
            case ast.Name(id=name):
                names += [name] if name != "np" and name not in names else []
            case ast.operator() if type(node) in formulas.KINDS:
                pass
            case ast.Constant(value=int() | float() as constant) if isfinite(constant):
                pass
            case ast.BinOp() | ast.UnaryOp() | ast.USub() | ast.Load():
                pass
            case _:
                return Update("", None)
    leaves: dict[str, Any] = {name: 0 if name == label else ("name", name) for name in names}
    return Update("", formulas.tree(quote, tuple(leaves.items())), *_put_in(quote, names, numbers, value))


def _put_in(expression: str, names: Iterable[str], values: Mapping[str, Any], result: Any) -> tuple[Any, ...]:
    """Return the formula with numbers in place of names, and the numbers, if every name has one.

    They must give the result: a name may have had another value when a part was computed.
    """
    numbers = {name: values[name] for name in names if _is_number(values.get(name))}
    if numbers.keys() != {*names} or np.shape(result):
        return ()
    try:
        with np.errstate(all="ignore"):  # what is called is of NumPy
            found = eval(expression, {"np": np} | {name: np.asarray(number)[()] for name, number in numbers.items()})
    except (ArithmeticError, TypeError, ValueError):
        return ()
    if not np.isclose(found, result, rtol=1e-5, atol=0.0, equal_nan=True):
        return ()
    return formulas.tree(expression, tuple((name, k) for k, name in enumerate(numbers))), tuple(numbers.values())


def _is_number(value: Any) -> bool:
    return value is not None and np.shape(value) == () and np.asarray(value).dtype.kind in "iuf"


def _quote(where: Where | None, label: str) -> str:
    """Return what a line such as `x.assign(x - f / df)` assigns to x, as it is written; empty if that is a number."""
    match None if where is None else written(where):
        case _, ("assign" | "assign_add" | "assign_sub") as function, [ast.Name(id=name), given] if name == label:
            nodes = [*ast.walk(given)]
            if any(isinstance(node, ast.NamedExpr) for node in nodes):
                return ""
            aside = {id(node.func if isinstance(node, ast.Call) else getattr(node, "value", None)) for node in nodes}
            if not any(isinstance(node, ast.Name) and id(node) not in aside for node in nodes):
                return ""  # of modules and functions, there are names in np.float64(3), too
            match given:
                case ast.Name() | ast.Call() | ast.BinOp(op=ast.Mult() | ast.Div() | ast.Pow() | ast.MatMult()):
                    binds = True
                case _:
                    binds = function == "assign"
            return SPOKEN[function].format(label, ast.unparse(given) if binds else f"({ast.unparse(given)})")
    return ""


def _way(ways: list[Any], before: Any, source: Any, value: Any) -> tuple[str | None, bool]:
    """Find the assignment that gives the new value, and whether its dtype must be converted to the variable's."""
    for way in ways:
        if before is None and way != "assign":
            continue
        with np.errstate(all="ignore"):
            found = WAYS[way](before, source)
        if same(found, value):
            return way, False
        if hasattr(found, "astype") and np.shape(found) == np.shape(value) and same(found.astype(value.dtype), value):
            return way, True
    return None, False


def _spans(happened: list[Event]) -> dict[int, tuple[list[int], list[int]]]:
    """List when the arrays of a variable are first used; and for each, when it or one before it is last used."""
    variables = {event.variable._id for event in happened if isinstance(event, events.Assign)}
    found: dict[int, dict[int, tuple[int, int]]] = {variable: {} for variable in variables}
    for i, event in enumerate(happened):
        entry = getattr(event, "entry", None)
        if entry is None or entry.values is None or variables.isdisjoint(entry.ids):
            continue
        for variable, value in zip(entry.ids, entry.values, strict=True):
            if variable in variables:
                found[variable][id(value)] = found[variable].get(id(value), (i, i))[0], i
    return {
        variable: ([first for first, _ in spans.values()], [*accumulate((last for _, last in spans.values()), max)])
        for variable, spans in found.items()
    }
