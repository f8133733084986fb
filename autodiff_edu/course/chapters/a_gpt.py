"""The questions of the chapter on a GPT: four that are ill, a head of attention, the shapes of a larger one."""

from __future__ import annotations

from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Choice, Function, Number, Shape, Table
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "Before it has learned anything, the model gives all 27 letters nearly the same chance. What will its loss be, "
        "on average, to one decimal?",
        answer=3.3,
        hints={
            1: "One of 27 chances is 1/27. What is minus its natural logarithm?",
            0: "A loss of 0 would mean that it gives the right letter a chance of 1.",
            27: "The loss is minus the logarithm of a chance of 1/27.",
            4.8: "That is the logarithm to base 2. Take the natural one.",
            1.4: "That is the logarithm to base 10. Take the natural one.",
        },
        why="log 27 = 3.3. The first loss of one name is a little off, because the chances aren't quite equal.",
        within=0.02,
    ),
    Prediction(
        "Five letters go in. What shape is `weights`, the weights of attention?",
        answer=(4, 5, 5),
        hints={
            (5, 5): "Each head has weights of its own. How many heads are there?",
            (4, 5, 4): "A query meets a key in one number. How many keys does each query meet?",
            (5, 5, 4): "The heads come first, so that `@` takes each head by itself.",
            (4, 4, 4): "How many letters go in? The dot that begins the name is one of them.",
            (4, 6, 6): "The last dot only comes out: nothing follows it.",
            (5, 16): "That is the shape of `x`. A weight belongs to a pair of letters, not to one.",
        },
        why="In each of 4 heads, 5 queries meet 5 keys.",
    ),
    Prediction(
        "The cotangent of `letter` has shape (27, 16), a row for each letter. For the name anna, how many of its "
        "rows won't be 0?",
        answer=3,
        hints={
            27: "Only rows that were looked up take part in the loss. Which letters go in?",
            2: "The dot goes in, too: it begins the name.",
            5: "Five letters go in, and some are the same. Where are the contributions to one row added up?",
            6: "Some letters are the same, and the last dot only comes out: it is what should follow.",
        },
        why="Those of the dot, a and n. The rows of a and n get two contributions each.",
    ),
    Prediction(
        "Without the mask, what will become of the loss and of the names?",
        answer="lower loss, worse names",
        choices=("lower loss, better names", "lower loss, worse names", "higher loss, worse names"),
        hints={
            "lower loss, better names": "Place 2 may look at place 3 now. What's the answer that it should guess?",
            "higher loss, worse names": "Each position sees more than before. What does it see there?",
        },
        why="It sees the next letter, which it should guess. When it invents a name, there is none to see yet.",
    ),
    Prediction(
        "At width 1,024, how large will the slopes be without the division, compared with those at width 4?",
        answer="almost 0",
        choices=("almost 0", "about the same", "far larger"),
        hints={
            "about the same": "A score is a sum of 1,024 products now. What does softmax make of a few such scores?",
            "far larger": "The scores are far larger, yes. What does softmax make of scores that lie far apart?",
        },
        why="Large scores lie far apart, so softmax gives one key all the weight, and a small change changes nothing.",
    ),
    Prediction(
        "If all 4,192 parameters start at 0, which of them will have a slope that isn't 0?",
        answer="none",
        choices=("none", "those of `score`", "all"),
        hints={
            "those of `score`": "The slope of `score` is what comes in, times what comes back. What comes in, if the "
            "letters' rows are 0?",
            "all": "Each product's slope has the other factor in it. What are the factors?",
        },
        why="Everything is a product with a 0 on the other side, so every slope is 0, for ever.",
    ),
)

ILL = ("unmasked", "zeros", "score at 0", "dead head", "too slow")


def illness(right: str, **hints: str) -> Choice:
    """Return the form for what is wrong with one model."""
    return Choice(answer=right, choices=ILL, hints={name.replace("_", " "): hint for name, hint in hints.items()})


