"""Accounts for everything in `np`, `np.linalg` and `np.fft`: why the functions without a rule have none.

The tables use names as you would write them, because not every NumPy version has every function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core.composites import SPELLED
from ..core.entry import Entry
from ..core.rule import RULES
from ..text.functions import written_name

_MEETING = "where two elements meet, the number of results jumps", "Use np.sort, and select what you need with an index"
_BINS = "counts are whole numbers, which have no derivative", "Compute bin edges with np.linspace"
_OLD = "it belongs to NumPy's old polynomials"
_WRITES = "it writes into an array, but a tape may still need the old elements"
_MASK = "Build a new one, for example y = np.where(mask, value, x)"

REFUSED: dict[str, tuple[str, str]] = {
    **dict.fromkeys([f"np.unique{_}" for _ in ("", "_all", "_counts", "_inverse", "_values")], _MEETING),
    **dict.fromkeys(["np.union1d", "np.intersect1d", "np.setdiff1d", "np.setxor1d"], _MEETING),
    **dict.fromkeys(["np.histogram", "np.histogram2d", "np.histogramdd", "np.histogram_bin_edges"], _BINS),
    "np.bincount": ("it returns whole numbers", "Write weights @ (x[:, None] == np.arange(n)) for sums of weights"),
    "np.roots": (
        "where two roots meet, they have no derivative",
        "Write np.linalg.eigvals(np.vstack([-p[1:] / p[0], np.eye(len(p) - 2, len(p) - 1)]))",
    ),
    "np.poly": (_OLD, "Multiply the factors [1.0, -root] with np.convolve"),
    "np.polyadd": (_OLD, "Write p + q, padding the shorter one with np.pad"),
    "np.polysub": (_OLD, "Write p - q, padding the shorter one with np.pad"),
    "np.polymul": (_OLD, "Write np.convolve(p, q)"),
    "np.polydiv": (_OLD, "Divide the values: np.polyval(p, x) / np.polyval(q, x)"),
    "np.polyder": (_OLD, "Write p[:-1] * np.arange(len(p) - 1, 0, -1)"),
    "np.polyint": (_OLD, "Write np.append(p / np.arange(len(p), 0, -1), 0.0)"),
    "np.polyfit": (_OLD, "Write np.linalg.lstsq(np.vander(x, degree + 1), y)[0]"),
    "np.kaiser": ("it takes beta as a plain number", "Write np.i0(beta * np.sqrt(1 - t * t)) / np.i0(beta)"),
    "np.sort_complex": ("it is np.sort with a complex result", "Write np.sort(x).astype(complex)"),
    "np.row_stack": ("it is an old name of np.vstack", "Write np.vstack(arrays)"),
    "np.trapz": ("it is an old name of np.trapezoid", "Write np.trapezoid(y)"),
    "np.modf": (
        "it is a ufunc with two results, but a tape records only ufuncs with one",
        "Write np.fmod(x, 1) and np.trunc(x)",
    ),
    "np.frexp": (
        "it is a ufunc with two results, but a tape records only ufuncs with one",
        "Write n = np.floor(np.log2(np.abs(x))) + 1 and x / 2**n",
    ),
    "np.copyto": (
        "np.full and np.copyto write a tensor's values into a plain array",
        "Use np.broadcast_to(x, shape)",
    ),
    **dict.fromkeys(["np.put", "np.place", "np.putmask"], (_WRITES, _MASK)),
    **dict.fromkeys(["np.put_along_axis", "np.fill_diagonal"], (_WRITES, _MASK)),
}
"""Functions without a rule, with the reason and what to write instead; `no_rule` and `refuse` report both."""

AT_ONCE: set[Any] = {
    np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal, np.copyto, np.modf, np.frexp,
}  # fmt: skip
"""Functions that cannot even be computed on tensors. The others can, and the tape names the missing rule when asked."""


def _parse_names(names: str) -> set[str]:
    return {f"np.{name}" for name in names.split()}


WHOLE = _parse_names("""
    allclose argwhere array_equal array_equiv bitwise_count bitwise_left_shift bitwise_right_shift flatnonzero gcd
    in1d iscomplexobj isin isrealobj lcm left_shift lexsort nonzero packbits right_shift unpackbits
