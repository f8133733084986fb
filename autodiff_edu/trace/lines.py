"""The lines of the user's code that ran during a trace, as events of their own.

Every recorded operation has its step. This module adds what a reader would miss: which way an `if` or a loop went, what
a plain number became, which function was called and what it returned, and what was computed while no tape recorded. A
line with nothing to say gets no step; the next step lists such lines.

>>> import autodiff_edu as ad
>>> def f(x, n):
...     if n == 0:
...         return 1.0
...     return x * f(x, n - 1)
>>> with ad.trace() as steps:
...     y = f(2.0, 1)
>>> print(steps.transcript())
1. Line 2: f(x = 2, n = 1) is called.
2. Line 2: n == 0 is False, so the block is skipped.
3. Line 4: f(x = 2, n = 0) is called.
4. Line 2: n == 0 is True, so the block below runs.
5. Line 3: f returns 1.
6. Line 4: f returns 2.
7. Line 2: y is 2.

A line has at most `MOST` steps of its own, so that a loop of 10,000 turns stays readable; the last one says so.
"""

from __future__ import annotations

import ast
import dis
import inspect
import sys
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import prod
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..arrays.validate import freeze
from ..core import events
from ..core.active import Listener, always, begin, now, only, start_listening, stop_listening
from ..core.entry import Entry
from ..core.events import Make, Read
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..text.formatting import spoken_value
from ..text.frames import Where, here, user_frame
from ..text.places import expression, list_assigned
from ..text.statements import is_theirs, jumps_at_once, names_assigned, statements, where_is, written_as
from ..text.with_block import ExitMethod, WithBlock
from .conditions import condition, describe_jump, describe_match, find_block_left_out, is_in
from .line_events import FAILED, ByMonitoring, BySettrace, watch
from .scopes import SCOPED
from .unused import is_unused

FETCH = dis.opmap["FOR_ITER"]

MOST = 50
"""The most steps that one line may have."""

SMALL = 16
"""The most elements of a plain array that a step has as numbers."""

LONGEST_NAME = 30
"""The longest name that a method takes from the line that calls it."""

_PLAIN = (int, float, complex, np.number, np.bool_)
_PAUSING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_INLINE = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}  # which are parts of a line


class Rebind(events.Event):
    """A line gave the name of a tensor, `source`, to one that was computed from its gradient."""

    where: Any
    name: str
    tensor: Any
    source: Any


class FunctionCall:
    """A call of a user's function: its name, its arguments in a few characters, and the call it was made in.

    A method is named as in the line that calls it, such as `n1` in `n1(x)`. `given` maps the ids of the tensors among
    the arguments to their parameters. A call is `framed` in the picture if it is a call of a method without a scope of
    its own, and `recursive` if it is part of a recursion.
    """

    __slots__ = ("arguments", "caller", "framed", "function", "given", "name", "recursive", "worth")

    def __init__(
        self, frame: FrameType, caller: FunctionCall | None, line: FrameType | None, list_tensors: Callable[..., Any]
    ) -> None:
        code, by_user = frame.f_code, line is not None
        self.function, self.caller, self.recursive = code, caller, False
        around, above = [self], caller
        while above is not None:
            around.append(above)
            if above.function is code:
                for call in around:
                    call.recursive = True
                break
            above = above.caller
        self.name = code.co_qualname.rpartition("<locals>.")[2].strip("<>")  # of a method with its class
        self.worth = by_user or caller is not None  # being shown: a function that the package calls stands alone
        count = code.co_argcount + code.co_kwonlyargcount
        given = frame.f_locals
        names = code.co_varnames[:count]
        if is_method := names[:1] in (("self",), ("cls",)):
            names = names[1:]
            self.name = (line and _write_callee(line.f_code, line.f_lasti, code.co_name)) or self.name
        self.framed = is_method and line is not None and line is frame.f_back  # and not called within a scope
        self.arguments = {name: _in_brief(given[name]) for name in names if name in given}
        self.given = dict(pair for name in names for pair in list_tensors(name, given.get(name)))