DIAGNOSIS = Table(
    "Four that are ill",
    """\
Each of four GPTs was trained on the same names, with one of five changes:

- *unmasked*: a letter may look at the letters that follow it;
- *zeros*: all parameters start at 0;
- *score at 0*: only `score` starts at 0;
- *dead head*: in one of the four heads, the four columns of `value` and the four rows of `out` start at 0;
- *too slow*: the learning rate is 0.00001, not 0.01.

Here is what was measured, in no particular order: the loss (one name at turn 0, the mean of the last 20 at 499), and the norm of the slopes of `value`, for each head. Which change does each have? Write the words as strings.

```text
     turn    loss   slopes of value, head 0 to 3
A       0    3.41   0.033   0.039   0.000   0.056
      499    2.44   0.132   0.216   0.000   0.123
B       0    3.30   0.000   0.000   0.000   0.000
      499    2.44   0.115   0.099   0.080   0.104
C       0    3.41   0.032   0.038   0.031   0.056
      499    3.32   0.033   0.030   0.027   0.062
D       0    3.41   0.022   0.021   0.020   0.029
      499    0.30   0.079   0.070   0.022   0.076
```

In a fifth GPT, head 2's rows of `out` start at 0, but its columns of `value` don't. At turn 0, which of the two has a slope in that head? Write `"value"`, `"out"` or `"neither"` under `"fifth"`.""",
    parts={
        "A": illness(
            "dead head",
            unmasked="A's loss falls to what a healthy model reaches, 2.4. Which column is odd?",
            score_at_0="Then all four heads would have the slope 0 at turn 0.",
            zeros="In A, three heads have slopes, and the loss falls. If all started at 0, could it?",
            too_slow="A's loss falls to 2.44, as a healthy one's does. Which column is odd?",
        ),
        "B": illness(
            "score at 0",
            unmasked="2.44 isn't too good to be true. What was 0 at turn 0?",
            zeros="If all were 0, nothing would ever move. B's loss falls to 2.44.",
            dead_head="At turn 499 all four heads of B have slopes.",
            too_slow="B's loss falls to 2.44. What was 0 at turn 0, and isn't at 499?",
        ),
        "C": illness(
            "too slow",
            unmasked="C's loss has hardly moved. Would peeping keep it from learning?",
            score_at_0="Then all four heads would have the slope 0 at turn 0.",
            zeros="C's slopes aren't 0: it's told where to go. So why is it still there?",
            dead_head="All four heads of C have slopes. It's told where to go. So why is it still there?",
        ),
        "D": illness(
            "unmasked",
            score_at_0="Then all four heads would have the slope 0 at turn 0.",
            zeros="D learns better than any model that plays fair could.",
            dead_head="All four heads of D have slopes. Is a loss of 0.30 good news?",
            too_slow="D's loss falls fast, to 0.30. How surely can anybody know the next letter of a name?",
        ),
        "fifth": Choice(
            answer="out",
            choices=("value", "out", "neither"),
            hints={
                "value": "The rows of `out` are a factor of its slope. What are they?",
                "neither": "What `out` gets is weights @ values, and the values aren't 0.",
            },
        ),
    },
    why="A: a head whose value and way out are both 0 gets no slope, ever, and the loss hides it: this model "
    "does just as well without it. B: `score` alone had a slope at first, and one turn later all had. C: slopes, and hardly a step. D: too good to be true. "
    "In the fifth only one of the two factors is 0: it moves first, and frees the other.",
    minutes=8,
)

rng = np.random.default_rng(4)
SCENES = [tuple(rng.normal(size=(n, d)) for _ in range(3)) for n, d in ((3, 4), (5, 4), (4, 9))]


softmax = ad.nn.softmax


def near(n: int, after: int = 0, before: int = 2) -> Any:
    """Return 1 for each pair of letters that may meet: from `before` letters before the one that looks to `after` it."""
    return np.tri(n, k=after) - np.tri(n, k=-before - 1)


def hide(scores: Any, after: int = 0, before: int = 2) -> Any:
    """Return scores that are out of reach where letters mustn't meet."""
    return scores + 1e9 * (near(len(scores), after, before) - 1.0)


