"""The document of a trace: everything that happened, as one JSON object. The player and the pictures know only this.

Lists refer to each other by index, counted from 0.

- `format` "autodiff_edu.trace", `version` 7, `title`.
- `code`: excerpts of the user's code: `place` ("cell 3" or "fit.py"), `first_line`, `lines`.
- `tapes`: `name` (the one that the user's `with` line has, or "tape 1"), `persistent`; and where a checkpointed
  function runs again on it, because what it computed was not kept, `reruns`: the name of that function.
- `tensors`: `name`, `kind` ("watched", "variable", "constant" or "computed"), `value`: an array; and `unnamed` (true)
  where the user's code has no name for it, so that this one is made up.
- `formulas`: expressions of the program as trees, which `program/formulas.py` describes.
- `entries`: `number` (from 1; null if no tape recorded it), `operation`, `text`, `arguments` (in order: a tensor, or
  text), `inputs` (the tensors among them) and `output` (a tensor), `formula` (what it computes), `contributions` (for
  each argument the formula of what is sent back to it, null where nothing is), `tapes`, `scope` (names, from the
  outermost), `where`; where arguments were copied to the shape of the output, `broadcast` (which ones); where a line
  has a second name for an argument, as after `y = x`, `aliases` (for each argument that name, or null); where
  tangents are pushed forward, `pushes` (for each argument the formula of how far its tangent moves the output); in
  loops of the user's functions, `turns` (for each loop, the outermost first, its number and that of the turn); and
  `call` (the innermost of `calls` it is in, if it is in any). An operation that several tapes recorded is one entry.
- `calls`: calls of the user's functions, each after the one it was made in: `text` ("f(3)"), `function` (equal for
  calls of one function), `caller` (a call; not there where none is known), `given` (the tensors among its arguments, if
  there are any), `method` (true for a method that no scope frames).
- `steps`: what happened, in order: `kind`, `text` (a sentence), `tape`, `where`, `memory` (the bytes of the arrays
  that this tape's entries hold after the step; null if it is about no tape), `call` (the innermost call under way, if
  that is worth showing), `passed` (the lines that ran since the last step and have none: pairs of `code` and line; not
  there where there are none), and by kind
    - "watch": `tensor`; "record", "cut", "skip" (also of a tape that is paused): `entry`, and, while an outer tape
      records another tape's backward pass, `within`: the tape whose pass it is; "release", "pause",
      "resume", "reset": nothing more;
    - "line": `what`: "condition" (which way it went; with the first and the last line that it leaves out, in the same
      code, as `left_out`, if there are any), "value" (of plain numbers, or computed while no tape recorded),
      "call" or "return"; "error": what the code raised, and always the last: `lesson`, what went wrong, as texts that
      are plain and marked by turns; if it is known which operation raised it, `entry`, which is on no tape and has no
      value, and if its operands do not fit, `message`, NumPy's own words;
    - "seed": `tensor`, `cotangent`, `pass` (counts the passes, backward and of tangents); "pull back": `entry`,
      `cotangent`, `pass`;
    - "accumulate": `entry`, `argument`, `tensor`, `before` (null for the first), `contribution`, `after`, `count`,
      `of`, `pass`; `unfolded`, the contribution before it was summed to the shape of an argument that was copied; and
      where the argument is at a corner of the operation, `corner`: of the first of its elements that are, the index
      as `element`, the slopes `left` and `right` of it and the `slope` that the rule takes (texts), and `others`, how
      many more of its elements are at a corner;
    - "move": `tensor`, `tangent`, `pass`: tangents go forward from here; "push forward": `entry`, its output as
      `tensor`, `tangent`, `pass`, and where several arguments move, their `contributions` (null where one rests);
    - "assign": `tensor`, `value`, and where it is known how that was computed, `formula`, in which argument 0 is the
      variable as it was and "g" its latest cotangent; if every value in it is a single number, the same formula as
      `in_numbers`, in which argument k stands for the text `numbers[k]`; where a line gave a variable's name to a new
      tensor, as in `w = w - 0.1 * g`, `tensor` is the new one, and `from` the one that had the name; "leave": `tensor`,
      `how`;
    - "outcome": `tensor` (the source), `targets`, `gradient` (what came of it: an array, or null), and `word`
      ("gradient", "jacobian" or "batch_jacobian"; ".grad" if it is that attribute of PyTorch's that a pass added to);
    - "explain": a sentence about why a gradient is None; `entry`, if it is about one;
    - "remark": nothing more: a sentence.
  A step at which a NaN or an infinity begins has `born`: "nan", "inf" or "-inf", the first of them if several do.
- `states`, what each step changes in the picture; anything not mentioned stays as it was. Begin with no values and no
  pass, going forward, and apply them one by one to know all that is on show:
    - `pass` (the one whose cotangents or tangents are on show, or null), `backward` (whether the step belongs to a
      backward pass), `tangents` (whether the pass on show, or else the next, pushes tangents forward), `update`
      (whether variables get new values: an assignment, or a line of plain Python between it and the backward pass),
      `over` (whether the last pass is over and only lines of plain Python are left);
    - `values`: the tensors that have a value from here on, their own, or the one that the step assigns;
    - `flow`, the name of an array of the step ("cotangent", "after" or "tangent"): whenever its pass is on show, the
      step's tensor has this from here on; with a `fate` it has also arrived at the step's entry;
    - `fate`, of the step's entry: "recorded", "cut", "skip" (by every tape), "failed", and whenever the pass is on show
      "pulled" or "pushed";
    - `unconnected`: tensors that the pass, which ends here, might have reached but did not;
    - `paused`: the tapes that are paused; `lanes`: an entry, a tape, and what the tape has of the entry: "recorded",
      "cut", "skip", "paused", "backward" or "tangents" (its own pass computes it, for others to record), "forgotten" or
      "released".
- `begins`, if there are any: where the `name` of tensors begins as that of something else: the `step`, and the `array`
  of plain numbers or, after `p = x`, of this `tensor`.
- `causes`, of an explanation: why a gradient is None or misses a part, in the order of the code, each a `text` and
  the `step` that says it.
- `nudges`, if there are any: how far a target moves when something it was computed from moves, for the nudges in
  text/shared.json times `size`. `tensor`, `target` (tensors); where the tensor is an array, `element` (an index) or
  `along` (true: along the cotangent, by this length); `from` (the number that is nudged; not for `along`), `size`,
  `slope` (what the cotangent says for a nudge of 1; left out if none reached the tensor), `moved` (to four digits; null
  where not known; left out where it is what the cotangent says); where there is something to say, other than that the
  target's curve bends, `why` the cotangent misleads, and `reasons` (for each nudge; empty texts say nothing; where
  one stands beside a null, the code would go another way).
- `sweep`, `patches`, `contours` and `compiling`: only in documents of special kinds; see player/extra_parts.py.
- `program`: the same in NumPy: `lines`, texts; `steps`, for each step the index of its line, or null.

An array is `shape`, `dtype`, `text` (as shown) and `data` (its numbers, nested; strings where JSON has no number; null
where the array was released). Of an array above 256 elements `data` is a sample, every so many along each axis;
`every` says how many, and `norm` is that of the whole array. A number has six significant digits, or up to ten if six
would make it look exact or equal to an operand or to its name's last value. In `data`, summands that cancel have as
many digits as their sum needs. `where` is null or `code`, `line`, `columns` (of the expression); of an "accumulate"
from a custom gradient it is in its backward function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..core import events
from ..core.entry import Entry
from ..core.events import Event
from ..core.rule import rule_of
from ..core.tape import Tape
from ..core.variable import Variable
from ..custom.call import Custom
from ..custom.inner_tape import SecondTape
from ..rules.operations import alias
from ..text.formatting import SUBSCRIPTS, USUAL_DIGITS, short_value, spell_out
from ..text.frames import Where
from ..text.labels import Labels, is_mask, names_in, names_of_arguments, names_of_tapes
from ..text.places import names
from ..text.shared import shared
from .arrays import array, refine, separate
from .backward_calls import backward_calls
from .broadcasting import is_copied, unfold
from .corner_steps import CornerSteps
from .excerpts import Excerpts
from .foreign import ForeignTape
from .lines import Rebind
from .memory import Stepped
from .nonfinite_steps import NonfiniteSteps
from .scopes import distinguish
from .sentences import SUMS, Sentences
from .states import states

if TYPE_CHECKING:
    from .program import TraceProgram

RUNNERS = ("play", "compare", "explore", "sweep")
"""The functions that run and differentiate a function of the user's: what they do themselves is on no line of it."""


