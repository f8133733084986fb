"""Project 28.2: attention by einsum, its causal mask, its gradient by hand, and where its Jacobian is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Function, Recording
from ..milestones import NO_TAPE, Milestone, first_number, needs_gradients

Array = Any
Layer = Callable[..., Any]

Q, K, V = np.random.default_rng(221).normal(size=(3, 5, 6, 3))  # other sizes than the chapter's
G = np.random.default_rng(224).normal(size=V.shape)


def softmax(scores: Array, axis: int = -1) -> Array:
    """Return shares that add up to 1 along an axis."""
    weights = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return weights / np.sum(weights, axis=axis, keepdims=True)


def products(q: Array, k: Array) -> Array:
    """Return the scores before they are divided."""
    return np.einsum("bqd,bkd->bqk", q, k)


def compute_scores(q: Array, k: Array) -> Array:
    """Return the scores."""
    return products(q, k) / np.sqrt(q.shape[-1])


def mix(shares: Array, v: Array) -> Array:
    """Return the mixtures of the values."""
    return np.einsum("bqk,bkd->bqd", shares, v)


def past(scores: Array, diagonal: int = 0) -> Array:
    """Return which tokens each token sees."""
    return np.tri(scores.shape[-1], k=diagonal, dtype=bool)


def by_shares(shares: Callable[[Array, Array], Array]) -> Layer:
    """Return a layer whose shares are computed in the given way from q and k."""
    return lambda q, k, v: mix(shares(q, k), v)


def hide(mask: Callable[[Array], Array]) -> Layer:
    """Return a layer that hides the scores where a mask is false."""
    return by_shares(lambda q, k: softmax(np.where(mask(compute_scores(q, k)), compute_scores(q, k), -np.inf)))


attend = by_shares(lambda q, k: softmax(compute_scores(q, k)))
causal = hide(past)


def cases(name: str, advice: str, large: str, never: str) -> list[Case]:
    """Return what is done with a layer: it gets ordinary numbers, scores of 1000, and a tape."""
    return [
        Case(
            lambda layer: layer(Q, K, V),
            lambda found, wanted: (
                first_number("The first number should be", advice)(found, wanted)
                if np.isfinite(found).all()
                else "The first token sees nothing at all, and 0 / 0 is NaN. It should see itself."
            ),
        ),
        Case(
            # each token's own score is far below 0, where a mask that is just small would win
            lambda layer: layer(-1000.0 * K, K, V),
            lambda found, _: (
                f"Scores of 1000 give wrong mixtures. Nothing may be clipped or replaced.{never}"
                if np.isfinite(found).all()
                else f"Scores of 1000 give NaN. Subtract each row's largest score before exp, as in chapter 12{large}"
            ),
        ),
        Case(lambda layer: needs_gradients(layer.__wrapped__, Q, K, V, written=f"{name}(q, k, v)")),
    ]


SHARES = "It returns the table of shares. Mix the values with it."
AXES = (
    "{raised} `@` takes the last two axes of both. `.T` turns all three axes: to swap only the last two, write "
    "`np.swapaxes(k, 1, 2)`."
)
UNSCALED = "The scores aren't divided by √d."

ATTEND = Function(
    signature="attend(q, k, v)",
    cases=cases(
        "attend", "Take one sentence, print the shares, and see whether each row adds up to 1.", large=".", never=""
    ),
    answer=attend,
    spellings=[lambda q, k, v: softmax(q @ np.swapaxes(k, 1, 2) / np.sqrt(q.shape[-1])) @ v],
    hints=[
        (lambda q, k, v: np.full((*q.shape[:2], q.shape[1]), ...), SHARES),
        (lambda q, k, v: softmax(q @ k.T) @ v, AXES),
        (by_shares(lambda q, k: softmax(products(q, k))), UNSCALED),
        (
            by_shares(lambda q, k: softmax(products(q, k) / q.shape[-1])),
            "The scores are divided by d. It should be its root.",
        ),
        (
            by_shares(lambda q, k: softmax(products(q, k) * np.sqrt(q.shape[-1]))),
            "The scores are multiplied by √d. Divide them.",
        ),
        (
            by_shares(lambda q, k: softmax(products(q, k) / 2.0)),
            "√d was 2 in the chapter. Here d is another: take it from the shape of q.",
        ),
        (
            by_shares(lambda q, k: softmax(products(q, k) / np.sqrt(len(q)))),
            "d is the last axis of q. You took the number of sentences.",
        ),
        (
            by_shares(lambda q, k: softmax(products(q, k) / np.sqrt(q.shape[1]))),
            "d is the last axis of q. You took the number of tokens.",
        ),
        (
            by_shares(lambda q, k: softmax(compute_scores(q, k), axis=1)),
            "The softmax goes along the queries. The shares of one query add up to 1, so take the last axis.",
        ),
        (
            by_shares(lambda q, k: softmax(compute_scores(q, k), axis=0)),
            "The softmax goes along the sentences. The shares of one query add up to 1, so take the last axis.",
        ),
        (lambda q, k, v: attend(k, q, v), "Queries and keys have changed places."),
        (lambda q, k, v: attend(q, v, k), "Keys and values have changed places."),
        (lambda q, k, v: attend(q, k, k), "You mix the keys. Mix the values."),
        (by_shares(compute_scores), "The softmax is missing: these are the bare scores, mixed."),
        (
            by_shares(lambda q, k: np.exp(compute_scores(q, k))),
            "The shares aren't divided by their sum, so they don't add up to 1.",
        ),
        (
            by_shares(lambda q, k: np.swapaxes(softmax(compute_scores(q, k)), 1, 2)),
            "The table of shares is transposed before it mixes.",
        ),
    ],
)

CAUSAL = Function(
    signature="causal(q, k, v)",
    cases=[
        *cases(
            "causal",
            "Print the shares: above the diagonal they are 0, and each row adds up to 1.",
            large=", the largest of those that the token sees: mask the scores first, then take the softmax.",
            never=" A score that is never chosen is -∞, not just small.",
        ),
    ],
    answer=causal,
    hints=[
        (lambda q, k, v: np.full((*q.shape[:2], q.shape[1]), ...), SHARES),
        (lambda q, k, v: softmax(q @ k.T) @ v, AXES),
        (attend, "Nothing is masked: this is `attend`."),
        (
            by_shares(lambda q, k: softmax(compute_scores(q, k)) * past(compute_scores(q, k))),
            "The mask comes after the softmax, so the shares no longer add up to 1. Mask the scores instead.",
        ),
        (
            by_shares(lambda q, k: softmax(compute_scores(q, k) * past(compute_scores(q, k)))),
            "You multiply scores by 0, and exp(0) is 1: the future keeps a share. A score that is never chosen is -∞.",
        ),
        (
            hide(lambda scores: past(scores).T),
            "The mask is the wrong way round: each token sees itself and the future.",
        ),
        (
            hide(lambda scores: past(scores, diagonal=1)),
            "Each token sees the next one, too. The mask's diagonal is one off.",
        ),
        (by_shares(lambda q, k: softmax(np.where(past(compute_scores(q, k)), products(q, k), -np.inf))), UNSCALED),
        (
            lambda q, k, v: np.full(v.shape, np.nan),
            "Everything is NaN, and 0 · ∞ is NaN, too. Choose between the score and -∞ by np.where.",
        ),
    ],
)


def pull_by(through: Callable[[Array, Array, float], Array], shares: Callable[..., Array] = softmax) -> Layer:
    """Return a `pull` whose way through the softmax and the root is the given one."""

    def pull(q: Array, k: Array, v: Array, g: Array) -> Any:
        p = shares(compute_scores(q, k))
        s = through(p, np.einsum("bqd,bkd->bqk", g, v), np.sqrt(q.shape[-1]))
        return mix(s, k), np.einsum("bqk,bqd->bkd", s, q), np.einsum("bqk,bqd->bkd", p, g)

    return pull


def through_softmax(p: Array, g: Array, axis: int = -1) -> Array:
    """Pull the cotangent of shares back to the scores."""
    return p * (g - np.sum(p * g, axis=axis, keepdims=True))


def alone(pull: Layer, place: int) -> Layer:
    """Return one of the three cotangents, and leave the others open."""
    return lambda *given: tuple(part if k == place else ... for k, part in enumerate(pull(*given)))


pull = pull_by(lambda p, g, root: through_softmax(p, g) / root)
pull_causal = pull_by(
    lambda p, g, root: through_softmax(p, g) / root, lambda scores: softmax(np.where(past(scores), scores, -np.inf))
)

OF_CAUSAL = "that's the gradient of `causal`. Take the shares of `attend`, without a mask."
SOFTMAXES: list[tuple[Layer, str]] = [
    (pull_by(lambda p, g, root: through_softmax(p, g)), "the scores were divided by √d, and so is their cotangent."),
    (
        pull_by(lambda p, g, root: p * g / root),
        "the softmax isn't elementwise: each share also depends on the other scores of its row.",
    ),
    (
        pull_by(lambda p, g, root: p * (1 - p) * g / root),
        "p(1 - p) is only the diagonal of the softmax's Jacobian. Where is the rest?",
    ),
    (pull_by(lambda p, g, root: through_softmax(p, g) / root**2), "√d is taken twice."),
    (pull_by(lambda p, g, root: g / root), "the cotangent didn't pass through the softmax."),
    (
        pull_by(lambda p, g, root: -through_softmax(p, g) / root),
        "every sign is the wrong way round. It's `to_p` minus the row's sum, not the reverse.",
    ),
    (
        pull_by(lambda p, g, root: through_softmax(p, g, 1) / root),
        "the sum runs along the queries. The softmax goes along a row: sum over it.",
    ),
    (
        pull_by(lambda p, g, root: through_softmax(p, g, 0) / root),
        "the sum runs along the sentences. The softmax goes along a row: sum over it.",
    ),
    (
        pull_by(lambda p, g, root: p * (g - np.sum(g, axis=-1, keepdims=True)) / root),
        "the sum is taken of the bare cotangents. Multiply them by the shares p first.",
    ),
    (pull_causal, OF_CAUSAL),
]


def skip_transpose(q: Array, k: Array, v: Array, g: Array) -> Array:
    """Return the cotangent of k as if the table of scores needn't be transposed."""
    p, to_p = softmax(compute_scores(q, k)), np.einsum("bqd,bkd->bqk", g, v)
    return mix(through_softmax(p, to_p) / np.sqrt(q.shape[-1]), q)


