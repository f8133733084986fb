"""What was recorded with some numbers gives what the function gives for others, or refuses: never another number.

Every case of the table, and of `cases.decisions`, is recorded with each transform. Then it gets numbers in another
order, with other signs, ties, zeros or NaN. A trial is one such call.
"""

import traceback
import warnings
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from cases import TABLE, decisions
from differences import draw
from table import ONLY

import autodiff_edu as ad
from autodiff_edu.arrays.structures import flatten

PACKAGE = str(Path(ad.__file__).parent)

# What is computed ----------------------------------------------------------------------------------------------------

TRANSFORMS = {
    "value": lambda f, loss, every, vs, w: f,
    "grad": lambda f, loss, every, vs, w: ad.grad(loss, every),
    "value_and_grad": lambda f, loss, every, vs, w: ad.value_and_grad(loss, every),
    "vjp": lambda f, loss, every, vs, w: lambda *xs: ad.vjp(f, *xs)[1](w),
    "jvp": lambda f, loss, every, vs, w: lambda *xs: ad.jvp(f, xs, vs),
    "linearize": lambda f, loss, every, vs, w: lambda *xs: ad.linearize(f, *xs)[1](*vs),
    "forward Jacobian": lambda f, loss, every, vs, w: ad.jacobian(f, every, mode="forward"),
    "reverse Jacobian": lambda f, loss, every, vs, w: ad.jacobian(f, every, mode="reverse"),
    "hessian": lambda f, loss, every, vs, w: lambda *xs: ad.hessian(loss, every)(*xs).blocks,
    "hvp": lambda f, loss, every, vs, w: lambda *xs: ad.hvp(loss, xs, vs),
    "grad of grad": lambda f, loss, every, vs, w: ad.grad(squares(ad.grad(loss, every)), every),
}
"""Each takes a real function, a loss, the positions of their arguments, directions for those, weights of the result."""


def squares(gradients):
    return lambda *xs: sum(np.sum(g**2) for g in gradients(*xs))


def transformed(transform, function, *given):
    """Apply a transform to a function; other shapes than those of the given arguments raise an error.

    So a file is one for these shapes alone: the weights and directions are not for any number of samples.
    """
    w = draw(np.shape(function(*map(ad.constant, given))), "weights")
    vs = tuple(draw(np.shape(x), "direction", k)[()] for k, x in enumerate(given))

    def real(*xs):
        if [*map(np.shape, xs)] != [*map(np.shape, given)]:
            raise ValueError("the arguments have other shapes than the given ones")
        return np.real(function(*xs))

    every = tuple(range(len(given)))
    return TRANSFORMS[transform](real, lambda *xs: np.sum(w * real(*xs) ** 2), every, vs, w)


# Numbers -------------------------------------------------------------------------------------------------------------


def in_another_order(x, rng, positive):
    return rng.permutation(x) * rng.choice([0.7, 1.3], x.shape)


def with_other_signs(x, rng, positive):
    return in_another_order(x, rng, positive) * (1.0 if positive else rng.choice([-1.0, 1.0], x.shape))


def with_ties(x, rng, positive):
    """Whole numbers: some are alike, and some are 0 unless all must be positive."""
    return np.maximum(np.round(rng.permutation(x)), 1.0 if positive else -np.inf)


def with_nan(x, rng, positive):
    return np.where(np.arange(x.size) == rng.integers(max(x.size, 1)), np.nan, x)


def numbers_of(case, given):
    """Return lists of arguments, the given ones among them; for one case in three, those with ties come first."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    ordered, signed, tied, holed = (
        [change(np.ravel(x), rng, case.positive).reshape(np.shape(x))[()] for x in given]
        for change in (in_another_order, with_other_signs, with_ties, with_nan)
    )
    return [tied, given, ordered, signed, holed] if rng.integers(3) == 0 else [given, ordered, signed, tied, holed]


# What becomes of it --------------------------------------------------------------------------------------------------


def compiled(function, first, path):
    run = ad.compile(function)
    run(*first)
    return run


def saved(function, first, path):
    ad.save(function, path, *first)
    return ad.load(path)


def called(function, first, path):
    function(*map(ad.constant, first))
    return lambda *xs: function(*map(ad.constant, xs))


def unchanged(function):
    return function


WAYS = {
    "compiled": (unchanged, compiled),
    "saved": (unchanged, saved),
    "checkpoint": (ad.checkpoint, called),
    "compiled checkpoint": (ad.checkpoint, compiled),
}
"""What is done with a case's function before it is transformed, and with the transformed one."""

IN_TURN = ["compiled", "saved", "compiled", "checkpoint", "compiled", "compiled checkpoint"]
"""What is done with the cases of the table, which take turns: every way with every case would take too long."""


def outcome(function, *arguments):
    """Return the arrays of a function's result by their paths, or the error that it raises."""
    try:
        return {path: np.asarray(leaf) for path, leaf in flatten(function(*arguments), "result") if leaf is not None}
    except Exception as error:
        return error


def is_refusal(error):
    """Whether this package raised an error or a warning of its own accord, and says more than a word or two."""
    raised = traceback.extract_tb(error.__traceback__)[-1]
    return (
        raised.filename.startswith(PACKAGE)
        and raised.line.startswith(("raise", "warnings.warn"))
        and len(str(error).split()) > 5
    )