class Turn(NamedTuple):
    """A turn of a loop: which loop, as it runs once, and the number of the turn, from 1."""

    loop: int
    number: int


class Frame:
    """A running function of the user's, or the code in which the trace started."""

    def __init__(self, frame: FrameType, call: FunctionCall | None, by_user: bool = False) -> None:
        self.frame, self.call, self.by_user = frame, call, by_user
        self.lines = {} if frame.f_code.co_name == "<lambda>" else statements(frame.f_code.co_filename)
        self.current: list[ast.stmt] = []
        self.line = 0  # where they began
        self.before: dict[str, Tensor] = {}  # the tensors whose names they give to others
        self.busy = False  # whether what they do has a step
        self.computed = False  # whether they computed something with tensors
        self.failing = False
        self.turns: dict[ast.For | ast.While, Turn] = {}  # of loops, which may have been left since
        self.fetched: set[int] = set()  # the ids of what the loop of the line has computed to begin a turn
        self.begun: int | None = None  # the event that says that this turn begins, before what it fetches

    def list_turns(self) -> list[Turn]:
        """List the turns that are under way, the outermost first; what a `while` asks after a turn is part of it."""
        return [
            turn for loop, turn in self.turns.items() if loop.lineno <= self.line <= (loop.body[-1].end_lineno or 0)
        ]

    def find_loop(self, statement: ast.stmt) -> ast.For | ast.While | None:
        """Return the loop that a statement is in."""
        around = [loop for loop in self.turns if is_in(statement.lineno, loop.body)]
        return max(around, key=lambda loop: loop.lineno, default=None)

    def find_fetching(self) -> ast.For | None:
        """Return the loop that is fetching what its next turn begins with."""
        loop = self.current[-1] if self.current else None
        if not isinstance(loop, ast.For):
            return None
        return loop if self.frame.f_lasti in _list_fetches(self.frame.f_code, loop.target) else None

    def has(self, name: str) -> bool:
        """Return whether a variable has a value."""
        return name in self.frame.f_locals

    def __getitem__(self, name: str) -> Any:
        return self.frame.f_locals[name]


