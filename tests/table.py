"""How the tests run a case of the table: recorded, as a plain function, and its gradients to second order."""

import inspect
import os
from functools import cache, partial

import numpy as np
import pytest
from cases import TABLE, TOPICS
from differences import draw

import autodiff_edu as ad
from autodiff_edu.core.active import now, only

ONLY = os.environ.get("AUTODIFF_CASE", "")
"""To run a single case, or those whose name contains this, while you work on a rule."""


def takes(case, dtype):
    """Whether the case has a derivative in that dtype, and NumPy computes it there at all."""
    dtype = np.dtype(dtype)
    return (case.half or dtype != np.float16) and not (case.real and dtype.kind == "c")


@cache
def representatives():
    """The names of representative cases: the first of each operation, each argument it pulls back to, each option.

    So are the first of each function that is spelled in others, and every case that fails.
    """
    names, known = set(), set()
    for case in TABLE:
        met = set()
        try:
            with only(*now().listeners, hooks=(partial(collect_spelled, met),)):
                entries = record(case.function, *case.arguments())[0].entries
        except Exception:
            names.add(case.name)
            continue
        for entry in entries:
            met.update((entry.operation, k, *entry.parameters) for k, id in enumerate(entry.ids) if id is not None)
        if not met <= known:
            names.add(case.name)
        known |= met
    return names


def collect_spelled(met, what, *details):
    if what == "Spelled":
        met.add(details[0])


def each(cases, *dtypes, spare=False):
    """Turn a test of one case into one test for each topic of the table, which runs all its cases.

    Tens of thousands of tests take longer to collect and to report than to run. Every case runs, whatever becomes of
    those before it; a failure names its case, and all of them are shown. With dtypes there is a test for each of
    them, which runs the cases that have it. With `spare`, for a test that takes long, only representative cases
    run each time, and the others with `-m exhaustive`.
    """
    groups = [
        pytest.param(part, dtype, id=", ".join(filter(None, [topic, dtype, rest])), marks=marks)
        for dtype in dtypes or (None,)
        for topic, group in by_topic([case for case in cases if dtype is None or takes(case, dtype)]).items()
        for part, rest, marks in parts(group, spare)
    ]

    def together(test):
        def run(group, dtype, **fixtures):
            failures = []
            for case in group:
                if ONLY in case.name:
                    try:
                        test(case, **({"dtype": dtype} if dtype else {}), **fixtures)
                    except Exception as failure:
                        failure.add_note(
                            f"The case: {case.name}. To run it alone: AUTODIFF_CASE='{case.name}' pytest …"
                        )
                        failures.append(failure)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(group)} cases", failures)

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        others = [p for name, p in inspect.signature(test).parameters.items() if name not in ("case", "dtype")]
        taken = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ("group", "dtype")]
        run.__signature__ = inspect.Signature([*taken, *(p.replace(kind=p.KEYWORD_ONLY) for p in others)])
        return pytest.mark.parametrize(("group", "dtype"), groups)(run)

    return together


def parts(cases, spare):
    """Split the cases with `spare` into representative ones and the rest; give a name and marks with each part."""
    if not spare:
        return [(cases, "", ())]
    first = [case for case in cases if case.name in representatives()]
    rest = [case for case in cases if case.name not in representatives()]
    return [part for part in [(first, "", ()), (rest, "the rest", pytest.mark.exhaustive)] if part[0]]


def by_topic(cases):
    """Sort cases by the module that they are written in."""
    chosen = {case.name for case in cases}
    topics = {topic.__name__.rsplit(".", 1)[-1]: [c for c in topic.CASES if c.name in chosen] for topic in TOPICS}
    assert sorted(c.name for group in topics.values() for c in group) == sorted(c.name for c in cases)
    return {name: group for name, group in topics.items() if group}


def record(f, *arrays, persistent=True):
    """Run a function on a tape that watches its arguments; give the tape, the arguments as tensors, and the result."""
    tensors = [ad.constant(a) for a in arrays]
    with ad.GradientTape(persistent=persistent) as tape:
        tape.watch(tensors)
        y = f(*tensors)
    return tape, tensors, y


def plain(case):
    """The case's function on plain arrays: its value alone, whatever path the tape would have taken."""
    return lambda *arguments: case.function(*map(ad.constant, arguments)).numpy()


def seed_of(y, *key):
    return draw(y.shape, "seed", *key, dtype=y.dtype)


def pull_back(case, arguments):
    """The gradients of the case against fixed cotangents; as arrays."""
    tape, tensors, y = record(case.function, *arguments, persistent=False)
    return [g.numpy() for g in tape.gradient(y, tensors, output_gradients=seed_of(y), unconnected_gradients="zero")]


def pull_back_twice(case, arguments):
    """The gradients of the case's gradients, against fixed cotangents; as arrays."""
    tensors = [ad.constant(a) for a in arguments]
    with ad.GradientTape() as outer:
        outer.watch(tensors)
        with ad.GradientTape() as inner:
            inner.watch(tensors)
            y = case.function(*tensors)
        first = inner.gradient(y, tensors, output_gradients=seed_of(y), unconnected_gradients="zero")
    for recorded_too, alone in zip(first, pull_back(case, arguments), strict=True):
        np.testing.assert_allclose(recorded_too.numpy(), alone, 1e-12, 1e-12, err_msg="under an outer tape")
    seeds = [seed_of(g, k) for k, g in enumerate(first)]
    second = outer.gradient(first, tensors, output_gradients=seeds, unconnected_gradients="zero")
    return [g.numpy() for g in second]
