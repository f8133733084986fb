"""Cases of the functions that rearrange, repeat, split or join elements."""

import numpy as np

from .case import MASK, NUMPY, SPREAD, case, joined

HOLES = np.array([0, 0, 1, 0, 1, 0])
COLUMNS = np.array([[1, 0, 1], [0, 0, 1]])


def windows(x, text):
    """NumPy's windows of x, with the arguments written as text."""
    return eval(f"np.lib.stride_tricks.sliding_window_view(x, {text})", {"np": np, "x": x})


CASES = [
    # Axes
    case("transpose", np.transpose, (2, 3, 4)),
    case("transpose axes", lambda x: np.transpose(x, (1, 2, 0)), (2, 3, 4)),
    case("transpose negative axes", lambda x: np.transpose(x, axes=(-1, 0, -2)), (2, 3, 4)),
    case("x.T", lambda x: x.T, (2, 3)),
    case("x.transpose(1, 0)", lambda x: x.transpose(1, 0), (2, 3)),
    case("swapaxes", lambda x: np.swapaxes(x, 0, -1), (2, 3, 4)),
    case("swapaxes of the last two", lambda x: x.swapaxes(-1, 1), (2, 3, 4)),
    case("reshape", lambda x: np.reshape(x, (3, 2)), (2, 3)),
    case("reshape -1", lambda x: np.reshape(x, -1), (2, 3)),
    case("reshape to more axes", lambda x: x.reshape(1, 3, -1), (2, 3)),
    case("reshape in Fortran's order, as a method", lambda x: x.reshape(3, 2, order="F"), (2, 3)),
    case("reshape in Fortran's order", lambda x: np.reshape(x, (3, 2), order="F"), (2, 3)),
    case("ravel", np.ravel, (2, 3)),
    case("expand_dims 0", lambda x: np.expand_dims(x, 0), (2, 3)),
    case("expand_dims (0, -1)", lambda x: np.expand_dims(x, axis=(0, -1)), (2, 3)),
    case("squeeze", np.squeeze, (1, 3, 1)),
    case("squeeze axis=-1", lambda x: np.squeeze(x, axis=-1), (1, 3, 1)),
    case("concatenate", lambda *xs: np.concatenate(xs), (2, 3), (1, 3)),
    case("concatenate axis=1", lambda *xs: np.concatenate(xs, axis=1), (2, 3), (2, 1)),
    case("concatenate axis=-2", lambda *xs: np.concatenate(xs, axis=-2), (1, 2, 3), (1, 1, 3)),
    case("concatenate axis=None", lambda *xs: np.concatenate(xs, axis=None), (2, 3), (2,)),
    case("concatenate of one tensor twice", lambda x: np.concatenate([x, x]), (3,)),
    case("concatenate with an array", lambda x: np.concatenate([np.ones(2), x, np.ones(1)]), (3,)),
    case("stack", lambda *xs: np.stack(xs), (2, 3), (2, 3)),
    case("stack axis=1", lambda *xs: np.stack(xs, axis=1), (2, 3), (2, 3)),
    case("stack axis=-1", lambda *xs: np.stack(xs, axis=-1), (2, 3), (2, 3), (2, 3)),
    case("stack of scalars", lambda *xs: np.stack(xs), (), ()),
    case("broadcast_to", lambda x: np.broadcast_to(x, (4, 2, 3)), (2, 1)),
    case("broadcast_to from a scalar", lambda x: np.broadcast_to(x, (2, 3)), ()),
    case("concatenate of nothing and something", lambda *xs: np.concatenate(xs), (0, 3), (2, 3)),
    case("x.transpose()", lambda x: x.transpose(), (2, 3)),
    case("x.flatten()", lambda x: x.flatten(), (2, 3)),
    case("ravel in Fortran's order", lambda x: np.ravel(x, order="F"), (2, 3)),
    case("expand_dims -1", lambda x: np.expand_dims(x, -1), (2, 3)),
    case("squeeze axis=(0, 2)", lambda x: np.squeeze(x, axis=(0, 2)), (1, 3, 1)),
    case("x.squeeze(0)", lambda x: x.squeeze(0), (1, 3)),
    case("broadcast_to of size 1 and 0", lambda x: np.broadcast_to(x, (2, 0)), (2, 1)),
    case("broadcast_arrays", lambda *xs: joined(np.broadcast_arrays(*xs)), (2, 1), (3,)),
    case("moveaxis", lambda x: np.moveaxis(x, 0, -1), (2, 3, 2)),
    case("moveaxis of two", lambda x: np.moveaxis(x, (0, -1), (1, 0)), (2, 3, 4)),
    case("rollaxis", lambda x: np.rollaxis(x, 2), (2, 3, 4)),
    case("rollaxis to start", lambda x: np.rollaxis(x, -1, 1), (2, 3, 4)),
    case("rollaxis back", lambda x: np.rollaxis(x, 0, -1), (2, 3, 4)),
    case("rollaxis to the end", lambda x: np.rollaxis(x, 0, 3), (2, 3, 4)),
    *(
        case(f"{f.__name__} of {shape}", f, shape)
        for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d)
        for shape in ((), (3,), (2, 3), (1, 2, 3))
    ),
    case("atleast_2d of two", lambda *xs: joined(np.atleast_2d(*xs)), (), (3,)),
    # Joining
    case("vstack", lambda *xs: np.vstack(xs), (2, 3), (3,)),
    case("vstack of three axes", lambda *xs: np.vstack(xs), (2, 1, 3), (1, 1, 3)),
    case("hstack", lambda *xs: np.hstack(xs), (2,), (3,)),
    case("hstack of matrices", lambda *xs: np.hstack(xs), (2, 1), (2, 3)),
    case("hstack of scalars", lambda *xs: np.hstack(xs), (), ()),
    case("dstack", lambda *xs: np.dstack(xs), (2, 3), (2, 3)),
    case("dstack of vectors", lambda *xs: np.dstack(xs), (3,), (3,)),
    case("column_stack", lambda *xs: np.column_stack(xs), (3,), (3, 2)),
    case("append", np.append, (2, 3), (2,)),
    case("append axis=0", lambda x, y: np.append(x, y, axis=0), (2, 3), (1, 3)),
    case("append axis=-1", lambda x, y: np.append(x, y, axis=-1), (2, 3), (2, 1)),
    case("delete", lambda x: np.delete(x, 1), (2, 3)),
    case("delete axis=1", lambda x: np.delete(x, [0, -1], axis=1), (2, 3)),
    case("delete of a slice", lambda x: np.delete(x, np.s_[::2], axis=0), (3, 2)),
    case("insert", lambda x, v: np.insert(x, 1, v), (2, 3), ()),
    case("insert axis=1", lambda x, v: np.insert(x, 2, v, axis=1), (2, 3), (2,)),
    case("insert several at one place", lambda x, v: np.insert(x, [1], v, axis=1), (2, 3), (2, 2)),
    case("insert at several places", lambda x, v: np.insert(x, [-1, 0, 0], v, axis=0), (2, 3), (3, 1)),
    case("insert by a slice", lambda x, v: np.insert(x, np.s_[::2], v), (4,), (2,)),
    case("insert by a mask", lambda x: np.insert(x, np.array([True, False, True]), 2.0), (3,)),
    case("insert of a matrix at one place", lambda x, v: np.insert(x, 0, v, axis=-1), (2, 3), (4, 2)),
    case("block", lambda a, b, c: np.block([[a, b], [c]]), (2, 2), (2, 1), (1, 3)),
    case("block of vectors", lambda a, b: np.block([a, b, 1.0]), (2,), (3,)),
    case("block of scalars", lambda a, b: np.block([[a, 0.0], [0.0, b]]), (), ()),
    case("block of three axes", lambda a, b: np.block([[a, b]]), (2, 1, 2), (2, 1, 1)),
    case("block of no list", np.block, (2, 3)),
    case("meshgrid", lambda *xs: joined(p * k for k, p in enumerate(np.meshgrid(*xs), 1)), (2,), (3,)),
    case("meshgrid of three", lambda *xs: joined(np.meshgrid(*xs, indexing="ij")), (2,), (), (3,)),
    case("meshgrid sparse", lambda *xs: np.multiply(*np.meshgrid(*xs, sparse=True)), (2,), (3,)),
    case("meshgrid of one", lambda x: np.meshgrid(x)[0], (3,)),
    case("resize", lambda x: np.resize(x, (3, 3)), (2, 2)),
    case("resize to fewer", lambda x: np.resize(x, 3), (2, 2)),
    case("trim_zeros", lambda x: np.trim_zeros(x * HOLES), (6,)),
    case("trim_zeros trim='f'", lambda x: np.trim_zeros(x * HOLES, "f"), (6,)),
    case("trim_zeros trim='b'", lambda x: np.trim_zeros(x * HOLES, trim="b"), (6,)),
    case("trim_zeros of nothing else", lambda x: np.trim_zeros(x * 0), (2,)),
    *(
        [case("trim_zeros of a matrix", lambda x: np.trim_zeros(x * np.outer(HOLES, HOLES), axis=1), (6, 6))]
        if NUMPY >= "2.2.0"
        else []
    ),
    *(
        case(f"sliding_window_view {text} of {shape}", lambda x, _t=text: windows(x, _t), shape)
        for text, shape in [
            ("3", (5,)),
            ("(2, 2)", (3, 4)),
            ("2, axis=0", (3, 2)),
            ("(2, 1), axis=(-1, 0)", (2, 4, 3)),
            ("(2, 2), axis=(1, 1)", (2, 4)),
            ("1", (2,)),
            ("4", (4,)),
        ]
    ),
    # Splitting
    *(
        [
            case("unstack", lambda x: joined(p * k for k, p in enumerate(np.unstack(x), 1)), (3, 2)),
            case("unstack axis=-1", lambda x: np.unstack(x, axis=-1)[1], (2, 3)),
        ]
        if NUMPY >= "2.1.0"
        else []
    ),
    case("split", lambda x: joined(p * k for k, p in enumerate(np.split(x, 2), 1)), (4, 2)),
    case("split at", lambda x: joined(p * k for k, p in enumerate(np.split(x, [1, 3], axis=1), 1)), (2, 4)),
    case("split, one part", lambda x: np.split(x, 3, axis=-1)[1], (2, 3)),
    case("split beyond the end", lambda x: joined(np.split(x, [1, 5])), (3, 2)),
    case("array_split", lambda x: joined(p * k for k, p in enumerate(np.array_split(x, 3), 1)), (5, 2)),
    case("array_split axis=-1", lambda x: np.array_split(x, 2, axis=-1)[0], (2, 3)),
    case("vsplit", lambda x: np.vsplit(x, 2)[1], (4, 2)),
    case("hsplit", lambda x: np.hsplit(x, [1])[1], (2, 3)),
    case("hsplit of a vector", lambda x: np.hsplit(x, 2)[1], (4,)),
    case("dsplit", lambda x: np.dsplit(x, 2)[0], (2, 1, 4)),
    # Repeating and turning
    case("repeat", lambda x: np.repeat(x, 2), (2, 3)),
    case("repeat axis=0", lambda x: np.repeat(x, 2, axis=0), (2, 3)),
    case("repeat counts", lambda x: np.repeat(x, [1, 0, 3], axis=-1), (2, 3)),
    case("repeat of a scalar axis=0", lambda x: np.repeat(x, 3, axis=0), ()),
    case("repeat of a scalar", lambda x: np.repeat(x, 3), ()),
    case("x.repeat", lambda x: x.repeat(2, axis=1), (2, 3)),
    case("tile", lambda x: np.tile(x, 2), (2, 3)),
    case("tile (2, 1)", lambda x: np.tile(x, (2, 1)), (3,)),
    case("tile (2, 1, 2)", lambda x: np.tile(x, (2, 1, 2)), (2, 3)),
    case("tile (3,) of more axes", lambda x: np.tile(x, (3,)), (2, 1, 2)),
    case("tile of a scalar", lambda x: np.tile(x, (2, 2)), ()),
    case("tile none", lambda x: np.tile(x, 0), (3,)),
    case("roll", lambda x: np.roll(x, 2), (2, 3)),
    case("roll axis=1", lambda x: np.roll(x, -1, axis=1), (2, 3)),
    case("roll of two axes", lambda x: np.roll(x, (1, -2), axis=(0, -1)), (2, 3)),
    case("roll of two axes alike", lambda x: np.roll(x, 1, axis=(0, 1)), (2, 3)),
    case("roll of nothing", lambda x: np.roll(x, 1), (0,)),
    case("flip", np.flip, (2, 3)),
    case("flip axis=-1", lambda x: np.flip(x, -1), (2, 3)),
    case("flip axis=(0, 2)", lambda x: np.flip(x, (0, 2)), (2, 3, 2)),
    case("fliplr", np.fliplr, (2, 3)),
    case("flipud", np.flipud, (2, 3)),
    *(case(f"rot90 k={k}", lambda x, _k=k: np.rot90(x, _k), (2, 3)) for k in (0, 1, 2, 3, -1, 5)),
    case("rot90 axes=(2, 0)", lambda x: np.rot90(x, 1, (2, 0)), (2, 3, 2)),
    # Padding
    case("pad", lambda x: np.pad(x, 1), (2, 3)),
    case("pad of each axis", lambda x: np.pad(x, ((0, 2), (1, 0))), (2, 3)),
    case("pad of a scalar", lambda x: np.pad(x, 1), ()),
    case("pad by nothing", lambda x: np.pad(x, 0, mode="edge"), (2, 3)),
    case("pad with a tensor", lambda x, c: np.pad(x, ((1, 0), (2, 3)), constant_values=c), (2, 3), ()),
    case("pad with tensors", lambda x, c: np.pad(x, ((1, 2), (2, 0)), constant_values=c), (2, 3), (2, 2)),
    case("pad with values", lambda x: np.pad(x, (1, 2), constant_values=(3.0, -1.0)), (3,)),
    *([case("pad of named axes", lambda x: np.pad(x, {-1: (1, 2)}), (2, 3))] if NUMPY >= "2.4.0" else []),
    *(
        case(f"pad {mode} {widths}", lambda x, _m=mode, _w=widths: np.pad(x, _w, mode=_m), (3, 2))
        for mode in ("edge", "reflect", "symmetric", "wrap")
        for widths in (1, ((2, 0), (0, 1)), ((5, 4), (3, 1)))
    ),
    case("pad reflect even", lambda x: np.pad(x, 2, mode="reflect", reflect_type="even"), (3,)),
    # Sorting and taking
    case("sort", np.sort, SPREAD, real=True),
    case("sort axis=0", lambda x: np.sort(x, axis=0), SPREAD, real=True),
    case("sort axis=None", lambda x: np.sort(x, axis=None), SPREAD, real=True),
    case("sort stable=True", lambda x: np.sort(x, stable=True), SPREAD, real=True),
    case("sort kind", lambda x: np.sort(x, axis=0, kind="heapsort"), SPREAD, real=True),
    case("partition", lambda x: np.partition(x, 1), SPREAD, real=True),
    case("partition axis=0", lambda x: np.partition(x, -1, axis=0), SPREAD, real=True),
    case("partition axis=None", lambda x: np.partition(x, [0, 4], axis=None), SPREAD, real=True),
    case("take", lambda x: np.take(x, [0, 5, 5]), (2, 3)),
    case("take axis=1", lambda x: np.take(x, [[0, 2], [2, 1]], axis=1), (2, 3)),
    case("take one", lambda x: np.take(x, -1, axis=0), (2, 3)),
    case("take of a scalar axis=-1", lambda x: np.take(x, [0, 0], axis=-1), ()),
    case("take mode='wrap'", lambda x: np.take(x, [4, -5], axis=1, mode="wrap"), (2, 3)),
    case("take mode='clip'", lambda x: np.take(x, [-3, 7], axis=0, mode="clip"), (2, 3)),
    case("x.take", lambda x: x.take([1, 1], axis=-1), (2, 3)),
    case("take_along_axis", lambda x: np.take_along_axis(x, COLUMNS, axis=1), (2, 3)),
    case("take_along_axis axis=0", lambda x: np.take_along_axis(x, COLUMNS, axis=0), (2, 3)),
    case("take_along_axis axis=None", lambda x: np.take_along_axis(x, np.array([0, 5, 2]), axis=None), (2, 3)),
    case("take_along_axis, broadcast", lambda x: np.take_along_axis(x, COLUMNS[:1], axis=0), (2, 3)),
    case("x[mask]", lambda x: x[MASK], (2, 3)),
    # Diagonals and triangles
    case("diagonal", np.diagonal, (3, 3)),
    case("diagonal offset=1", lambda x: np.diagonal(x, 1), (2, 3)),
    case("diagonal offset=-1 axes", lambda x: np.diagonal(x, -1, 2, 0), (3, 2, 2)),
    case("diagonal beyond", lambda x: np.diagonal(x, 5), (2, 3)),
    case("x.diagonal()", lambda x: x.diagonal(), (2, 3)),
    case("diag of a matrix", lambda x: np.diag(x, 1), (2, 3)),
    case("diag of a vector", np.diag, (3,)),
    case("diag of a vector k=-2", lambda x: np.diag(x, k=-2), (2,)),
    case("diagflat", lambda x: np.diagflat(x, 1), (2, 2)),
    case("trace", np.trace, (3, 3)),
    case("trace offset", lambda x: np.trace(x, offset=1, axis1=1, axis2=2), (2, 2, 3)),
    case("x.trace", lambda x: x.trace(), (2, 3)),
    *(
        case(f"{f.__name__} k={k}", lambda x, _f=f, _k=k: _f(x, _k), (2, 3))
        for f in (np.triu, np.tril)
        for k in (0, 1, -1)
    ),
    case("triu of a batch", np.triu, (2, 2, 2)),
    case("tril of a vector", np.tril, (3,)),
]