class Lines(WithBlock, Listener):
    """Follows the lines of the user's code for a trace, during a `with` block.

    It also hears of operations that no tape heard of.

    Parameters
    ----------
    trace : Trace
        The trace that gets the events.
    hook : hook
        The trace's own hook: while it is not installed, nothing is followed.
    """

    def __init__(self, trace: Any, hook: Any) -> None:
        super().__init__({Entry: self.hear_operation, Read: self.hear_read, Make: self.hear_make})
        self.trace, self.hook = trace, hook
        self.watching: list[ByMonitoring | BySettrace] = []
        self.frames: list[Frame] = []
        self.paused_frames: dict[FrameType, Frame] = {}  # of generators and coroutines
        self.passed: list[tuple[str, int]] = []  # files and lines without a step since the last step
        self.paused: list[Any] = []
        self.pending: events.Missed | None = None
        self.latest = 0  # the id of what the last step computed
        # Whether the user's code has opened a tape: what only tapes aside record after that is not a step.
        self.opened = False
        self.sources: dict[int, Tensor] = {}  # by the id of its array: what has a gradient
        self.rebound: dict[str, tuple[int, Tensor]] = {}  # by name: the event, and a tensor to be watched
        self.from_gradients: set[int] = set()  # the ids of gradients, and of what is computed from them on no tape
        self.lambdas: dict[CodeType, str] = {}  # their names
        self.counts: Counter[Any] = Counter()
        self.loops = 0  # how many have begun

    def __enter__(self) -> None:
        begin(self)
        start_listening(self)
        frame = user_frame(sys._getframe())
        root = frame if is_theirs[frame.f_code.co_filename] else None
        self.frames = [] if root is None else [Frame(root, None)]
        self.watching = [watch(self, root)]

    @ExitMethod
    def __exit__(self, *exception: object) -> None:
        self.end_watching()
        if self.frames and not self.frames[-1].failing:
            self.finish(self.frames[-1])
        self.settle()
        self.frames.clear()
        self.paused_frames.clear()
        stop_listening(self)
        self.end()

    def end_watching(self) -> None:
        """Stop following lines."""
        while self.watching:
            self.watching.pop().stop()

    def work(self, task: Callable[..., None], *details: Any) -> None:
        """Run something of the package's own, which need not be followed."""
        if self.watching:
            self.watching[0].work(task, *details)
        else:
            task(*details)

    call = property(lambda self: self.frames[-1].call if self.frames else None)

    def hear_read(self, read: Read) -> None:
        """Note that plain numbers were read, unless they were only printed."""
        if not is_unused(here()):
            self.trace.heard.append(read)

    def hear_operation(self, entry: Entry) -> None:
        """Note an operation as it is now; if a tape is paused and nobody else reports it, it still becomes a step."""
        kept = entry.copy()
        kept.values = tuple(map(freeze, kept.values, kept.ids))
        self.trace.heard.append(kept)
        if not self.from_gradients.isdisjoint(kept.ids):
            self.from_gradients.add(kept.output_id)
        self.settle()
        if self.frames:
            self.frames[-1].computed = True
        if self.paused:
            self.trace.variables |= {one._id for one in entry.given if isinstance(one, Variable)}
            self.pending = events.Missed(self.paused[-1], kept)

    def hear_make(self, event: Make) -> None:
        """Note that a tensor was made of another one."""
        if isinstance(event.source, Tensor):
            self.trace.made[event.tensor._id] = event.source._id
            if event.source._id in self.from_gradients:
                self.from_gradients.add(event.tensor._id)

    def before(self, event: events.Event) -> None:
        """Note an event that is about to become a step."""
        entry = getattr(event, "entry", None)
        tape = getattr(event, "tape", None)
        aside = tape in self.trace.aside
        if not aside and tape is not None and not self.opened:
            self.opened, self.latest = True, 0
        if self.pending is not None and not isinstance(event, events.Watch) and not aside:
            if entry is None or entry.output_id != self.pending.entry.output_id:
                self.settle()
            self.pending = None
        if isinstance(event, events.Watch):
            self.from_gradients.discard(event.tensor._id)
            self.note_watched(event.tensor)
            if self.frames:
                self.note_attribute(event.tensor)
        if isinstance(event, events.Outcome) and event.result is not None:
            self.sources[id(event.source._array)] = event.source
            self.from_gradients.add(event.result._id)
        if isinstance(event, events.Pause):
            self.paused.append(event.tape)
        elif isinstance(event, events.Resume | events.Release):
            self.paused = [tape for tape in self.paused if tape is not event.tape]
        if isinstance(event, events.Outcome) and not aside:
            self.latest = 0
        if isinstance(event, events.Record | events.Cut | events.Skip):
            if not (aside and self.opened):
                self.latest = event.entry.output_id
            if self.frames and (loop := self.frames[-1].find_fetching()):
                self.begin_turn(self.frames[-1], loop, event.entry.output_id)
        if self.frames and not isinstance(event, events.Line | events.Leave | events.Watch):
            self.frames[-1].busy = True

    def settle(self) -> None:
        """Add a step for an operation that nobody reported."""
        if self.pending is not None:
            missed, self.pending = self.pending, None
            self.see(missed)

    def see(self, event: events.Event) -> None:
        """Pass an event to the trace."""
        with only(*always.listeners):
            self.trace._see(event)

    # What `watch` reports -------------------------------------------------------------------------------------------

    def enter(self, frame: FrameType) -> bool:
        """Start to follow a user's function that begins."""
        code = frame.f_code
        if not is_theirs[code.co_filename] or code.co_name in _INLINE:
            return False
        if self.over:  # an interrupt kept the block from ending
            self.end_watching()
        if self.over or self.hook not in now().listeners:
            return False
        function = bool(code.co_flags & inspect.CO_OPTIMIZED)
        if not statements(code.co_filename) or (not function and self.frames):  # a class body, or a module
            return False
        if not function or code.co_flags & _PAUSING:
            self.frames.append(
                self.paused_frames.pop(frame) if frame in self.paused_frames else Frame(frame, self.call)
            )
            return True
        caller = frame.f_back
        caller = caller.f_back if caller is not None and caller.f_code is SCOPED else caller
        by_user = bool(self.frames) and caller is self.frames[-1].frame
        call = FunctionCall(frame, self.call, caller if by_user else None, self.list_tensors)
        for id, name in call.given.items():
            self.trace.received.setdefault(id, name)
        if by_user and caller is not None:
            given = ", ".join(f"{name} = {value}" if value else name for name, value in call.arguments.items())
            self.say((caller.f_code, caller.f_lasti), "call", _describe_call(call, given))
        self.frames.append(Frame(frame, call, by_user))
        return True

    def line(self, frame: FrameType) -> None:
        """Note that a line is about to run, so the one before it is over."""
        at = self.find(frame)
        if at is None:
            return
        self.settle()
        found = at.lines.get(frame.f_lineno, [])
        if len(found) > 1:  # IPython compiles each statement of a cell by itself
            found = [statement for statement in found if _is_compiled(statement, frame.f_code)]
        if at.failing:
            at.failing = False
            self.passed += [(frame.f_code.co_filename, statement.lineno) for statement in at.current]
        elif found and found == at.current and frame.f_lineno != at.line:  # a statement over several lines
            at.line = frame.f_lineno
            return
        else:
            self.finish(at, frame.f_lineno)
        for statement in found:
            if isinstance(statement, ast.For | ast.While) and not is_in(at.line, statement.body):
                at.turns.pop(statement, None)  # left by a break, or an exception, the last time
        leaving = _is_around(found, at.current)
        at.current, at.line, at.busy, at.computed = [] if leaving else found, frame.f_lineno, False, False
        at.fetched, at.begun = set(), None
        at.before = self.list_rebound(at)

    def fail(self, frame: FrameType) -> None:
        """Note that an exception passes through."""
        at = self.find(frame)
        if at is not None:
            at.failing = True

    def leave(self, frame: FrameType, value: Any) -> None:
        """Note that a function ended."""
        at = self.find(frame)
        if at is None:
            return
        self.settle()
        failed = value is FAILED or (at.failing and value is None)
        if not failed and not frame.f_code.co_flags & _PAUSING:
            if at.call is not None and not at.lines:  # a lambda
                self.report_return(at, None, value)
            elif at.call is not None and len(at.current) == 1 and isinstance(at.current[0], ast.Return):
                self.report_return(at, at.current[0].value, value)
            else:
                self.finish(at)
            name = at.call.name.removesuffix(".__call__").rpartition(".")[2] if at.call is not None else ""
            name = self.find_name(frame) if name == "lambda" else name
            if name:
                self.trace.returned |= dict(self.list_tensors(name, value))  # the outermost that returns it counts
        self.frames.pop()
        if frame.f_code.co_flags & _PAUSING:
            self.paused_frames[frame] = at

    def find_name(self, frame: FrameType) -> str:
        """Find the name that a running lambda has in the functions around it or in its module; empty if it has none."""
        if frame.f_code not in self.lambdas:
            around = [at.frame.f_locals for at in reversed(self.frames)]
            named = (pair for names in (*around, frame.f_globals) for pair in [*names.items()])
            found = (name for name, value in named if type(value) is FunctionType and value.__code__ is frame.f_code)
            self.lambdas[frame.f_code] = next(found, "")
        return self.lambdas[frame.f_code]

    def find(self, frame: FrameType) -> Frame | None:
        """Find a followed frame; those called from it are over, reported or not."""
        if self.over or self.hook not in now().listeners:
            return None
        for k in range(len(self.frames) - 1, -1, -1):
            if self.frames[k].frame is frame:
                del self.frames[k + 1 :]
                return self.frames[k]
        return None

    # What it means ----------------------------------------------------------------------------------------------------

    def finish(self, at: Frame, following: int = 0) -> None:
        """Report what the statements of a line did, now that they are over; `following` is the next line."""
        for statement in at.current:
            code = at.frame.f_code
            said = ""
            self.note_names(at, statement)
            if self.report_updates(at, statement):
                continue
            if isinstance(statement, ast.For | ast.While):
                self.count_turn(at, statement, following)
                if at.fetched and isinstance(statement, ast.For):
                    self.describe_turn(at, statement)
                    continue
            match statement:
                case ast.If(test=test) if jumps_at_once(statement):
                    if said := describe_jump(statement, at.find_loop(statement), following):
                        self.say(where_is(code, test), "condition", said)
                        continue
                case ast.If(test=test) | ast.While(test=test) if not isinstance(test, ast.Constant):
                    block = find_block_left_out(statement, following)
                    self.say(where_is(code, test), "condition", condition(statement, following), block)
                    continue
                case ast.Match(subject=subject):
                    if said := describe_match(statement, following):
                        self.say(where_is(code, subject), "condition", said)
                        continue
                case ast.For() if statement in at.turns:
                    if found := _report_assignment(at, statement):
                        said = f"turn {at.turns[statement].number} of the loop begins, with {found}"
                case ast.Assign(value=ast.expr() as value) | ast.AnnAssign(value=ast.expr() as value):
                    said = "" if at.busy else _report_assignment(at, statement) or self.unseen(at, statement, value)
                case ast.AugAssign(value=value):
                    said = "" if at.busy else _report_assignment(at, statement)
                case ast.Continue():
                    said = "the rest of this turn is skipped"
                case ast.Break():
                    said = "the loop ends here"
            if said:
                whole = isinstance(statement, ast.AugAssign | ast.Continue | ast.Break)
                part = statement if whole else getattr(statement, "value", None)
                where, numbers = where_is(code, part or statement.target), _list_numbers(at, statement)  # type: ignore[attr-defined]
                self.say(where, "value", said, numbers=numbers)
            elif not at.busy:
                self.passed.append((code.co_filename, statement.lineno))
        at.current = []

    def count_turn(self, at: Frame, loop: ast.For | ast.While, following: int) -> None:
        """Note that a turn of a loop begins, unless it is known already, or that the loop is over."""
        if not is_in(following, loop.body):
            at.turns.pop(loop, None)
        elif not at.fetched:
            self.start_turn(at, loop)

    def start_turn(self, at: Frame, loop: ast.For | ast.While) -> None:
        """Count a turn."""
        self.loops += loop not in at.turns
        before = at.turns.get(loop, Turn(self.loops, 0))
        at.turns[loop] = before._replace(number=before.number + 1)

    def begin_turn(self, at: Frame, loop: ast.For, fetched: int) -> None:
        """Report that a turn begins, for which a loop over a tensor fetches an element; only once of several."""
        if not at.fetched:
            self.start_turn(at, loop)
            count = len(self.trace.happenings)
            self.say(
                where_is(at.frame.f_code, loop.target), "value", f"turn {at.turns[loop].number} of the loop begins"
            )
            at.begun = count if len(self.trace.happenings) > count else None
        at.fetched.add(fetched)

    def describe_turn(self, at: Frame, loop: ast.For) -> None:
        """Name what a turn began with, and say its plain numbers where it was reported, now that they are known."""
        for name in names_assigned(loop):
            if isinstance(value := at[name] if at.has(name) else None, Tensor) and value._id in at.fetched:
                self.trace.assigned.setdefault(value._id, name)
        over, numbers = loop not in at.turns, _report_assignment(at, loop)
        for id in at.fetched if over else ():  # one of several things to loop over was shorter
            self.trace.turns[id] = self.trace.turns[id][:-1]
        if at.begun is not None and (over or numbers):
            happening = self.trace.happenings[at.begun]
            said = (
                f"the loop ends, because {written_as(loop.iter) or 'it'} has no more elements"
                if over
                else (happening.event.text.rstrip(".") + f", with {numbers}")
            )
            self.trace.happenings[at.begun] = happening._replace(event=happening.event.replace(text=f"{said}."))

    def list_turns(self) -> tuple[Turn, ...]:
        """List the turns of loops that are under way in the user's functions, the outermost first."""
        return tuple(turn for at in self.frames for turn in at.list_turns())

    def note_names(self, at: Frame, statement: ast.stmt) -> None:
        """Note which tensors a statement has given a name; after `y = z`, that is z."""
        assigned = names_assigned(statement) if isinstance(statement, ast.Assign | ast.AnnAssign) else []
        meant = {name.id: value.id for name, value in list_assigned(statement) if isinstance(value, ast.Name)}
        for name in (*assigned, *_list_names_in_expression(statement)):
            value = at[name] if at.has(name) else None
            made = isinstance(getattr(statement, "value", None), ast.Call)  # what a call returns, [x, y] only collects
            if made or not isinstance(value, list | tuple):
                for id, path in self.list_tensors(meant.get(name, name), value):
                    self.trace.assigned.setdefault(id, path)

    def list_tensors(self, name: str, value: Any) -> list[tuple[int, str]]:
        """List the id of a tensor with its name, or those in a short list or dict with that name."""
        return [(tensor._id, path) for path, tensor in self.tensors_in(name, value)]

    def tensors_in(self, name: str, value: Any) -> list[tuple[str, Tensor]]:
        """List a tensor with its name, or those in a short list or dict with that name."""
        value = self.trace.as_tensor(value)
        if isinstance(value, Tensor):
            return [(name, value)]
        if type(value) not in (list, tuple, dict) or len(value) > MOST:
            return []
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        found = [(f"{name}[{key!r}]", self.trace.as_tensor(part)) for key, part in parts]
        return [(path, part) for path, part in found if isinstance(part, Tensor)]

    def note_attribute(self, tensor: Tensor) -> None:
        """Note the name of a tensor that is an attribute of the object whose method is running: w, for `self.w`."""
        at = self.frames[-1]
        if tensor._id not in self.trace.assigned and "self" in at.frame.f_code.co_varnames[:1] and at.has("self"):
            attributes = getattr(at["self"], "__dict__", {})
            name = next((name for name, value in attributes.items() if value is tensor), None)
            if name is not None:
                self.trace.assigned[tensor._id] = name

    def list_rebound(self, at: Frame) -> dict[str, Tensor]:
        """List the tensors that the statements of a line are about to take the names from."""
        names = [name for statement in at.current for name in _list_names_rebound(statement) if at.has(name)]
        return {path: tensor for name in names for path, tensor in self.tensors_in(name, at[name])}

    def report_updates(self, at: Frame, statement: ast.stmt) -> bool:
        """Report which tensors got their names from others that they were computed from, by their gradients."""
        if not at.before or self.paused or any(tape not in self.trace.aside for tape in now().followers):
            return False
        names = _list_names_rebound(statement)
        found = {path: tensor for name in names if at.has(name) for path, tensor in self.tensors_in(name, at[name])}
        made = {name.id: value for name, value in list_assigned(statement)}
        whole, reported = getattr(statement, "value", statement), False
        for path, tensor in found.items():
            array = at.before[path]._array if path in at.before else None
            source = self.sources.get(id(array))  # in grad(f)(w) it is another tensor with the array of w
            if source is not None and source._array is array and tensor._id in self.from_gradients:
                self.from_gradients.discard(tensor._id)  # a function may hand it on to another line
                self.rebound[path] = len(self.trace.happenings), tensor
                part = statement if isinstance(statement, ast.AugAssign) else made.get(path, whole)
                self.see(Rebind(where_is(at.frame.f_code, part), path, tensor, source))
                reported = True
        return reported

    def note_watched(self, tensor: Tensor) -> None:
        """Note that the new tensor of a name is this one: after `w = ad.constant(w)`, or in `grad(f)(w)`."""
        made_of = self.trace.made.get(tensor._id)
        for path, (index, new) in self.rebound.items():
            if tensor is new or new._id == made_of or tensor._array is new._array:
                del self.rebound[path]
                if tensor is not new and np.array_equal(new._array.astype(tensor.dtype), tensor._array):
                    happening = self.trace.happenings[index]
                    kept = tensor.as_it_is() if isinstance(tensor, Variable) else tensor
                    self.trace.happenings[index] = happening._replace(event=happening.event.replace(tensor=kept))
                return

    def unseen(self, at: Frame, statement: ast.stmt, value: ast.expr) -> str:
        """Report what was computed with tensors but on no tape, if anything."""
        names = [name for name in names_assigned(statement) if at.has(name) and isinstance(at[name], Tensor)]
        if not at.computed or not names or now().followers:
            return ""
        if names[1:]:
            return f"{', '.join(names[:-1])} and {names[-1]} are computed. No tape is recording this"
        expression = written_as(value)
        which = f"{expression}, which is " if expression else ""
        return f"{names[0]} is {which}{spoken_value(at[names[0]]._array)}. No tape is recording this"

    def report_return(self, at: Frame, expression: ast.expr | None, value: Any) -> None:
        """Report what a function returns, unless the previous step has just computed it; in a recursion always."""
        value = self.trace.as_tensor(value)
        is_clear = at.call is not None and not at.call.recursive
        if value is None or (is_clear and isinstance(value, Tensor) and self.is_shown(value)):
            return
        text, written = _value(value), "" if expression is None else written_as(expression)
        if not text and not at.by_user:
            return
        what = [part for part in (written if isinstance(expression, ast.Name) or not text else "", text) if part]
        if what and at.call is not None:
            code = at.frame.f_code
            where = (code, at.frame.f_lasti) if expression is None else where_is(code, expression)
            self.say(where, "return", f"{_the(at.call)} returns {', which is '.join(what)}")

    def is_shown(self, value: Tensor) -> bool:
        """Return whether the last step has shown how this tensor was computed."""
        last = self.trace.happenings[-1].event if self.trace.happenings else None
        return value._id == self.latest or any(getattr(last, shown, None) is value for shown in ("result", "tangent"))

    def say(
        self,
        where: Where,
        what: str,
        text: str,
        left_out: tuple[int, int] | None = None,
        numbers: dict[str, Any] | None = None,
    ) -> None:
        """Add a step for a line, unless it has had too many."""
        self.counts[where] += 1
        if self.counts[where] > MOST:
            return
        last = f" This line has had {MOST} steps; later ones are not shown." if self.counts[where] == MOST else ""
        self.see(events.Line(where, what, f"{text}.{last}", left_out, numbers or {}))