def reorder(order: str) -> Layer:
    """Return a `pull` with its results in another order."""
    return lambda *given: tuple(pull(*given)["qkv".index(name)] for name in order)


PULL = Recording(
    signature="pull(q, k, v, g)",
    returns=("the cotangent of q", "the cotangent of k", "the cotangent of v"),
    cases=[(Q, K, V, G)],
    answer=pull,
    spellings=[lambda *given: np.array(pull(*given))],
    facts=NO_TAPE,
    hints=[
        *(
            (reorder(order), f"They come in the order {', '.join(order)}. I asked for q, k, v.")
            for order in ("kqv", "vkq", "qvk", "kvq", "vqk")
        ),
        (
            lambda q, k, v, g: (..., ..., mix(softmax(compute_scores(q, k)), g)),
            "For v: p must be transposed: each value collects from all queries.",
        ),
        (lambda q, k, v, g: (..., ..., g), "For v: Each value goes into the mixtures by its shares. Where are they?"),
        (alone(pull_causal, 2), f"For v: {OF_CAUSAL}"),
        (lambda *given: (..., ..., -pull(*given)[2]), "For v: every sign is the wrong way round."),
        *((alone(wrong, 0), f"For q: {hint}") for wrong, hint in SOFTMAXES),
        *((alone(wrong, 1), f"For k: {hint}") for wrong, hint in SOFTMAXES),
        (
            lambda q, k, v, g: (..., skip_transpose(q, k, v, g), ...),
            "For k: the table must be transposed, because each key collects from all queries.",
        ),
    ],
    otherwise="Compare with the tape step by step, backward from g.",
)

