"""Writes the lines of a program: what a tape computed and what its rules do, as NumPy with the user's names.

A rule is written down by running it once more: an `OperationLog` keeps its operations as a tape would, and each of them
is an expression. So the program contains what the rule did to these arguments, whatever functions it calls.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..arrays.stack import dense
from ..core.active import only
from ..core.entry import Entry
from ..core.rule import RULES, runs_code, settle
from ..core.tensor import Tensor, wrap
from ..text.labels import Labels, is_exchanged
from ..text.places import EXCHANGED, place
from . import formulas
from .combining import expressed
from .custom_backward import as_call, as_expression
from .expressions import ExpressionWriter
from .operation_log import OperationLog
from .spelling import INDEXING, SIGNS, Text, in_fifteen_digits, infix


class TapeWriter(ExpressionWriter):
    """Writes the lines of a tape's passes."""

    def __init__(self, labels: Labels, with_formulas: bool = False) -> None:
        super().__init__(labels, with_formulas)
        self._results: dict[int, str] = {}  # the names of the results of entries, by the id of the array

    # The forward pass ------------------------------------------------------------------------------------------------

    def entry(self, entry: Entry) -> str:
        """Write what an entry computed, unless that is done already; return the name of its result."""
        if entry.output_id not in self.computed:
            rule, remark = RULES.get(entry.operation), str(place(entry.where))
            if runs_code(entry.operation) and id(entry.output_value) in self._results:
                expression = Text(self._results[id(entry.output_value)])  # the function returned what it computed
            elif rule is None:
                expression, remark = None, f"{remark}: {self.labels.text(entry)}, as it was computed"
            else:
                expression = self._write_entry(entry, self.operands(entry))
                if self.with_formulas and formulas.has_expression(entry):
                    self.formulas[entry.output_id, None] = formulas.tree(self._in_symbols(entry))
                remark += f": {entry.name} has no derivative" if rule.kind == "step" else ""
            name = self.unique(self.labels[entry.output_id])
            if expression is None:
                value = entry.output_value
                expression = self.value(name, in_fifteen_digits(value) if self.with_formulas else value)
            self.assign(name, expression, remark)
            self.computed[entry.output_id] = self._results[id(entry.output_value)] = name
        return self.computed[entry.output_id]

    def _in_symbols(self, entry: Entry) -> str:
        """Write what an entry computes as a formula."""
        parts = self.operands(entry)
        for k, (id, value) in enumerate(zip(entry.ids, entry.values, strict=True)):
            is_array = id is not None or (isinstance(value, np.ndarray) and value.ndim)
            if is_array and not (entry.name in INDEXING and k == 1):
                parts[k] = Text(formulas.argument(entry.ids.index(id) if id is not None else k))
        self.in_symbols = True
        text = self._write_entry(entry, parts).text
        self.in_symbols = False
        return text

    def _write_entry(self, entry: Entry, parts: list[Text]) -> Text:
        """Write an entry on its arguments, with the sides of a comparison as they are in the user's code."""
        if is_exchanged(entry):
            return self._infix(entry, EXCHANGED[SIGNS[entry.name]], *reversed(parts))
        return self.expression(entry, parts)

    # The backward pass -----------------------------------------------------------------------------------------------

    def seed(self, number: int, name: str, id: int, cotangent: Any, bar: str | None = None) -> None:
        """Write the first cotangent of a target that has a name; `bar` is the name of the cotangent, if it has one."""
        if (number, id) in self._bars:
            self._add(number, id, name, self.operand(None, cotangent), "")
        else:
            self._bars[number, id] = own = self.unique(f"{name}_bar")
            self.assign(own, Text(bar) if bar else self.value(own, cotangent))

    def contribution(self, number: int, entry: Entry, argument: int, cotangent: Any, own: Any = None) -> None:
        """Write what an entry sends back to one of its arguments, and add it to what came before.

        For a custom gradient, `own` is what its backward function computed and returned for the argument, if that was
        heard; otherwise the program calls the function.
        """
        id: Any = entry.ids[argument]
        if self.with_formulas and (tree := formulas.find_vector_formula(entry, argument)):
            self.formulas.setdefault((entry.output_id, argument), tree)
        if runs_code(entry.operation):
            heard = as_expression(self, number, entry, argument, cotangent, *own) if own else None
            expression, remark = (
                heard or as_call(self, number, entry, argument),
                f"{entry.name}, by its own backward function",
            )
        else:
            expression, remark = self._rule(number, entry, argument, dense(cotangent))
        self._add(number, id, self.name(id, entry.values[argument]), expression, remark)

    def hand_on(self, number: int, entry: Entry, argument: int, bar: str) -> None:
        """Write that an entry sends back what has arrived at its argument in another pass."""
        self.formulas.setdefault((entry.output_id, argument), formulas.tree("backward(__g)"))
        name = self.name(entry.ids[argument], entry.values[argument])
        self._add(number, entry.ids[argument], name, Text(bar), f"{entry.name}, which ran again")

    def _add(self, number: int, id: int, name: str, expression: Text, remark: str) -> None:
        bar = self._bars.get((number, id))
        if bar is not None:
            expression = infix("+", Text(bar), expression)
        else:
            first = self._given.get(id, [(None, name)])[0][1]  # for a variable that was assigned to
            bar = self._bars[number, id] = self.unique(f"{first}_bar")
        self.assign(bar, expression, remark)

    def _rule(self, number: int, entry: Entry, argument: int, cotangent: Any) -> tuple[Text, str]:
        """Run a rule and write down what it does; return the last expression without writing it."""
        pull: Callable[..., Any] = RULES[entry.operation].pull(argument)  # type: ignore[assignment]
        g = wrap(cotangent)
        texts: dict[int | None, Text] = {g._id: Text(self._bars[number, entry.output_id])}
        y, inputs = self.tensors(entry, texts)
        stack = cotangent.shape[: np.ndim(cotangent) - np.ndim(entry.output_value)]
        with only(log := OperationLog()):
            value = pull(np.conjugate(g) if g.dtype.kind == "c" else g, y, *inputs, **entry.parameters)
            shape = value.shape
            value = settle(value, entry.values[argument], stack)
        remark = entry.name
        if prod(shape) > value.size:
            remark += f": summed to the shape of {self.name(entry.ids[argument], entry.values[argument])}"
        key = (entry.output_id, argument)
        return expressed(self, log.entries, value, texts, g, (y, *inputs), key), remark

    def tensors(self, entry: Entry, texts: dict[int | None, Text]) -> tuple[Tensor, list[Any]]:
        """Return the output and the arguments of an entry for a rule; note the names of arrays in `texts`."""
        inputs = []
        for id, value, name in zip(entry.ids, entry.values, self.labels.of_arguments(entry), strict=True):
            if id is None and isinstance(value, np.ndarray) and entry.name not in INDEXING:
                inputs.append(wrap(value))
                texts[inputs[-1]._id] = self.operand(None, value, name)
            else:
                inputs.append(value if id is None else wrap(value, id))
        return wrap(entry.output_value, entry.output_id), inputs