@lru_cache(maxsize=256)
def _list_fetches(code: CodeType, target: ast.expr) -> frozenset[int]:
    """List the offsets at which the loop with this target fetches what its next turn begins with.

    What follows a fetch assigns it. From Python 3.12 on the code of a comprehension, which fetches too, is part of the
    code around it.
    """
    first, end = (target.lineno, target.col_offset), (target.end_lineno or 0, target.end_col_offset or 0)
    found = set()
    for fetch, following in pairwise(dis.get_instructions(code)):
        if fetch.opcode == FETCH and (at := following.positions) is not None:
            line, column = at.lineno or 0, target.col_offset if at.col_offset is None else at.col_offset
            if first <= (line, column) <= end:
                found.add(fetch.offset)
    return frozenset(found)


@lru_cache(maxsize=256)
def _write_callee(code: CodeType, offset: int, method: str) -> str:
    """Write the method that an expression calls, as its line does; empty if its class says more than the line."""
    node = expression((code, offset))
    text = written_as(node.func, LONGEST_NAME) if isinstance(node, ast.Call) else ""
    return "" if method == "__init__" or text in (f"self.{method}", f"cls.{method}", "self", "cls") else text


@lru_cache(maxsize=256)
def _list_names_in_expression(statement: ast.stmt) -> tuple[str, ...]:
    """List what the expression of a statement assigns: y, in `if (y := f(x)) > 0`."""
    value = getattr(statement, "value", getattr(statement, "test", None))
    named = [node for node in ast.walk(value) if isinstance(node, ast.NamedExpr)] if value else ()
    return tuple(node.target.id for node in named)


