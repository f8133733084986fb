"""The questions of chapter 10, several tapes: four games with a fault, one tape for two players, which records what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Choice, Exercise, Function, Table, record
from ..feedback import NotYet, near, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "`tape0` watches x0 and `tape1` watches x1. Which of s, e, sigmoid and total will `tape1` record?",
        answer="e, sigmoid and total",
        choices=("e and sigmoid", "e, sigmoid and total", "all four"),
        hints={
            "e and sigmoid": "What are the inputs of the last line? Can any of them be traced back to x1?",
            "all four": "Does `s = np.sin(x0)` use anything that tape1 follows?",
        },
        why="All but the sine. The sum follows from x1, too.",
    ),
    Prediction(
        "What will `tape0.gradient(total, [x0, x1])` return?",
        answer="[1, None]",
        choices=("[1, 0.25]", "[1, None]", "[1, 0]", "an error"),
        hints={
            "[1, 0.25]": "0.25 is what tape1 knows. The two don't talk to each other.",
            "[1, 0]": "0 would mean that it found a path, and that it's flat there. Has tape0 written down a path to x1?",
            "an error": "Nobody asked for an error if a path is missing.",
        },
        why="It never watched x1, so it recorded nothing that leads there.",
    ),
    Prediction(
        "`z = x**2 + y` and `m = y + y**2 + x` run under two tapes, and nobody calls `watch`. Which lines does `tape_z` "
        "record?",
        answer="both lines",
        choices=("the line of z", "both lines", "neither line"),
        hints={
            "the line of z": "How would the tape know that you'll only ask it about z?",
            "neither line": "x and y are trainable variables. What does a tape do when your code computes with one?",
        },
        why="Both tapes watch x and y as soon as they're used, and a tape's name means nothing to it.",
    ),
    Prediction(
        "What will `hers` return for the gradients of her loss?",
        answer="None, three times",
        choices=("the right slopes", "None, three times", "zeros", "an error"),
        hints={
            "the right slopes": "Which tape watches her parameters?",
            "zeros": "Zero is an answer. What does this tape know?",
            "an error": "A path that is missing raises no error unless you ask for one.",
        },
        why="`his` watches all five, and `hers` watches nothing.",
    ),
    Prediction(
        "Once the forger plays perfectly, what chance of being genuine will she give his coins?",
        answer=0.5,
        hints={
            1: "She'd give genuine coins of the same weight a chance of 1, too, and be wrong about every forged one. Her "
            "loss would drive her away from that.",
            0: "Then his loss would be large, and he would still be learning.",
            50: "Write the chance as a number between 0 and 1.",
            1.5: "A chance lies between 0 and 1.",
        },
        why="If forged and genuine coins look the same, she can only guess.",
        within=0.03,
    ),
    Prediction(
        "With `forgets=0.0` she is free to judge as sharply as she can. When will his coins settle at the goal?",
        answer="much later",
        choices=("sooner", "at about the same turn", "much later"),
        hints={
            "sooner": "A sharper inspector drives him faster. Does that help him to *stop* at the goal? At turn 60 he had "
            "gone past it even with the penalty.",
            "at about the same turn": "Her ratings are what drives him. What happens to them if nothing pulls them back "
            "to 0?",
        },
        why="She drives him faster, and he overshoots. Her forgetting is the brake.",
    ),
    Prediction(
        "If all five parameters follow the sum of the two losses, where will it end?",
        answer="below 2.08, with bad coins",
        choices=("below 2.08, with bad coins", "at 2.08, with the same coins", "above 2.08, with bad coins"),
        hints={
            "at 2.08, with the same coins": "In the game, each parameter followed one loss alone. Now her loss moves his "
            "parameters, too.",
            "above 2.08, with bad coins": "All five go downhill on it now. Why should it end higher?",
        },
        why="Now both want the same: he makes it easy for her to tell his coins from genuine ones.",
    ),
    Prediction(
        "In the next cell, both losses are computed from coins behind the cut. What slopes will *his* loss bring to his two "
        "parameters?",
        answer="None, twice",
        choices=("the same as without the cut", "None, twice", "zeros, twice"),
        hints={
            "the same as without the cut": "By what path would a walk get from his loss to his parameters? What stands in "
            "its way?",
            "zeros, twice": "Zero is an answer. Does any walk get to his parameters?",
        },
        why="The cut was meant for her loss, but every path to his parameters leads through it.",
    ),
)

FAULTS = ("cut", "unwatched", "shared", "bribed")


def fault(right: str, **hints: str) -> Choice:
    """Return the form for the fault of one log."""
    return Choice(answer=right, choices=FAULTS, hints=hints)


FOUR_GAMES = Table(
    "Four games that went wrong",
    """\