def empty(title: str) -> dict[str, Any]:
    """Return an empty document."""
    document: dict[str, Any] = {"format": shared()["format"], "version": shared()["version"]}
    document["title"] = spell_out(title)
    document |= {part: [] for part in ("code", "tapes", "tensors", "formulas", "entries", "calls", "steps")}
    return document | {"program": {"lines": [], "steps": []}}


class Writer:
    """Turns the events of a trace into its document."""

    def __init__(self, source: Any) -> None:  # a Trace, which is made of this
        self.kinds = dict.fromkeys(source.variables, "variable")  # by id; they may be used before they are watched
        self.scopes, self.turns = source.scopes, source.turns
        self.known_calls: dict[int, int] = {}  # the id of a call, and its index in the document
        self.calls: list[Any] = []  # in the order of the document
        self.functions: dict[Any, int] = {}
        self.owners: dict[str, list[Any]] = {}  # by the name of their scope
        self.tapes: list[Tape] = []
        self.tape_numbers: dict[int, int] = {}  # by their ids
        self.latest: dict[str, Any] = {}  # by name, its last value
        self.digits: dict[int | None, int] = {}  # by the id of a tensor: how many its value is written with
        self.arrays: dict[int, tuple[dict[str, Any], Any]] = {}  # by the id of a value: its description, and the value
        self.tensors: dict[int, int] = {}  # a tensor's id, and its index in the document
        self.begins: list[dict[str, Any]] = []
        self.described: list[Entry] = []  # in the order of the document
        self.entries: dict[int, int] = {}  # the id of an entry's output, and the entry's index
        self.numbers: dict[int, int] = {}  # the id of an entry's output, and the entry's number for readers
        self.failure = source.failure
        self.passes = _passes(source.events)
        self.own = backward_calls(source)
        self.document = empty(source.title)
        self._name(source)
        self.foreign = any(isinstance(tape, ForeignTape) for tape in self.tapes)  # then our rules say nothing about it
        places = [*map(self._where_of, source.happenings)]
        self.quotes = Excerpts(places)
        self.document["code"] = self.quotes.code
        self.written = self._write_program(source)
        expressions = {i: update.spoken for i, update in self.written.updates.items()}
        self.inner = {
            number: [self.tape_numbers[id(tape)] for tape in tapes]
            for number, tapes in _find_recorded_passes(source.events, self.passes).items()
        }
        self.sentences = Sentences(self.labels, self.document, self.numbers, self.own, expressions, self.inner)
        computed = (
            {}
            if self.foreign
            else {
                entry.output_id: entry
                for event in source.events
                if (entry := getattr(event, "entry", None)) is not None and getattr(entry, "values", None) is not None
            }
        )
        self.nonfinite = NonfiniteSteps(self.document, self.labels, [*computed.values()])
        self.corners = CornerSteps(source, self.passes, self.document)
        self.expected = Counter(
            (self.passes[i], event.tensor._id)
            for i, event in enumerate(source.events)
            if isinstance(event, events.Accumulate)
        )
        self.seen: Counter[tuple[int, int]] = Counter()
        self.arrived: dict[tuple[int, int], Any] = {}  # by the pass and the id of an entry's output: its cotangent
        for happening, where, number in zip(source.happenings, places, self.passes, strict=True):
            self._step(happening, where, number)
        for call in self.calls:
            if given := [self.tensors[id] for id in call.given if id in self.tensors]:
                self.document["calls"][self.known_calls[id(call)]]["given"] = given
        self.document["states"] = states(self.document)
        tensors = [tensor for tensor in self.document["tensors"] if tensor["kind"] != "constant"]
        names = {tensor["name"].rstrip("₀₁₂₃₄₅₆₇₈₉") for tensor in tensors}
        if begins := [each for each in self.begins if each["name"] in names]:
            self.document["begins"] = begins
        self._add_program()
        self._add_nudges(source)
        if source.causes:
            told = {step["text"]: number for number, step in enumerate(self.document["steps"])}
            self.document["causes"] = [{"text": text, "step": told[text]} for text in source.causes if text in told]

    def _name(self, source: Any) -> None:
        happened, earlier, called, skipped = source.events, source.earlier, source.called, 0
        tapes = {id(event.tape): event.tape for event in happened if getattr(event, "tape", None) is not None}
        places = [happening.where or getattr(happening.event, "where", None) for happening in source.happenings]
        places += [event.entry.where for event in happened if getattr(event, "entry", None) is not None]
        taken = names_in({place[0] for place in places if place is not None}) | {*names_of_tapes([*tapes.values()])}
        targets = [event.tensor for event in happened if isinstance(event, events.Seed)]
        targets += [target for event in happened if isinstance(event, events.Outcome) for target in event.targets]
        returned = {target._id: name for target in targets if (name := source.returned.get(target._id))}
        assigned = returned | source.assigned | _name_sources(source)
        self.labels = Labels(with_aliases=True, assigned=assigned, taken=taken)
        for event in happened:
            tape = getattr(event, "tape", None)
            if tape is not None and id(tape) not in self.tape_numbers:
                self.tape_numbers[id(tape)] = len(self.tapes)
                self.tapes.append(tape)
                for entry in earlier.get(id(tape), ()):
                    self._number(entry)
            if isinstance(event, events.Watch):
                self.kinds[event.tensor._id] = "variable" if isinstance(event.tensor, Variable) else "watched"
                self.labels.watched(event.tensor._id, event.tensor, event.where)
            elif isinstance(event, events.Record | events.Cut):
                self._number(event.entry)
            elif isinstance(event, events.Skip):
                skipped += 1
                self.labels.entry(event.entry, self.labels.invent("s", skipped))
            elif isinstance(event, events.Seed | events.Move | events.Leave):
                self.labels.give(event.tensor._id, event.tensor.name, "target")
            elif isinstance(event, events.Assign):
                self.labels.give(event.variable._id, event.variable.name, "variable")
            elif isinstance(event, Rebind):
                self.kinds[event.tensor._id] = "variable" if isinstance(event.tensor, Variable) else "computed"
                self.labels.give(event.tensor._id, event.tensor.name or event.name)
        if self.failure is not None:
            self.labels.entry(self.failure.entry, self.labels.invent("t", len(self.numbers) + 1))
        for event in happened:  # only this names tensors that are never used
            if isinstance(event, events.Watch):
                self.labels.give(event.tensor._id, None, "x")
            elif isinstance(event, events.Outcome):
                for target in event.targets:
                    self.labels.give(target._id, target.name, "target")
                name = event.source.name or called.get(event.source._id)
                self.labels.give(event.source._id, name, "source")
        self.document["tapes"] = [
            {"name": name, "persistent": tape.persistent}
            | ({"reruns": tape.function} if isinstance(tape, SecondTape) else {})
            for name, tape in zip(names_of_tapes(self.tapes), self.tapes, strict=True)
        ]

    def _number(self, entry: Entry) -> None:
        self.numbers.setdefault(entry.output_id, len(self.numbers) + 1)
        self.labels.entry(entry, self.labels.invent("t", self.numbers[entry.output_id]))

    def _step(self, happening: Any, where: Where | None, number: int) -> None:
        event = happening.event
        tape = getattr(event, "tape", None)
        step: dict[str, Any] = {
            "kind": _kind(event),
            "text": "",
            "where": self.quotes.point(where),
            "tape": None if tape is None else self.tape_numbers[id(tape)],
            "memory": happening.memory,
        }
        if happening.call is not None and happening.call.worth:
            step["call"] = self._call(happening.call)
        passed = [self.quotes.row(path, line) for path, line in happening.passed]
        if rows := [row for row in dict.fromkeys(passed) if row and not self._is_at(step, row)]:
            step["passed"] = [list(row) for row in rows]
        digits = 3
        match event:
            case events.Line(what=what, left_out=lines, numbers=numbers):
                step |= {"what": what} if lines is None else {"what": what, "left_out": list(lines)}
                for name, value in numbers.items():
                    self.begins.append({"name": name, "step": len(self.document["steps"]), "array": array(value)})
            case events.Error(text=text):
                step |= self._describe_error(text, step)
            case events.Watch(tensor=tensor):
                step["tensor"] = self._tensor(tensor._id, tensor, "watched")
                digits = self._separate(self._value(step["tensor"]), tensor._id, tensor)
            case events.Record(entry=entry) | events.Cut(entry=entry) | events.Skip(entry=entry):
                step["entry"] = self._entry(entry, step)
                value = self._value(self.tensors[entry.output_id])
                digits = self._separate(
                    value, entry.output_id, entry.output_value, zip(entry.values or (), entry.ids, strict=False)
                )
                if whose := self.inner.get(len(self.document["steps"])):
                    step["within"] = whose[0]
            case events.Seed(tensor=tensor, cotangent=cotangent):
                step["tensor"] = self._tensor(tensor._id, tensor, "computed")
                step |= {"cotangent": self._array(cotangent), "pass": number}
            case events.PullBack(entry=entry, cotangent=cotangent):
                step["entry"] = self._entry(entry, None)
                step |= {"cotangent": self._array(cotangent), "pass": number}
                self.arrived[number, entry.output_id] = cotangent
            case events.Accumulate():
                step |= self._accumulate(event, number)
            case events.Move(tensor=tensor, tangent=tangent):
                step["tensor"] = self._tensor(tensor._id, tensor, "computed")
                step |= {"tangent": self._array(tangent), "pass": number}
            case events.PushForward(entry=entry, contributions=parts, tangent=tangent):
                step["entry"] = self._entry(entry, None)
                step |= {"tensor": self.tensors[entry.output_id], "tangent": self._array(tangent), "pass": number}
                if sum(part is not None for part in parts) > 1:
                    step["contributions"] = [None if part is None else self._array(part) for part in parts]
                    moving = [part._array for part in parts if part is not None]
                    refine([part for part in step["contributions"] if part], moving, tangent._array)
            case events.Assign(variable=variable, value=value):
                step |= {"tensor": self._tensor(variable._id, variable, "variable"), "value": self._array(value)}
                digits = self._separate(step["value"], variable._id, value)
            case Rebind(tensor=tensor, source=source):
                step |= {"tensor": self._tensor(tensor._id, tensor, "watched"), "value": self._array(tensor._array)}
                step["from"] = self._tensor(source._id, source, "watched")
                digits = self._separate(step["value"], tensor._id, tensor)
            case events.Leave(tensor=tensor, how=how):
                step |= {"tensor": self._tensor(tensor._id, tensor, "computed"), "how": how}
            case events.Outcome(source=source, result=result):
                step["tensor"] = self._tensor(source._id, source, "constant")
                step["targets"] = [self._tensor(target._id, target, "computed") for target in event.targets]
                step |= {"gradient": None if result is None else array(result), "word": event.word}
            case events.Explain(entry=Entry() as entry):
                step["entry"] = self._entry(entry, None)
        step["text"] = self.sentences.write(event, step, digits)
        arrived = self.arrived.get((number, event.entry.output_id)) if isinstance(event, events.Accumulate) else None
        step["text"] += self.nonfinite.sentence(event, step, arrived)
        if isinstance(event, events.Accumulate):
            step["text"] += self.corners.sentence(event, step)
        self.document["steps"].append(step)

    def _call(self, call: Any) -> int:
        if id(call) not in self.known_calls:
            about: dict[str, Any] = {"text": f"{call.name}({', '.join(filter(None, call.arguments.values()))})"}
            about["function"] = self.functions.setdefault(call.function, len(self.functions))
            if call.caller is not None:
                about["caller"] = self._call(call.caller)
            if call.framed:
                about["method"] = True
            self.known_calls[id(call)] = len(self.document["calls"])
            self.document["calls"].append(about)
            self.calls.append(call)
        return self.known_calls[id(call)]

    def _is_at(self, step: dict[str, Any], row: tuple[int, int]) -> bool:
        return step["where"] is not None and (step["where"]["code"], step["where"]["line"]) == row

    def _describe_error(self, text: str, step: dict[str, Any]) -> dict[str, Any]:
        if self.failure is None:
            return {"lesson": [text]}
        for variable in self.failure.variables:  # which perhaps no tape has watched yet
            self._tensor(variable._id, variable, "variable")
        described: dict[str, Any] = {"entry": self._entry(self.failure.entry, step)}
        if self.failure.mismatch:
            return described | {"lesson": self.failure.mismatch, "message": text}
        return described | {"lesson": [text]}

    def _accumulate(self, event: events.Accumulate, number: int) -> dict[str, Any]:
        id = event.tensor._id
        self.seen[number, id] += 1
        arrived = self.arrived.get((number, event.entry.output_id))
        whole = None if self.foreign else unfold(event.entry, event.argument, arrived, event.value)
        parts = [one for one in (event.before, event.value) if one is not None]
        if len(parts) == 2:
            refine([self._array(part) for part in parts], [part._array for part in parts], event.after._array)
            separate(self._array(event.after), event.after, ((part, 3) for part in parts))
        return ({} if whole is None else {"unfolded": array(whole)}) | {
            "entry": self._entry(event.entry, None),
            "argument": event.argument,
            "tensor": self._tensor(id, event.tensor, "computed"),
            "before": None if event.before is None else self._array(event.before),
            "contribution": self._array(event.value),
            "after": self._array(event.after),
            "count": self.seen[number, id],
            "of": self.expected[number, id],
            "pass": number,
        }

    def _value(self, tensor: int) -> dict[str, Any]:
        described: dict[str, Any] = self.document["tensors"][tensor]["value"]
        return described

    def _separate(
        self, described: dict[str, Any], id: int, value: Any, operands: Iterable[tuple[Any, int | None]] = ()
    ) -> int:
        """Write a value with the digits that tell it from its operands and its name's last value; return how many.

        A value equal to an operand gets at least that operand's; one equal to its name's last value at least six.
        """
        name = self.labels[id].rstrip(SUBSCRIPTS)
        before, self.latest[name] = self.latest.get(name), value
        others = [(operand, self.digits.get(known, 3)) for operand, known in operands]
        self.digits[id] = separate(described, value, [*others, (before, USUAL_DIGITS)])
        return self.digits[id]

    def _array(self, value: Any) -> dict[str, Any]:
        """Describe an array; one that appears several times is described once."""
        if id(value) not in self.arrays:
            self.arrays[id(value)] = array(value), value
        return self.arrays[id(value)][0]

    def _tensor(self, id: int, value: Any, kind: str, name: str | None = None) -> int:
        if id not in self.tensors:
            kind = self.kinds.get(id, kind) if kind in ("constant", "watched") else kind
            self.tensors[id] = len(self.document["tensors"])
            described = {"name": name or self.labels[id], "kind": kind, "value": self._array(value)}
            self.document["tensors"].append(described | ({"unnamed": True} if id in self.labels.unnamed else {}))
        return self.tensors[id]

    def _entry(self, entry: Entry, step: dict[str, Any] | None) -> int:
        if entry.output_id not in self.entries:
            self.entries[entry.output_id] = len(self.document["entries"])
            described: dict[str, Any] = {
                "number": self.numbers.get(entry.output_id),
                "operation": "=" if entry.operation is alias else entry.name,
                "text": self.labels.text(entry),
                "arguments": (arguments := self._arguments(entry)),
                "inputs": [argument for argument in arguments if isinstance(argument, int)],
                "tapes": [],
                "scope": distinguish(self.scopes.get(entry.output_id, ()), self.owners),
            }
            if turns := self.turns.get(entry.output_id):
                described["turns"] = [list(turn) for turn in turns]
            if any(aliases := self.labels.aliases(entry)):
                described["aliases"] = aliases
                self._add_begins(entry, aliases, arguments)
            described["output"] = self._tensor(entry.output_id, entry.output_value, "computed")
            described["where"] = self.quotes.point(entry.where)
            copied = [k for k in range(len(entry.ids)) if is_copied(entry, k)]
            if copied and not self.foreign:  # the player would draw copies of a contribution, and nobody reported them
                described["broadcast"] = copied
            if step is not None and "call" in step:
                described["call"] = step["call"]
            self.document["entries"].append(described)
            self.described.append(entry)
            if (sign := SUMS.get(entry.operation)) and entry.values is not None and len(described["inputs"]) == 2:
                given = [self.document["tensors"][argument]["value"] for argument in described["inputs"]]
                refine(given, [getattr(value, "_array", value) for value in entry.values], entry.output_value, sign)
        index = self.entries[entry.output_id]
        tapes = self.document["entries"][index]["tapes"]
        if step is not None and step["kind"] not in ("skip", "error") and step["tape"] not in tapes:
            tapes.append(step["tape"])
        return index

    def _add_begins(self, entry: Entry, aliases: list[str | None], arguments: list[int | str]) -> None:
        """Note where a name begins as the second one of a tensor, after `p = x`: once for each name and tensor."""
        known = [(each["name"], each.get("tensor")) for each in self.begins]
        for name, tensor, value in zip(aliases, arguments, entry.values or (), strict=False):
            if name and isinstance(tensor, int) and (name, tensor) not in known:
                step = max(len(self.document["steps"]) - 1, 0)
                self.begins.append({"name": name, "step": step, "array": array(value), "tensor": tensor})

    def _arguments(self, entry: Entry) -> list[int | str]:
        rule, written = rule_of(entry.operation), self.labels.of_arguments(entry)
        arguments = self.labels.operands(entry)
        found: list[int | str] = []
        for k, (id, value) in enumerate(zip(entry.ids, entry.values or (None,) * len(entry.ids), strict=True)):
            if id is not None:
                found.append(self._tensor(id, value, "constant"))
            elif isinstance(value, np.ndarray) or (
                rule and rule.pull(k) and isinstance(value, int | float | complex | np.generic)
            ):
                name = written[k] or (arguments[k] if is_mask(value) else short_value(np.asarray(value)))
                # every use of a constant is its own tensor: use a key that is never a tensor's id
                found.append(self._tensor(-1 - len(self.tensors), value, "constant", name))
            elif k < len(arguments):
                found.append(arguments[k])
        return found

    def _write_program(self, source: Any) -> TraceProgram:
        """Write what happened as a program."""
        from .program import TraceProgram, program  # not worth the import time if you only differentiate

        if self.foreign:
            return TraceProgram([], [], {}, {})

        tapes = {tape: about["name"] for tape, about in zip(self.tapes, self.document["tapes"], strict=True)}
        return program(source, self.passes, self.labels, tapes, self.own)

    def _add_program(self) -> None:
        """Add the program, and its expressions as formulas."""
        from ..program import formulas

        written = self.written
        self.document["program"] = {"lines": written.lines, "steps": written.steps}
        places: dict[str, int] = {}  # by the formula as text

        def index(tree: Any) -> int | None:
            if tree is None:
                return None
            key = repr(tree)
            if key not in places:
                places[key] = len(places)
                self.document["formulas"].append(formulas.round_constants(tree))
            return places[key]

        for entry, described in zip(self.described, self.document["entries"], strict=True):
            arguments, id = described["arguments"], entry.output_id
            tree = written.formulas.get((id, None))
            if tree is None:
                tree = formulas.application(entry, arguments)
            described["formula"] = index(tree)
            described["contributions"] = [index(written.formulas.get((id, k))) for k in range(len(arguments))]
            pushes = [index(written.formulas.get((id, -1 - k))) for k in range(len(arguments))]
            if any(place is not None for place in pushes):
                described["pushes"] = pushes
        for number, update in written.updates.items():
            if update.formula is None:
                continue
            step = self.document["steps"][number]
            step["formula"] = index(update.formula)
            if update.numbers:
                step |= {
                    "in_numbers": index(update.in_numbers),
                    "numbers": [short_value(np.asarray(each)) for each in update.numbers],
                }

    def _add_nudges(self, source: Any) -> None:
        if self.foreign:
            return
        from .nudges import Described, nudges

        earlier = [entry for entries in source.earlier.values() for entry in entries]
        described = Described(self.document, self.tensors, self.entries)
        if kept := nudges(source.events, self.passes, earlier, source.heard, described):
            self.document["nudges"] = kept

    def _where_of(self, happening: Any) -> Where | None:
        event = happening.event
        if isinstance(event, events.Explain | events.Line):
            said: Where | None = event.where
            return said
        if isinstance(event, events.Outcome) and event.causes and event.causes[0].where:
            cut: Where = event.causes[0].where
            return cut
        own = self.own.get(id(event))
        if own is not None and own.where is not None:
            return own.where
        entry = getattr(event, "entry", None)
        if entry is not None:
            computed: Where = entry.where
            return computed
        where = getattr(event, "where", None) or happening.where
        return None if where is None or names(where).function in RUNNERS else where