@lru_cache(maxsize=256)
def _list_names_rebound(statement: ast.stmt) -> tuple[str, ...]:
    """List the names whose new values may be computed from their old ones: w, in `w = w - 0.1 * g`."""
    names = dict.fromkeys(names_assigned(statement))
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.AugAssign) or value is None:
        return tuple(names)
    read = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return tuple(name for name in names if name in read)


def _the(call: FunctionCall) -> str:
    return "the lambda" if call.function.co_name == "<lambda>" else call.name


def _describe_call(call: FunctionCall, given: str) -> str:
    if call.function.co_name != "<lambda>":
        return f"{call.name}({given}) is called"
    return f"the lambda is called{' with ' if given else ''}{given}"


def _is_compiled(statement: ast.stmt, code: CodeType) -> bool:
    """Return whether a statement of one line is part of some code."""
    first, begin = statement.lineno, statement.col_offset
    end = statement.end_col_offset or 0 if statement.end_lineno == first else sys.maxsize
    return any(line == first and begin <= (column or 0) < end for line, _, column, _ in code.co_positions())


def _is_around(found: list[ast.stmt], inner: list[ast.stmt]) -> bool:
    """Return whether a `with` statement comes up a second time, when its block is over."""
    return len(found) == 1 and isinstance(found[0], ast.With) and bool(inner) and is_in(inner[0].lineno, found[0].body)