Each of four programs plays the game of this chapter, with one fault. Where a slope is `None`, they take no step.

- *cut*: the coins are cut with `stop_gradient` before they are rated, once for both losses;
- *unwatched*: her tape watches nothing;
- *shared*: all five parameters follow the sum of both losses;
- *bribed*: his parameters follow his loss, and hers follow the sum of both.

None of the programs complained. Here are their logs, in the wrong order. Which fault does each game have? Write the words as strings.

```text
            turn 0          turn 10         turn 50
A   coins   10.00 +- 1.00   10.29 +- 1.31   11.43 +- 0.79
    losses  his 0.69        his 0.53        his 0.37
            hers 1.39       hers 1.33       hers 1.58
B   coins   10.00 +- 1.00   10.00 +- 1.00   10.00 +- 1.00
    losses  his 0.69        his 0.69        his 0.69
            hers 1.39       hers 1.39       hers 1.39
C   coins   10.00 +- 1.00    9.77 +- 0.46    9.59 +- 0.11
    losses  his 0.69        his 0.61        his 0.65
            hers 1.39       hers 1.00       hers 0.93
D   coins   10.00 +- 1.00   10.00 +- 1.00   10.00 +- 1.00
    losses  his 0.69        his 0.89        his 1.03
            hers 1.39       hers 1.04       hers 1.03
```""",
    parts={
        "A": fault(
            "bribed",
            cut="In A the coins move, so some slope gets to his parameters.",
            unwatched="In A, his coins are rated better and better while they move. If she never moved, would she rate "
            "any coin above another?",
            shared="If all followed the sum, it would keep falling. In A it goes from 2.08 to 1.86, and up again to "
            "1.95. Which of the two losses keeps falling?",
        ),
        "B": fault(
            "unwatched",
            cut="If only his slopes were lost, she would still learn. In B nothing moves at all.",
            shared="In B nothing moves at all. Which fault stops her, and what does he gain by moving if she rates all "
            "coins 0?",
            bribed="In B nothing moves at all. Which fault stops her, and what does he gain by moving if she rates all "
            "coins 0?",
        ),
        "C": fault(
            "shared",
            cut="In C the coins move, so some slope gets to his parameters.",
            unwatched="In C her loss falls from 1.39 to 0.93. With ratings of 0 for every coin it would stay.",
            bribed="If she worked for him, her ratings of his coins would rise, and his loss would fall by a lot. In C "
            "he moves away from 11.5, for the sake of whose loss?",
        ),
        "D": fault(
            "cut",
            unwatched="In D her loss falls although no coin moves. So who learns?",
            shared="In D no coin moves. Where would the slopes of the sum be lost on their way to him?",
            bribed="In D no coin moves, and his loss rises. Would she do that if she followed it?",
        ),
    },
    hints=[
        (
            {"B": "cut", "D": "unwatched"},
            "B and D have changed places. In one of them she learns and he doesn't; in the other nobody does.",
        ),
        (
            {"A": "shared", "C": "bribed"},
            "A and C have changed places. Add up the two losses at each turn: in which game does the sum keep falling?",
        ),
    ],
    why="A: she works for him. B: as long as she rates every coin 0, he gains nothing by moving. C: they conspire. D: she "
    "learns, and he never hears of it. And B shows the very losses of a finished game.",
    minutes=8,
)

stop = ad.stop_gradient
Loss = Callable[[Any, Any], Any]
X, Y = ad.constant([0.7, -1.2]), ad.constant([1.9, 0.4])


def his_loss(x: Any, y: Any) -> Any:
    """Return what the first player wants to be small."""
    return np.sum(x * x * y) + np.sum(np.exp(0.5 * y))


def her_loss(x: Any, y: Any) -> Any:
    """Return what the second player wants to be small."""
    return np.sum(np.sin(x) * y * y)


def slopes_of(function: Callable[..., Any]) -> list[Any]:
    """Return the gradients of what a learner's function returns, with respect to both sources."""
    result, tape = record(lambda x, y: function(his_loss, her_loss, x, y), X, Y)
    slopes: list[Any] = tape.gradient(result, [X, Y])
    return slopes


