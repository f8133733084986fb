"""Project 22.2: attention by einsum, its causal mask, its gradient by hand, and where its Jacobian is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..feedback import NotYet, call, near, needs_function, numbers, shortened
from ..milestones import Milestone, StillOpen, needs_gradients, reached, without_a_tape

Array = Any


def _drawn(seed: int) -> list[Array]:
    return list(np.random.default_rng(seed).normal(size=(3, 5, 6, 3)))  # other sizes than the chapter's


def _softmax(scores: Array, axis: int = -1) -> Array:
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def _scores(q: Array, k: Array) -> Array:
    return np.einsum("bqd,bkd->bqk", q, k) / np.sqrt(q.shape[-1])


def _mix(shares: Array, v: Array) -> Array:
    return np.einsum("bqk,bkd->bqd", shares, v)


def _result(layer: Any, name: str, *given: Array) -> Array:
    result = call(layer, *given, written=f"{name}(q, k, v)")
    if result is ...:
        raise StillOpen
    values = numbers(result, f"what {name}(q, k, v) returns")
    shape = given[2].shape
    if values.shape == (*shape[:2], shape[1]):
        raise NotYet("It returns the table of shares. Mix the values with it.")
    if values.shape != shape:
        raise NotYet(f"For inputs of shape {shape} the result has the shape {values.shape}. It should be that of v.")
    return values


def _attend(attend: Any, answer: Any) -> None:
    needs_function(attend, "attend(q, k, v)")
    q, k, v = _drawn(221)
    with np.errstate(all="ignore"):
        values = _result(attend, "attend", q, k, v)
    raw, d = np.einsum("bqd,bkd->bqk", q, k), q.shape[-1]
    right = _mix(_softmax(_scores(q, k)), v)
    for wrong, hint in (
        (_mix(_softmax(raw), v), "The scores aren't divided by √d."),
        (_mix(_softmax(raw / d), v), "The scores are divided by d. It should be its root."),
        (_mix(_softmax(raw * np.sqrt(d)), v), "The scores are multiplied by √d. Divide them."),
        (_mix(_softmax(raw / 2.0), v), "√d was 2 in the chapter. Here d is another: take it from the shape of q."),
        (_mix(_softmax(raw / np.sqrt(len(q))), v), "d is the last axis of q. You took the number of sentences."),
        (_mix(_softmax(raw / np.sqrt(q.shape[1])), v), "d is the last axis of q. You took the number of tokens."),
        (
            _mix(_softmax(_scores(q, k), axis=1), v),
            "The softmax goes along the queries. The shares of one query add up to 1, so take the last axis.",
        ),
        (
            _mix(_softmax(_scores(q, k), axis=0), v),
            "The softmax goes along the sentences. The shares of one query add up to 1, so take the last axis.",
        ),
        (_mix(_softmax(_scores(k, q)), v), "Queries and keys have changed places."),
        (_mix(_softmax(_scores(q, v)), k), "Keys and values have changed places."),
        (_mix(_softmax(_scores(q, k)), k), "You mix the keys. Mix the values."),
        (_mix(_scores(q, k), v), "The softmax is missing: these are the bare scores, mixed."),
        (_mix(np.exp(_scores(q, k)), v), "The shares aren't divided by their sum, so they don't add up to 1."),
        (_mix(_softmax(_scores(q, k)).swapaxes(1, 2), v), "The table of shares is transposed before it mixes."),
    ):
        if near(values, wrong):
            raise NotYet(hint)
    if not near(values, right):
        raise NotYet(
            f"The first number should be {right[0, 0, 0]:.6f}, and yours is {values[0, 0, 0]:.6f}. Take one sentence, "
            "print the shares, and see whether each row adds up to 1."
        )
    _large(attend, "attend", np.ones((q.shape[1],) * 2, dtype=bool), k, v)
    needs_gradients(attend, q, k, v, written="attend(q, k, v)")


def _large(layer: Any, name: str, seen: Array, k: Array, v: Array) -> None:
    q = -1000.0 * k  # each token's own score is far below 0, where a mask that is just small would win
    with np.errstate(all="ignore"):
        values = _result(layer, name, q, k, v)
    if not np.isfinite(values).all():
        raise NotYet(
            "Scores of 1000 give NaN. Subtract each row's largest score before exp, as in chapter 10"
            + (
                "."
                if seen.all()
                else ", the largest of those that the token sees: mask the scores first, then take the softmax."
            )
        )
    if not near(values, _mix(_softmax(np.where(seen, _scores(q, k), -np.inf)), v)):
        never = "" if seen.all() else " A score that is never chosen is -∞, not just small."
        raise NotYet(f"Scores of 1000 give wrong mixtures. Nothing may be clipped or replaced.{never}")


def _causal(causal: Any, answer: Any) -> None:
    needs_function(causal, "causal(q, k, v)")
    q, k, v = _drawn(222)
    with np.errstate(all="ignore"):
        values = _result(causal, "causal", q, k, v)
    scores, past = _scores(q, k), np.tri(q.shape[1], dtype=bool)
    right = _mix(_softmax(np.where(past, scores, -np.inf)), v)
    shares = _softmax(scores)
    for wrong, hint in (
        (_mix(shares, v), "Nothing is masked: this is `attend`."),
        (
            _mix(shares * past, v),
            "The mask comes after the softmax, so the shares no longer add up to 1. Mask the scores instead.",
        ),
        (
            _mix(_softmax(scores * past), v),
            "You multiply scores by 0, and exp(0) is 1: the future keeps a share. A score that is never chosen is -∞.",
        ),
        (
            _mix(_softmax(np.where(past.T, scores, -np.inf)), v),
            "The mask is the wrong way round: each token sees itself and the future.",
        ),
        (
            _mix(_softmax(np.where(np.tri(q.shape[1], k=1, dtype=bool), scores, -np.inf)), v),
            "Each token sees the next one, too. The mask's diagonal is one off.",
        ),
        (
            _mix(_softmax(np.einsum("bqd,bkd->bqk", q, k) + np.where(past, 0, -np.inf)), v),
            "The scores aren't divided by √d.",
        ),
    ):
        if near(values, wrong):
            raise NotYet(hint)
    if np.isnan(values).all():
        raise NotYet("Everything is NaN, and 0 · ∞ is NaN, too. Choose between the score and -∞ by np.where.")
    if not np.isfinite(values).all():
        raise NotYet("The first token sees nothing at all, and 0 / 0 is NaN. It should see itself.")
    if not near(values, right):
        raise NotYet(
            "The mixtures aren't right yet. Print the shares: above the diagonal they are 0, and each row adds up to 1."
        )
    _large(causal, "causal", past, k, v)
    needs_gradients(causal, q, k, v, written="causal(q, k, v)")


def _pull(pull: Any, answer: Any) -> None:
    needs_function(pull, "pull(q, k, v, g)")
    q, k, v = _drawn(223)
    g = np.random.default_rng(224).normal(size=v.shape)
    given = without_a_tape(pull, q, k, v, g, written="pull(q, k, v, g)")
    if isinstance(given, np.ndarray) and given.shape == (3, *v.shape):
        given = list(given)
    if not isinstance(given, tuple | list) or len(given) != 3:
        raise NotYet(f"I need three cotangents, those of q, k and v, and got {shortened(given)}.")
    found = [numbers(part, f"the cotangent of {name}") for name, part in zip("qkv", given, strict=True)]
    p, root = _softmax(_scores(q, k)), np.sqrt(q.shape[-1])
    masked = _softmax(np.where(np.tri(q.shape[1], dtype=bool), _scores(q, k), -np.inf))
    to_p = np.einsum("bqd,bkd->bqk", g, v)
    to_scores = _through(p, to_p)
    of_causal = "that's the gradient of `causal`. Take the shares of `attend`, without a mask."
    through_causal = _through(masked, to_p) / root
    known = {
        "v": (
            np.einsum("bqk,bqd->bkd", p, g),
            (
                (np.einsum("bqk,bkd->bqd", p, g), "p must be transposed: each value collects from all queries."),
                (g, "Each value goes into the mixtures by its shares. Where are they?"),
                (np.einsum("bqk,bqd->bkd", masked, g), of_causal),
                (-np.einsum("bqk,bqd->bkd", p, g), "every sign is the wrong way round."),
            ),
        ),
        "q": _wrongs(p, to_p, to_scores, root, lambda s: _mix(s, k), (through_causal, of_causal)),
        "k": _wrongs(p, to_p, to_scores, root, lambda s: np.einsum("bqk,bqd->bkd", s, q), (through_causal, of_causal)),
    }
    for others in ("kqv", "vkq", "qvk", "kvq", "vqk"):
        if all(near(one, known[name][0]) for one, name in zip(found, others, strict=True)):
            raise NotYet(f"They come in the order {', '.join(others)}. I asked for q, k, v.")
    for name in "vqk":
        value, (right, wrongs) = found["qkv".index(name)], known[name]
        if name == "k" and near(value, _mix(to_scores / root, q)):
            raise NotYet("For k: the table must be transposed, because each key collects from all queries.")
        if value.shape != v.shape:
            raise NotYet(f"The cotangent of {name} has the shape {value.shape}. It should be that of {name}.")
        for wrong, hint in wrongs:
            if near(value, wrong):
                raise NotYet(f"For {name}: {hint}")
        if not near(value, right):
            raise NotYet(f"The cotangent of {name} isn't that of the tape. Compare step by step, backward from g.")


def _through(p: Array, to_p: Array, axis: int = -1) -> Array:
    return p * (to_p - (p * to_p).sum(axis=axis, keepdims=True))


def _wrongs(
    p: Array, to_p: Array, to_scores: Array, root: float, on: Callable[[Any], Any], causal: tuple[Array, str]
) -> Any:
    return on(to_scores / root), (
        (on(to_scores), "the scores were divided by √d, and so is their cotangent."),
        (on(p * to_p / root), "the softmax isn't elementwise: each share also depends on the other scores of its row."),
        (on(p * (1 - p) * to_p / root), "p(1 - p) is only the diagonal of the softmax's Jacobian. Where is the rest?"),
        (on(to_scores / root**2), "√d is taken twice."),
        (on(to_p / root), "the cotangent didn't pass through the softmax."),
        (on(-to_scores / root), "every sign is the wrong way round. It's `to_p` minus the row's sum, not the reverse."),
        (on(_through(p, to_p, 1) / root), "the sum runs along the queries. The softmax goes along a row: sum over it."),
        (
            on(_through(p, to_p, 0) / root),
            "the sum runs along the sentences. The softmax goes along a row: sum over it.",
        ),
        (
            on(p * (to_p - to_p.sum(axis=-1, keepdims=True)) / root),
            "the sum is taken of the bare cotangents. Multiply them by the shares p first.",
        ),
        (on(causal[0]), causal[1]),
    )


def _functions() -> dict[str, tuple[Callable[[Any], Any], Array]]:
    mixing = np.random.default_rng(226).normal(size=(4, 4))
    past, sides = np.tri(4, dtype=bool), np.abs(np.subtract.outer(range(4), range(4))) <= 1

    def mixed(shares: Array) -> Callable[[Any], Any]:
        return lambda x: np.tanh(shares @ np.roll(x, 1, axis=1))  # no number depends on the one in its own place

    def cancelling(x: Any) -> Any:
        return np.stack([x[0], x[1] - x[1, ::-1] + x[0], x[2] * x[3], x[3, ::-1] - x[3] + x[2]])

    def one_needs_one(x: Any) -> Any:
        return np.stack([x[:, 0], x[:, 1], x[:, 2] + x[::-1, 1]], axis=1)

    needs = np.zeros((4, 4), dtype=bool)
    needs[[0, 1, 1, 2, 2, 3, 3], [0, 0, 1, 2, 3, 2, 3]] = True
    return {
        "each token mixes those before it": (mixed(mixing * past), past),
        "each token mixes its neighbours": (mixed(mixing * sides), sides),
        "one number of a token needs one of another": (
            one_needs_one,
            np.eye(4, dtype=bool) | np.eye(4, dtype=bool)[::-1],
        ),
        "slopes cancel in their sum": (cancelling, needs),
    }


def _reach(reach: Any, answer: Any) -> None:
    needs_function(reach, "reach(f, x)")
    x = np.random.default_rng(225).uniform(0.5, 1.5, (4, 3))
    for case, (f, right) in _functions().items():
        given = call(reach, f, x, written="reach(f, x)")
        if given is ...:
            raise StillOpen
        values = numbers(given, "what reach(f, x) returns")
        if values.shape == (4, 3, 4, 3):
            raise NotYet("That is the whole Jacobian. Each block of 3 × 3 slopes is one True or False.")
        if values.shape != (4, 4):
            raise NotYet(f"For 4 tokens the table has the shape (4, 4). Yours has {values.shape}.")
        if not np.isin(values, (0.0, 1.0)).all():
            raise NotYet("The table should hold True and False. Ask which blocks have a slope other than 0.")
        if (values == right).all():
            continue
        if (values == right.T).all():
            raise NotYet("The table is transposed: [i, j] says whether output i has a slope with respect to token j.")
        if (values == ~right).all():
            raise NotYet("True and False have changed places: True says that there is a slope.")
        if case == "slopes cancel in their sum":
            raise NotYet("Slopes of both signs cancel in the sum of a block. Take their sizes before you add them up.")
        i, j = np.argwhere(values != right)[0]
        raise NotYet(
            f"Where {case}, your table says {bool(values[i, j])} at [{i}, {j}], and output {i} "
            f"{'has a slope' if right[i, j] else 'has no slope'} with respect to token {j}."
        )


MILESTONES = (
    Milestone("attend", "`attend(q, k, v)` mixes the values by the softmax of the scaled scores.", _attend),
    Milestone("causal", "`causal(q, k, v)` does the same, but no token sees a later one.", _causal),
    Milestone("pull", "`pull(q, k, v, g)` returns the cotangents of q, k and v, without a tape.", _pull),
    Milestone(
        "reach",
        "`reach(f, x)` returns the table that says which output has a slope with respect to which token.",
        _reach,
    ),
)
"""The four milestones of the project."""


def attention(answer: Any) -> str:
    """Check 22.2: attention, its mask, its gradient by hand, and the table of its zero blocks."""
    done = reached(answer, MILESTONES, '{"attend": attend, "causal": causal, ...}')
    return (
        f"{done} Run `reach(lambda x: causal(x[None], x[None], x[None])[0], q[0])`, and above the "
        "diagonal, everything is False. Now write the report."
    )