def _report_assignment(at: Frame, statement: ast.stmt) -> str:
    """Report the plain numbers and arrays that a statement has assigned."""
    values = [(name, _plain(at[name])) for name in names_assigned(statement) if name != "_" and at.has(name)]
    if isinstance(statement, ast.For):  # a turn is described by those of its names that can be written
        values = [(name, text) for name, text in values if text]
    if not values or not all(text for _, text in values):
        return ""
    found = [f"{name} = {text}" if isinstance(statement, ast.For) else f"{name} is {text}" for name, text in values]
    return ", ".join(found[:-1]) + (" and " if len(found) > 1 else "") + found[-1]


def _list_numbers(at: Frame, statement: ast.stmt) -> dict[str, Any]:
    """List the plain numbers, and small arrays of them, that an assignment has given names to."""
    assigned = names_assigned(statement) if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) else []
    found = {name: at[name] for name in assigned if at.has(name)}
    return {name: np.array(value) for name, value in found.items() if _plain(value) and np.size(value) <= SMALL}


def _plain(value: Any) -> str:
    """Write a number or an array; return an empty text for anything else."""
    if isinstance(value, _PLAIN) or (type(value) is np.ndarray and value.dtype.kind in "biufc"):
        return spoken_value(np.asarray(value))[:80]
    return ""


def _value(value: Any) -> str:
    return spoken_value(value._array) if isinstance(value, Tensor) else _plain(value)


def _in_brief(value: Any) -> str:
    """Write an argument briefly enough for a readable list: a large array by its size, objects not at all."""
    if isinstance(value, list | tuple | dict):
        return f"{len(value)} {'item' if len(value) == 1 else 'items'}"
    shape: tuple[int, ...] = getattr(value, "shape", ())
    if prod(shape) <= 4 or not _value(value):
        return _value(value)
    return f"{shape[0]} numbers" if len(shape) == 1 else f"{'×'.join(map(str, shape))} array"