def verdict(found, expected):
    """Return "compared", "refused" or "raised too"; or else a sentence that says how an outcome is wrong."""
    if isinstance(found, Exception):
        if type(found) is type(expected):
            return "raised too"
        return "refused" if is_refusal(found) else f"raises {found!r:.200}"
    if isinstance(expected, Exception):
        return f"gives a result where the function raises {expected!r:.200}"
    if found.keys() != expected.keys():
        return f"has {[*found]} where the function has {[*expected]}"
    for path, wanted in expected.items():
        got = found[path]
        if (got.shape, got.dtype) != (wanted.shape, wanted.dtype):
            return f"{path} is {got.dtype} of shape {got.shape}, but {wanted.dtype} of shape {wanted.shape} without"
        top = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1.0)
        for index in np.argwhere(~np.isclose(got, wanted, 1e-9, 1e-9 * top, equal_nan=True)):
            at = tuple(index.tolist())
            return f"{path}{[*at]} is {got[at]}, but {wanted[at]} without"
    return "compared"


RIGHT = ("compared", "refused", "raised too")


def try_ways(case, transform, ways, path):
    """Yield a way and a verdict for each trial of a case."""
    given = [np.asarray(x)[()] for x in case.arguments()]
    functions = {change: transformed(transform, change(case.function), *given) for change in (unchanged, ad.checkpoint)}
    trials = [(xs, outcome(functions[unchanged], *map(ad.constant, xs))) for xs in numbers_of(case, given)]
    if isinstance(trials[0][1], Exception):
        trials.append(trials.pop(0))
    for way in ways:
        change, record = WAYS[way]
        try:
            run = record(functions[change], trials[0][0], path)
        except Exception as error:
            for _, expected in trials[1:]:
                yield way, verdict(error, expected)
            continue
        for xs, expected in trials[1:]:
            yield way, verdict(outcome(run, *xs), expected)


def followed(function, *given):
    """Call a function under a tape; return the tape, all results and arguments in one array, and the arguments."""
    sources = [ad.constant(x) for x in given]
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        leaves = flatten((function(*sources), sources), "")
        all_together = np.concatenate([np.ravel(leaf) for _, leaf in leaves])
    return tape, all_together, sources


def by_tape(function, *given):
    tape, target, sources = followed(function, *given)
    return [target, tape.gradient(target, sources)]


def by_code(function, *given):
    tape, target, sources = followed(function, *given)
    code = tape.code(target, sources)
    exec(str(code), names := code.namespace)
    return [names["all_together"], names["gradient"]]


# The trials ----------------------------------------------------------------------------------------------------------

PARTS = ["some", pytest.param("all", marks=pytest.mark.exhaustive)]

LEAST = {
    "some": {"compiled": 60, "saved": 4, "checkpoint": 20, "compiled checkpoint": 12, "code": 12},
    "all": {"compiled": 2000, "saved": 400, "checkpoint": 900, "compiled checkpoint": 700, "code": 400},
}
"""How many trials of each way are compared with each transform, at least: too many refusals are a fault too."""


def cases_of(part, transform):
    """Yield each case of a part that is tried with a transform, and the number of its turn."""
    number = [*TRANSFORMS].index(transform)
    cases = [*decisions.CASES, *TABLE] if part == "all" else [*decisions.CASES, *TABLE[::3]]
    for k, case in enumerate(cases, number):
        if ONLY in case.name:
            if part == "all" or ONLY:
                yield k, case
            elif k % len(TRANSFORMS) == 0:
                yield k // len(TRANSFORMS), case


@pytest.fixture(autouse=True)
def quiet():
    """Silence NumPy, and make a warning of the package an error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", UserWarning)
        yield


def assert_right(verdicts, part):
    """Check that every trial is right or refused, and that enough of them are compared in each way."""
    tally = Counter((way, verdict if verdict in RIGHT else "wrong") for _, way, verdict in verdicts)
    wrong = [f"{name}, {way}: {verdict}" for name, way, verdict in verdicts if verdict not in RIGHT]
    head = (
        f"{len(wrong)} of {tally.total()} trials are wrong, {dict(tally)}; AUTODIFF_CASE='name' pytest … tries one case"
    )
    assert not wrong, "\n".join([head, *wrong])
    for way in {way for _, way, _ in verdicts}:
        assert ONLY or tally[way, "compared"] >= LEAST[part][way], dict(tally)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_what_was_recorded_is_right_for_other_numbers_or_refuses_them(transform, part, path):
    verdicts = []
    for turn, case in cases_of(part, transform):
        every_way = ONLY or (part == "all" and case in decisions.CASES)
        ways = [*WAYS] if every_way else [IN_TURN[turn % len(IN_TURN)]]
        verdicts += [(case.name, *found) for found in try_ways(case, transform, ways, path)]
    assert_right(verdicts, part)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_code_of_a_tape_gives_what_the_tape_gives(transform, part):
    verdicts = []
    for turn, case in cases_of(part, transform):
        given = [np.asarray(x)[()] for x in case.arguments()]
        function = transformed(transform, case.function, *given)
        for xs in numbers_of(case, given) if turn % 12 == 0 else ():
            verdicts.append((case.name, "code", verdict(*(outcome(by, function, *xs) for by in (by_code, by_tape)))))
    assert_right(verdicts, part)


def test_what_keeps_the_first_numbers_or_fails_in_words_of_numpy_is_found(monkeypatch, path):
    def kept(function, first, path):
        return lambda *xs: function(*map(ad.constant, first))

    def failing(function, first, path):
        return lambda *xs: np.reshape(xs[0], (7, 7))

    monkeypatch.setitem(WAYS, "kept", (unchanged, kept))
    monkeypatch.setitem(WAYS, "failing", (unchanged, failing))
    case = next(case for case in decisions.CASES if case.name == "sort of squares")
    for transform in TRANSFORMS:
        verdicts = [verdict for _, verdict in try_ways(case, transform, ["kept", "failing"], path)]
        assert len(verdicts) == 8
        assert not {*verdicts} & {*RIGHT}