def _kind(event: Event) -> str:
    if isinstance(event, events.Skip):  # including what a paused tape missed
        return "skip"
    if isinstance(event, events.Seed):
        return "seed"
    if isinstance(event, events.Outcome):
        return "outcome"
    words = {"PullBack": "pull back", "PushForward": "push forward", "Rebind": "assign"}
    return words.get(name := type(event).__name__, name.lower())


def _name_sources(source: Any) -> dict[int, str]:
    """Name the tensors that a function of the user's gets from elsewhere after the names that it has for them.

    These are what `grad(f)` differentiates with respect to, and what a checkpointed function reads without being given.
    """
    named: dict[int, str] = {}
    recorded = [event.entry for event in source.events if isinstance(event, events.Record)]
    for entry in reversed([entry for entry in recorded if entry.operation is alias]):
        if name := named.get(entry.output_id) or source.received.get(entry.output_id):
            named |= {entry.output_id: name, entry.ids[0]: name}
    calls = [entry for entry in recorded if isinstance(entry.operation, Custom)]
    read = {id for entry in calls for id, name in zip(entry.ids, names_of_arguments(entry), strict=True) if not name}
    read.difference_update(entry.output_id for entry in recorded)
    for entry in source.heard if read else ():
        if isinstance(entry, Entry) and not read.isdisjoint(entry.ids):
            for id, name in zip(entry.ids, names_of_arguments(entry), strict=True):
                if id in read and name:
                    named.setdefault(id, name)
    return named


