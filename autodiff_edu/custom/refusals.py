"""What a checkpointed function must not do, because it runs twice: how that is noticed, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.active import Listener
from ..core.events import Assign
from ..core.tape import Tape
from ..core.variable import Variable
from ..text.frames import Where, here
from ..text.functions import spoken
from ..text.places import place
from .arguments import reads_once
from .draws import generators_of, set_state, state_of


def check_result(f: Callable[..., Any], result: list[tuple[str, Any]]) -> None:
    """Raise a TypeError if a part of the result is computed only when it is read, like that of a generator."""
    for path, leaf in result:
        if reads_once(leaf):
            raise TypeError(
                f"{path} of {spoken(f)} is a {type(leaf).__name__}, which computes nothing before it is read, so "
                "ad.checkpoint would save nothing. Return the tensors themselves, for example in a list"
            )


def check_tapes(name: str, tapes: list[Tape], began: int, watched: list[int]) -> None:
    """Raise a RuntimeError if a tape was reset or asked to watch since a call began; `watched` counts what it watched.

    In the second run, the tape no longer records.
    """
    for tape, count in zip(tapes, watched, strict=True):
        reset = next((mark for mark in tape.life if mark[0] > began and mark[1] == "reset"), None)
        if reset or len(tape.watched) != count:
            where = reset[2] if reset else [*tape.watched.values()][-1][1]
            raise RuntimeError(
                f"{place(where)}: {name} calls {'reset' if reset else 'watch'} of a tape around it, but ad.checkpoint "
                f"runs {name} again in the backward pass, when that tape no longer records. Call it outside {name}"
            )


def refuse_assignment(name: str, began: int) -> Listener:
    """Return a listener that raises an error if a variable older than the run is assigned to."""

    def refuse(event: Assign) -> None:
        if event.variable._id < began:
            as_it_was = Variable(event.before, name=event.variable.name)
            raise RuntimeError(
                f"{place(here())}: {name} assigns to {as_it_was!r:.60}, but ad.checkpoint runs {name} again in the "
                f"backward pass, which would assign twice. Return the new value from {name}, and assign it outside"
            )

    return Listener({Assign: refuse})


def add_hint(error: Exception, name: str) -> None:
    """Add to an error from inside a checkpointed function what the checkpoint has to do with it, if it has."""
    if isinstance(error, ValueError) and "read-only" in str(error):
        error.add_note(
            f"ad.checkpoint passes arrays to {name} as read-only copies, because {name} runs again in the backward "
            "pass. To write into one, copy it first: a = a.copy()"
        )
    if str(error).startswith("this tape"):
        error.add_note(
            f"While {name} runs under ad.checkpoint, the tapes around it do not record. Call their methods outside "
            f"{name}, or open a tape inside it"
        )


def differs(name: str, where: Where) -> ValueError:
    """Build the error for a second run with another result."""
    return ValueError(
        f"{name}, called at {place(where)}, returned different numbers when it ran again for the derivative, so "
        f"ad.checkpoint cannot be used with it. If it draws random numbers, draw them outside and pass them to {name}; "
        "if it reads an array or an object that has changed since, pass that too"
    )


class Draws:
    """The states of the random number generators that a function can reach, after one run or before another."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.states = [(generator, state_of(generator)) for generator in generators_of(function, *arguments)]

    def check(self, first: Draws, name: str, where: Where) -> None:
        """Put the generators back; raise a ValueError if the function drew other numbers, even without a difference.

        A function that sets a generator's state itself leaves it where its `first` run did: it drew the same numbers.
        """
        ends = {id(generator): state for generator, state in first.states}
        for generator, before in self.states:
            if (after := state_of(generator)) == before:
                continue
            set_state(generator, before)
            if after != ends.get(id(generator)):
                raise ValueError(
                    f"{name}, called at {place(where)}, drew other random numbers when it ran again for the "
                    f"derivative, so ad.checkpoint cannot be used with it. Draw them outside, and pass them to {name}"
                )