X = np.random.default_rng(225).uniform(0.5, 1.5, (4, 3))
MIXING = np.random.default_rng(226).normal(size=(4, 4))
PAST, SIDES = np.tri(4, dtype=bool), np.abs(np.subtract.outer(range(4), range(4))) <= 1


def mix_others(shares: Array) -> Layer:
    """Return a function in which no number depends on the one in its own place."""
    return lambda x: np.tanh(shares @ np.roll(x, 1, axis=1))


def one_needs_one(x: Any) -> Any:
    """Return tokens of which one number needs one of another token."""
    return np.stack([x[:, 0], x[:, 1], x[:, 2] + x[::-1, 1]], axis=1)


def cancel_slopes(x: Any) -> Any:
    """Return tokens whose slopes cancel in the sum of a block."""
    return np.stack([x[0], x[1] - x[1, ::-1] + x[0], x[2] * x[3], x[3, ::-1] - x[3] + x[2]])


def blocks(f: Layer, x: Array) -> Array:
    """Return the Jacobian: output token, its number, input token, its number."""
    return ad.jacobian(f)(x).numpy()


def reach(f: Layer, x: Array) -> Array:
    """Return which blocks of the Jacobian have a slope."""
    return np.abs(blocks(f, x)).sum(axis=(1, 3)) > 1e-12