def explain_slopes(found: Any, wanted: Any) -> str:
    """Return the hint for slopes that are wrong in a way that has no hint of its own."""
    said = []
    for name, loss, each, right in zip("xy", ("his", "her"), found, wanted, strict=True):
        if each is None:
            said.append(f"{name} hears nothing. In {loss} loss, it should stay connected.")
        elif not near(each, right):
            said.append(f"{name} should hear of {loss} loss, and of that alone.")
    return " ".join(["The sum is right.", *said])


def cut_as(his: Callable[[Any, Any], tuple[Any, Any]], hers: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
    """Return a function that adds the losses, each computed from what these make of the sources."""
    return lambda one, other, x, y: one(*his(x, y)) + other(*hers(x, y))


def whole(x: Any, y: Any) -> tuple[Any, Any]:
    """Return both as they are."""
    return x, y


def keep_x(x: Any, y: Any) -> tuple[Any, Any]:
    """Return x, and y cut."""
    return x, stop(y)


def keep_y(x: Any, y: Any) -> tuple[Any, Any]:
    """Return x cut, and y."""
    return stop(x), y


def keep_none(x: Any, y: Any) -> tuple[Any, Any]:
    """Return both cut."""
    return stop(x), stop(y)


def pauses_its_own(one: Loss, other: Loss, x: Any, y: Any) -> Any:
    """Pause a tape that is not recording, which is refused."""
    with ad.GradientTape().stop_recording():
        return one(x, y) + other(x, y)


def pauses_none(*args: Any) -> Any:
    """Raise what a function raises that pauses a tape it doesn't have."""
    raise NameError("name 'tape' is not defined")


def return_slopes(one: Loss, other: Loss, x: Any, y: Any) -> Any:
    """Return the two slopes from tapes of their own, in place of the sum."""
    with ad.GradientTape() as his, ad.GradientTape() as hers:
        his.watch(x)
        hers.watch(y)
        first, second = one(x, y), other(x, y)
    return his.gradient(first, x), hers.gradient(second, y)


ASKED_OUTSIDE = (
    "Those are the two slopes. Return the sum of the losses; the one tape outside will be asked for the slopes."
)
TWO_NUMBERS = "Return one number, the sum of the two losses."
NO_TAPE = "Your function isn't given the tape, so it can't pause it. A cut needs no tape (chapter 9)."
FOR_BOTH = Function(
    "One tape for two players",
    """\
Two players share one tape. He moves `x` and wants `his_loss(x, y)` to be small; she moves `y` and wants `her_loss(x, y)` to be small. The tape watches both and is asked once, for `gradient(result, [x, y])`. Repair `for_both`, so that this brings the slope of *his* loss to `x` and that of *her* loss to `y`. The result must still be the sum of the two losses.""",
    signature="for_both(his_loss, her_loss, x, y)",
    cases=[
        Case(
            lambda f: record(lambda x, y: f(his_loss, her_loss, x, y), X, Y)[0],
            "The result is {given}, and the sum of the two losses is {answer}. Keep the sum: a cut changes no value.",
        ),
        Case(slopes_of, explain_slopes),
    ],
    answer=cut_as(keep_x, keep_y),
    spellings=[
        lambda one, other, x, y: one(x, y.numpy()) + other(x.numpy(), y),
        lambda one, other, x, y: other(stop(x), y) + one(x, stop(y)),
    ],
    hints=[
        (
            cut_as(whole, whole),
            "The sum is right, but each source hears of both losses: this is the shared loss. In his loss, which of the "
            "two should stand still?",
        ),
        (
            cut_as(keep_y, keep_x),
            "The wrong ones stand still: each source hears of the opponent's loss alone. In his loss, x should stay "
            "connected.",
        ),
        (
            cut_as(keep_x, whole),
            "y hears of her loss alone, as it should. But x still hears of both. What should stand still in her loss?",
        ),
        (
            cut_as(whole, keep_y),
            "x hears of his loss alone, as it should. But y still hears of both. What should stand still in his loss?",
        ),
        (cut_as(keep_y, whole), "Now x hears of her loss alone. In his loss, x is the one that should stay connected."),
        (cut_as(whole, keep_x), "Now y hears of his loss alone. In her loss, y is the one that should stay connected."),
        (
            cut_as(keep_y, keep_y),
            "x hears nothing: it is cut in both losses. In which loss should it stay connected?",
        ),
        (
            cut_as(keep_x, keep_x),
            "y hears nothing: it is cut in both losses. In which loss should it stay connected?",
        ),
        (
            cut_as(keep_none, keep_none),
            "Nothing is connected any more: both slopes are None. In each loss, cut one source and leave the other.",
        ),
        (
            lambda one, other, x, y: stop(one(x, y)) + other(x, y),
            "You cut a whole loss, so nobody hears of his. Cut what goes into a loss, and only one part of it.",
        ),
        (
            lambda one, other, x, y: one(x, y) + stop(other(x, y)),
            "You cut a whole loss, so nobody hears of hers. Cut what goes into a loss, and only one part of it.",
        ),
        (pauses_its_own, NO_TAPE),
        (pauses_none, NO_TAPE),
        (lambda one, other, x, y: (one(x, stop(y)), other(stop(x), y)), TWO_NUMBERS),
        (lambda one, other, x, y: [one(x, stop(y)), other(stop(x), y)], TWO_NUMBERS),
        (lambda one, other, x, y: (one(x, y), other(x, y)), TWO_NUMBERS),
        (return_slopes, ASKED_OUTSIDE),
        (lambda *args: list(return_slopes(*args)), ASKED_OUTSIDE),
    ],
    why="Each source is reached from one loss only, so one walk does what two tapes would. In each loss, the opponent "
    "stands still.",
    minutes=8,
)


@dataclass(frozen=True, eq=False)
class Lines(Exercise):
    """A set of names of lines; each of the `hints` is for a set that has one line too many or too few."""

    def read(self, given: Any, name: str = "your answer") -> frozenset[str]:
        """Return the set."""
        if isinstance(given, str):
            given = list(given.replace(",", "").replace(" ", ""))
        if not isinstance(given, set | frozenset | list | tuple):
            raise NotYet(f'For {name} I need a set of names, as in {{"p", "q"}}, and got {shorten(given)}.')
        if ... in given:
            raise NotYet(f"Replace the three dots: which lines does {name} record?")
        given = [line.strip().lower() if isinstance(line, str) else line for line in given]
        if unknown := [line for line in given if line not in ("p", "q", "r", "s", "t")]:
            raise NotYet(f"For {name} you name {shorten(unknown[0])}. The lines are p, q, r, s and t.")
        return frozenset(given)

    def lead_on(self, given: Any, seen: Any, right: Any, name: str) -> str:
        """Return the hint of the first line by which the sets differ."""
        return next(hint for wrong, hint in self.hints if (self.read(wrong) ^ right) <= (seen ^ right))


def lines(right: str, hints: dict[str, str]) -> Lines:
    """Return the form for the lines that one tape records, with a hint for each line that is wrongly in or out."""
    return Lines(answer=set(right), hints=[(set(right) ^ {line}, hint) for line, hint in hints.items()])


LANES = Table(
    "Which lane records what?",
    """\
Without running it: which of the lines `p`, `q`, `r`, `s` and `t` does each tape record? Each line is one operation. Write the names as strings.

```python
x, y = ad.constant(2.0), ad.Variable(3.0)
with ad.GradientTape() as first, ad.GradientTape(watch_accessed_variables=False) as second:
    second.watch(x)
    p = x * x
    q = y * 3.0
    with first.stop_recording():
        r = q + p
    s = r * y
    t = np.sin(r)
```""",
    parts={
        "first": lines(
            "qs",
            {
                "p": "`p = x * x` uses x alone, a constant that `first` was never asked to watch.",
                "q": "`q = y * 3.0` reads y. `first` watches trainable variables by itself.",
                "r": "`first` is paused while r is computed.",
                "t": "r was computed while `first` was paused, so r is a constant to it. And t uses nothing but r.",
                "s": "To `first`, r is a constant, but `s = r * y` uses y too, and y is watched.",
            },
        ),
        "second": lines(
            "prst",
            {
                "q": "`q = y * 3.0` reads y. But `second` does not watch variables by itself; it watches x alone.",
                "p": "`p = x * x` uses x, and `second` was asked to watch it.",
                "r": "A pause concerns one tape. `first` was paused while r was computed, and `second` was not.",
                "s": "s uses r, r uses p, and p uses x: `second` follows that chain.",
                "t": "t uses r, and `second` has recorded r.",
            },
        ),
    },
    hints=[
        (
            {"first": set("prst"), "second": set("qs")},
            "The two tapes have changed places. Which of them watches x, and which watches y?",
        )
    ],
    why="`first`: q and s. `second`: p, r, s and t. Only s is in both, because of y in the one and of r in the other.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, FOUR_GAMES, FOR_BOTH, LANES)