def _find_recorded_passes(happened: list[Event], passes: list[int]) -> dict[int, list[Tape]]:
    """Map each event of a recorded backward pass to the pass's own tape, then the tapes that record it."""
    last = {number: i for i, (event, number) in enumerate(zip(happened, passes, strict=True)) if _flows_back(event)}
    tapes: dict[int, dict[Tape, None]] = {}  # of the passes: their own, then those that record
    members: dict[int, int] = {}  # the pass of an event
    under_way: list[int] = []
    known: dict[int, set[Any]] = {}  # the tapes that had recorded or watched anything when a pass began
    seen: set[Any] = set()
    for i, (event, number) in enumerate(zip(happened, passes, strict=True)):
        if _flows_back(event):
            if number not in tapes:
                tapes[number], known[number] = {event.tape: None}, seen.copy()
                if not isinstance(event, Stepped):  # between whose steps the user's own code runs
                    under_way.append(number)
            members[i] = number
            if last[number] == i and number in under_way:
                under_way.remove(number)
        elif isinstance(event, events.Record | events.Cut) and not isinstance(event.tape, SecondTape):
            recorded = [each for each in under_way if event.tape in known[each]]
            inner = [each for each in recorded if next(iter(tapes[each])) is not event.tape]
            for each in inner:
                tapes[each][event.tape] = None
            if inner:
                members[i] = inner[-1]
        if isinstance(event, events.Watch | events.Record | events.Cut):
            seen.add(event.tape)
    return {i: [*tapes[number]] for i, number in members.items() if len(tapes[number]) > 1}


def _flows_back(event: Event) -> TypeGuard[events.Seed | events.PullBack | events.Accumulate]:
    return isinstance(event, events.Seed | events.PullBack | events.Accumulate)


def _passes(happened: list[Event]) -> list[int]:
    """Number the passes: one begins with a tape's first seed, or moving source, after any other event of that tape."""
    numbers, latest = [], -1
    seeding: dict[int, bool] = {}
    current: dict[int, int] = {}
    for event in happened:
        tape, begins = id(getattr(event, "tape", None)), isinstance(event, (events.Seed, events.Move))
        if begins and not seeding.get(tape):
            latest += 1
            current[tape] = latest
        seeding[tape] = begins
        numbers.append(current.get(tape, -1))
    return numbers