""")
"""Steps that are recognised without a rule: the tape sees from the dtype that they return whole numbers or booleans."""

NEEDS_NONE: dict[str, set[str]] = {
    title: _parse_names(names)
    for title, names in {
        "Shapes, dtypes and memory": """
            broadcast_shapes can_cast common_type einsum_path isdtype isfortran isscalar issubdtype iterable
            may_share_memory min_scalar_type mintypecode promote_types result_type shares_memory typename
        """,
        "New arrays of plain numbers": """
            arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix bartlett
            blackman bmat empty eye fft.fftfreq fft.rfftfreq from_dlpack frombuffer fromfunction fromiter frompyfunc
            hamming hanning identity ones require tri zeros
        """,
        "Indices": """
            diag_indices diag_indices_from indices ix_ mask_indices nested_iters ravel_multi_index tril_indices
            tril_indices_from triu_indices triu_indices_from unravel_index
        """,
        "Text, files and dates": """
            array2string array_repr array_str base_repr binary_repr busday_count busday_offset datetime_as_string
            datetime_data format_float_positional format_float_scientific fromfile fromregex fromstring genfromtxt
            is_busday isnat load loadtxt save savetxt savez savez_compressed
        """,
        "Settings": """
            get_include get_printoptions getbufsize geterr geterrcall info printoptions set_printoptions setbufsize
            seterr seterrcall show_config show_runtime test
        """,
    }.items()
}
"""Functions that have nothing to do with derivatives. `np.asarray` and similar ones take numbers out of a tensor."""


def functions() -> dict[str, Callable[..., Any]]:
    """List all functions of the installed NumPy, by the names as you would write them."""
    found = {}
    for prefix, module in (("np.", np), ("np.linalg.", np.linalg), ("np.fft.", np.fft)):
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type) and not name.startswith("_"):
                found[prefix + name] = function
    return found


def accounts(name: str, function: Callable[..., Any]) -> list[str]:
    """List where a function is accounted for; it should be exactly one place.

    >>> accounts("np.sin", np.sin), accounts("np.unique", np.unique)
    (['rule'], ['refused'])
    """
    known = RULES.get(function)
    if known is not None and known.kind != "step":
        found = ["rule"]
    elif function in SPELLED and function not in AT_ONCE:
        found = ["spelled"]
    else:
        found = ["step"] if known else []
    tables = {"step": WHOLE, "needs none": set().union(*NEEDS_NONE.values()), "refused": REFUSED}
    return found + [kind for kind, names in tables.items() if name in names]


def remedy(name: str) -> tuple[str, str]:
    """Return why a function has no rule (to follow "has no derivative rule") and what to write instead."""
    reason, instead = REFUSED.get(name, ("", "Compute the value with functions that have one"))
    return (f": {reason}" if reason else ""), instead


def no_rule(entry: Entry) -> LookupError:
    """Return the error for an operation without a rule, with the reason and the alternative if known."""
    name = written_name(entry.operation)
    reason, instead = remedy(name)
    return LookupError(
        f"{name}, used at {entry.place}, has no derivative rule{reason}. {instead}, "
        f"or register a rule: ad.register_gradient({name}, lambda g, y, x: ...)"
    )


def refuse(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises the error for what cannot be computed on tensors."""

    def refused(*_: Any, **__: Any) -> NoReturn:
        name = written_name(function)
        reason, instead = REFUSED[name]
        raise TypeError(f"{name} does not work on tensors: {reason}. {instead}")

    return refused


SPELLED |= {function: refuse(function) for function in AT_ONCE}