def divide(queries: Any) -> Any:
    """Return by what scores are divided."""
    return np.sqrt(float(queries.shape[-1]))


def attend(queries: Any, keys: Any, values: Any) -> Any:
    """Return the right answer."""
    return softmax(hide(queries @ np.transpose(keys) / divide(queries))) @ values


def look_through_a_mask(queries: Any, keys: Any, values: Any) -> Any:
    """Mask after softmax, so that the rows no longer add up to 1."""
    return softmax(queries @ np.transpose(keys) / divide(queries)) * near(len(queries)) @ values


def mask_with_zeros(queries: Any, keys: Any, values: Any) -> Any:
    """Put 0 in place of the scores that are masked."""
    return softmax(queries @ np.transpose(keys) / divide(queries) * near(len(queries))) @ values


def down_the_columns(queries: Any, keys: Any, values: Any) -> Any:
    """Make each column a set of chances."""
    return np.transpose(softmax(np.transpose(hide(queries @ np.transpose(keys) / divide(queries))))) @ values


def slope_at(scene: int) -> Any:
    """Return the case that compares the slopes with respect to all three."""

    def slopes(function: Any) -> Any:
        parts = [ad.constant(each) for each in SCENES[scene]]
        with ad.GradientTape() as tape:
            tape.watch(parts)
            result = np.sum(np.sin(function(*parts)))
        return tape.gradient(result, parts)

    return Case(
        slopes, "The numbers are right, but a slope is lost or wrong. Keep tensors: no .numpy(), no stop_gradient."
    )


HEAD = Function(
    "A head of your own",
    """\
Write one head of attention, as `attend(queries, keys, values)`: three arrays of shape (n, d), a row for each letter. Each row of the result is a mean of the values of its own letter *and of at most two before it*, weighted by softmax of query · key / √d. `softmax` and NumPy are there; d may be any number.""",
    signature="attend(queries, keys, values)",
    cases=[
        *(
            Case(
                lambda f, scene=scene: f(*map(ad.constant, SCENES[scene])),  # type: ignore[misc]
                f"For {len(SCENES[scene][0])} letters and d = {SCENES[scene][0].shape[1]} your numbers differ "
                "from mine. Go through the steps: scores, divided; those that are out of reach; softmax of each row; the mean "
                "of the values.",
            )
            for scene in range(3)
        ),
        slope_at(1),
    ],
    answer=attend,
    spellings=[
        lambda q, k, v: softmax(np.where(near(len(q)) > 0, q @ np.transpose(k) / divide(q), -np.inf)) @ v,
        lambda q, k, v: ad.nn.softmax(hide(np.einsum("id,jd->ij", q, k) / divide(q))) @ v,
    ],
    hints=[
        (
            lambda q, k, v: softmax(q @ np.transpose(k) / divide(q)) @ v,
            "The first letter sees the ones that follow it. Which scores are out of reach?",
        ),
        (
            lambda q, k, v: softmax(hide(q @ np.transpose(k) / divide(q), 0, len(q))) @ v,
            "Your letters look at all that come before them. Mine look at two at most: which scores are out of reach, too?",
        ),
        *(
            (
                lambda q, k, v, before=before: softmax(hide(q @ np.transpose(k) / divide(q), 0, before)) @ v,
                "How many letters before its own does yours look at? Print the mask for five letters, and count.",
            )
            for before in (1, 3)
        ),
        (lambda q, k, v: softmax(hide(q @ np.transpose(k))) @ v, "The scores aren't divided by √d."),
        (
            lambda q, k, v: softmax(hide(q @ np.transpose(k) / 2.0)) @ v,
            "d isn't always 4: divide by the root of the width.",
        ),
        (
            lambda q, k, v: softmax(hide(q @ np.transpose(k) / q.shape[-1])) @ v,
            "You divide by d. By its root, as the chapter does.",
        ),
        (
            look_through_a_mask,
            "You mask the chances, so a row no longer adds up to 1. Mask the scores, before softmax.",
        ),
        (
            mask_with_zeros,
            "A score of 0 is a score like any other: its power is 1. What score has the power 0?",
        ),
        (
            lambda q, k, v: softmax(hide(np.transpose(q @ np.transpose(k)) / divide(q))) @ v,
            "Queries and keys have changed places: row i belongs to the query of letter i.",
        ),
        (
            lambda q, k, v: softmax(hide(k @ np.transpose(q) / divide(q))) @ v,
            "Queries and keys have changed places: row i belongs to the query of letter i.",
        ),
        (down_the_columns, "Each column adds up to 1. The chances of a letter stand in its row: axis −1."),
        (
            lambda q, k, v: softmax(hide(q @ np.transpose(k) / divide(q), 2, 0)) @ v,
            "The mask is upside down: each letter sees what follows it, and nothing before.",
        ),
        (
            lambda q, k, v: softmax(hide(q @ np.transpose(k) / divide(q), -1)) @ v,
            "A letter may look at itself, too. The mask begins one place further to the right.",
        ),
        (
            lambda q, k, v: softmax(hide(q @ np.transpose(k) / divide(q))),
            "Those are the weights. What are they weights of?",
        ),
    ],
    why="Row i belongs to the query of letter i: its weights add up to 1, and only the letters from i − 2 to i have any.",
    minutes=10,
)


