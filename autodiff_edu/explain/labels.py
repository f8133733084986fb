"""The user's names for the tensors in an explanation."""

from __future__ import annotations

from ..core.entry import Entry
from ..text import source_code
from ..text.frames import here
from ..text.labels import Labels, names_in, names_of_arguments
from ..text.places import names, place
from .flow import Flow
from .journal import ASSIGN

SAME_ARGUMENTS = {"assign", "assign_add", "assign_sub", "numpy", "item", "tolist", "float", "int", "complex", "asarray"}
"""The calls with the same arguments as their journal line."""


class SpokenLabels(Labels):
    """The names of tensors in the sentences of one explanation."""

    def __init__(self, flow: Flow) -> None:
        super().__init__(taken=names_in({link.entry.where[0] for link in flow.links}))
        self.unnamed: set[int] = set()
        self._read_question(flow)
        for tensor in (*flow.targets, flow.source):
            line = flow.origin(tensor)
            if name := tensor.name or (line and names(line.where).result):
                self.give(tensor._id, name)
        for id, (watched, where) in flow.tape.watched.items():
            self.watched(id, watched, where)
        numbers = {entry.output_id: number for number, entry in enumerate(flow.tape.entries, 1)}
        for link in flow.links:
            if link.on_path:
                self.take_from(link.entry, numbers)
        for tensor, otherwise in (*((target, "the target") for target in flow.targets), (flow.source, "the source")):
            self.give(tensor._id, otherwise)

    def take_from(self, entry: Entry, numbers: dict[int, int]) -> None:
        """Take names from an entry; `numbers` are those of the outputs that the tape recorded."""
        written = names(entry.where)
        if callable(entry.operation):
            number = numbers.get(entry.output_id)
            known = (*names_of_arguments(entry), written.result)
            unknown = [id for id, name in zip((*entry.ids, entry.output_id), known, strict=True) if not name]
            self.unnamed |= {id for id in unknown if id is not None and id not in self}
            self.entry(entry, self.invent("s", len(self.unnamed)) if number is None else self.invent("t", number))
            return
        known = written.arguments if written.function in SAME_ARGUMENTS else ()
        assigned = entry.operation == ASSIGN
        for id in filter(None, entry.ids):
            self._give(id, known[int(assigned)] if len(known) > assigned else None)
        if entry.output_id:
            self._give(entry.output_id, (known[0] if known else None) if assigned else written.result)

    def _give(self, id: int, name: str | None) -> None:
        if name is None and id not in self:
            self.unnamed.add(id)
        self.give(id, name or "the tensor")

    def name_of(self, id: int, otherwise: str = "the tensor") -> str:
        """Return the user's name for a tensor, if it is known."""
        return otherwise if id in self.unnamed else self[id]

    def _read_question(self, flow: Flow) -> None:
        """Take the names of target and source from the user's `tape.explain(y, x)`."""
        asked = names(here())
        one = len(flow.targets) == 1 and asked.function in ("explain", "gradient", "jacobian", "batch_jacobian")
        written = asked.arguments[1:3] if one else ()
        for tensor, name in zip((*flow.targets[:1], flow.source), (*written, None, None), strict=False):
            called = tensor.name or name
            if called is not None:
                self.give(tensor._id, called)

    def describe(self, entry: Entry) -> str:
        """Write an entry as the user's line: "cell 3, line 2: y = x * x"."""
        code, result = quote_entry(entry, entry.name), names(entry.where).result
        if code is not None and (result is None or is_statement(code)):  # x -= y
            return f"{place(entry.where)}: {code}"
        start = "" if entry.output_id in self.unnamed else f"{self[entry.output_id]} = "
        return f"{place(entry.where)}: {start}{code or self.text(entry)}"


def quote_entry(entry: Entry, name: str) -> str | None:
    """Return the user's own code of an entry, if it says what was computed, and nothing more."""
    if names(entry.where).function not in (None, name, "astype" if name in ("round_off", "cast") else name):
        return None
    code = place(entry.where).text
    return code if 0 < len(code) <= 60 else None


def is_statement(code: str) -> bool:
    """Return whether it is a statement such as `x -= y`, not an expression."""
    return source_code.parse_expression(code) is None