def table(where: str, f: Layer) -> Case:
    """Return the case of one function, and what is said of a table that isn't its own."""

    def hint(found: Any, right: Any) -> str:
        if np.shape(found) != right.shape:
            return f"For 4 tokens the table has the shape (4, 4). Yours has {np.shape(found)}."
        if not np.isin(found, (0.0, 1.0)).all():
            return "The table should hold True and False. Ask which blocks have a slope other than 0."
        i, j = np.argwhere(found != right)[0]
        return (
            f"Where {where}, your table says {bool(found[i][j])} at [{i}, {j}], and output {i} "
            f"{'has a slope' if right[i, j] else 'has no slope'} with respect to token {j}."
        )

    return Case(lambda reach: reach(f, X.copy()), hint)


CANCEL = "Slopes of both signs cancel in the sum of a block. Take their sizes before you add them up."

REACH = Function(
    signature="reach(f, x)",
    cases=[
        table("each token mixes those before it", mix_others(MIXING * PAST)),
        table("each token mixes its neighbours", mix_others(MIXING * SIDES)),
        table("one number of a token needs one of another", one_needs_one),
        Case(lambda reach: reach(cancel_slopes, X.copy()), CANCEL),
    ],
    answer=reach,
    spellings=[lambda f, x: reach(f, x).astype(int).tolist()],
    hints=[
        (
            lambda f, x: np.full((4, 3, 4, 3), ...),
            "That is the whole Jacobian. Each block of 3 × 3 slopes is one True or False.",
        ),
        (
            lambda f, x: reach(f, x).T,
            "The table is transposed: [i, j] says whether output i has a slope with respect to token j.",
        ),
        (lambda f, x: ~reach(f, x), "True and False have changed places: True says that there is a slope."),
        (lambda f, x: np.abs(blocks(f, x).sum(axis=(1, 3))) > 1e-12, CANCEL),
    ],
)

MILESTONES = (
    Milestone("attend", "`attend(q, k, v)` mixes the values by the softmax of the scaled scores.", ATTEND),
    Milestone("causal", "`causal(q, k, v)` does the same, but no token sees a later one.", CAUSAL),
    Milestone("pull", "`pull(q, k, v, g)` returns the cotangents of q, k and v, without a tape.", PULL),
    Milestone(
        "reach",
        "`reach(f, x)` returns the table that says which output has a slope with respect to which token.",
        REACH,
    ),
)
"""The four milestones of the project."""

WHY = (
    "Run `reach(lambda x: causal(x[None], x[None], x[None])[0], q[0])`, and above the diagonal, everything is False. Now "
    "write the report."
)