def shape_of(name: str, answer: tuple[int, ...], hints: dict[tuple[int, ...], str]) -> Shape:
    """Return the form for the shape of one array."""
    return Shape(
        answer=answer, hints=hints, otherwise=f"For {name}: {{given}} doesn't fit. Follow the sizes through `gpt`."
    )


LARGER = Table(
    "A larger one",
    """\
A GPT is built as this chapter's is, but 32 numbers wide, with 8 heads, and with `up` of shape (32, 128). It reads the name `alexandra`, so it's asked for nine letters and the dot that ends the name.

- `weights`: what shape do the weights of attention have, those of all heads?
- `cotangent`: what shape does the cotangent of `place` have? `place` has a row for each of 16 places.
- `rows`: now the target is only the guess that follows `.ale`. How many rows of that cotangent aren't 0?
- `unmasked`: the same guess, in a model without the mask. How many rows?""",
    parts={
        "weights": shape_of(
            "weights",
            (8, 10, 10),
            {
                (10, 10): "Each head has weights of its own.",
                (8, 9, 9): "The dot that begins the name goes in, too.",
                (8, 10, 4): "A query meets each key in one number. How many keys does it meet?",
                (8, 16, 16): "Only as many places as the name has take part.",
                (8, 11, 11): "The last dot only comes out: nothing follows it.",
            },
        ),
        "cotangent": shape_of(
            "cotangent",
            (16, 32),
            {
                (10, 32): "A cotangent has the shape of its tensor; rows that nobody looked up are 0.",
                (16, 16): "This model is 32 numbers wide.",
                (9, 32): "A cotangent has the shape of its tensor; rows that nobody looked up are 0.",
            },
        ),
        "rows": Number(
            answer=4,
            hints={
                5: "The fifth place holds `x`, which this guess has to find.",
                3: "The dot goes in, too: it has place 0.",
                1: "The guess has looked at the letters before it, too.",
                10: "That guess can't see what follows it. What does the mask do on the way back?",
                9: "That guess can't see what follows it. What does the mask do on the way back?",
                16: "A cotangent has 16 rows. Which places has this guess seen?",
            },
            otherwise="For rows: {given} doesn't fit. Which places has the guess that follows `.ale` seen?",
        ),
        "unmasked": Number(
            answer=10,
            hints={
                4: "Without the mask, what can that guess look at?",
                9: "The dot goes in, too: it has place 0.",
                16: "A cotangent has 16 rows. How many places does the name take?",
            },
            otherwise="For unmasked: {given} doesn't fit. Which places does the guess see if nothing is hidden?",
        ),
    },
    why="Ten letters go in, the dot and nine. A cotangent is always shaped like its tensor, and a guess sends slopes back "
    "only to the places that it has seen.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, DIAGNOSIS, HEAD, LARGER)
