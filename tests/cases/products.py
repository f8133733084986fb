"""Cases of the products: matmul, dot, einsum and what is written with them."""

import numpy as np

from .case import NUMPY, case

CASES = [
    *(
        case(f"matmul {a} and {b}", np.matmul, a, b)
        for a, b in [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3, 4)),
            ((4, 2, 3), (3,)),
            ((3,), (4, 3, 2)),
            ((4, 2, 3), (3, 2)),
            ((2, 3), (4, 3, 2)),
            ((4, 2, 3), (4, 3, 2)),
            ((4, 1, 2, 3), (2, 3, 2)),
            ((1, 1), (1, 1)),
        ]
    ),
    *(
        case(f"dot {a} and {b}", np.dot, a, b)
        for a, b in [
            ((), (3,)),
            ((2, 3), ()),
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3, 2)),
            ((2, 2, 3), (3,)),
            ((2, 2, 3), (3, 2)),
            ((2, 3), (2, 3, 2)),
            ((3,), (2, 3, 2)),
        ]
    ),
    *(
        case(f"einsum {subscripts}", lambda *arrays, _s=subscripts: np.einsum(_s, *arrays), *shapes)
        for subscripts, *shapes in [
            ("ij,jk->ik", (2, 3), (3, 2)),
            ("ij,jk", (2, 3), (3, 2)),
            ("i,i", (3,), (3,)),
            ("i,j->ij", (2,), (3,)),
            ("ij->ji", (2, 3)),
            ("ij->j", (2, 3)),
            ("ij->", (2, 3)),
            ("ba", (2, 3)),
            ("ii", (3, 3)),
            ("ii->i", (3, 3)),
            ("iij->j", (2, 2, 3)),
            ("iii->i", (2, 2, 2)),
            ("ii,i->i", (3, 3), (3,)),
            ("ij,i->i", (2, 3), (2,)),
            ("...ij,...jk->...ik", (2, 2, 3), (3, 2)),
            ("...i,ij", (2, 2, 3), (3, 2)),
            ("...,...->...", (2, 3), (3,)),
            ("i...->...", (2, 3)),
            ("...i->...", (2, 3)),
            ("ij,jk,kl->il", (2, 3), (3, 2), (2, 2)),
            ("i,i,i->", (3,), (3,), (3,)),
            ("bij,bj->bi", (2, 2, 3), (2, 3)),
        ]
    ),
    case("einsum with spaces", lambda a, b: np.einsum("i j, j k -> i k", a, b), (2, 3), (3, 2)),
    case("einsum optimize", lambda a, b: np.einsum("ij,jk->ik", a, b, optimize=True), (2, 3), (3, 2)),
    case("einsum of one tensor twice", lambda a: np.einsum("ij,kj->ik", a, a), (2, 3)),
    *(
        case(f"einsum {name}", lambda *arrays, _c=call: _c(*arrays), *shapes)
        for name, call, *shapes in [
            ("of lists", lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [0, 2]), (2, 3), (3, 2)),
            ("of lists, implicit", lambda a, b: np.einsum(a, [0, 1], b, [1, 2]), (2, 3), (3, 2)),
            ("of lists with ...", lambda a, b: np.einsum(a, [..., 0], b, [0, 1], [..., 1]), (2, 2, 3), (3, 2)),
            ("with an array", lambda b: np.einsum("ij,jk->ik", np.array([[1.0, -2.0], [3.0, 0.5]]), b), (2, 3)),
            (
                "with operands of a size 1 that broadcast",
                lambda a, b: np.einsum("...i,...i->...", a, b),
                (2, 3),
                (1, 3),
            ),
            ("of four operands", lambda *xs: np.einsum("ij,jk,k,i->", *xs), (2, 3), (3, 2), (2,), (2,)),
            ("of a scalar", lambda a, b: np.einsum(",i->i", a, b), (), (3,)),
            ("over an empty axis", lambda a, b: np.einsum("ij,jk->ik", a, b), (2, 0), (0, 3)),
            ("of a trace in a batch", lambda a: np.einsum("...ii->...", a), (2, 3, 3)),
            ("of a transposed copy", lambda a: np.einsum("...ij->...ji", a), (2, 2, 3)),
            ("of an index that two repeat", lambda a, b: np.einsum("ii,ii->i", a, b), (2, 2), (2, 2)),
            ("optimize='greedy'", lambda *xs: np.einsum("ij,jk,kl->l", *xs, optimize="greedy"), (2, 3), (3, 2), (2, 2)),
        ]
    ),
    case("matmul over an empty axis", np.matmul, (2, 0), (0, 3)),
    case("matmul of a batch of none", np.matmul, (0, 2, 3), (3, 2)),
    case("matmul of broadcast batches", np.matmul, (2, 1, 2, 3), (3, 3, 2)),
    case("x.dot(y)", lambda x, y: x.dot(y), (2, 3), (3, 2)),
    *(
        case(f"tensordot {a} and {b}, axes={axes}", lambda x, y, _a=axes: np.tensordot(x, y, axes=_a), a, b)
        for a, b, axes in [
            ((2, 3, 2), (3, 2, 2), 2),
            ((2, 3), (3, 2), 1),
            ((2,), (3,), 0),
            ((2, 3, 2), (2, 2, 3), ([1, 0], [2, 0])),
            ((2, 3), (2, 3), ((-1, 0), (-1, 0))),
            ((2, 3), (3, 2), (1, 0)),
        ]
    ),
    *(
        case(f"inner {a} and {b}", np.inner, a, b)
        for a, b in [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 2, 3), (2, 3)), ((), (2, 3)), ((3,), ())]
    ),
    *(
        case(f"kron {a} and {b}", np.kron, a, b)
        for a, b in [((2,), (3,)), ((2, 2), (2, 3)), ((2,), (2, 3)), ((2, 1, 2), (3,)), ((), (2,)), ((1, 2), (0, 2))]
    ),
    case("outer", np.outer, (2,), (3,)),
    case("outer of matrices", np.outer, (2, 2), (3, 1)),
    case("outer with a scalar", np.outer, (), (3,)),
    case("vdot", np.vdot, (3,), (3,)),
    case("vdot of matrices", np.vdot, (2, 3), (2, 3)),
    case("vecdot", np.vecdot, (2, 3), (2, 3)),
    case("vecdot broadcast, axis=0", lambda x, y: np.vecdot(x, y, axis=0), (3, 2), (3, 1)),
    *(
        case(f"cross {a} and {b}", np.cross, a, b)
        for a, b in [((3,), (3,)), ((2, 3), (2, 3)), ((2, 1, 3), (4, 3)), ((3,), (2, 3))]
    ),
    case("cross axis=0", lambda x, y: np.cross(x, y, axis=0), (3, 2), (3, 2)),
    case("cross axisa, axisb, axisc", lambda x, y: np.cross(x, y, axisa=0, axisb=1, axisc=0), (3, 2), (2, 3)),
    *(
        case(f"{name} {a} and {b}", lambda x, y, _f=name: getattr(np, _f)(x, y), a, b)
        for name, a, b in [
            ("matvec", (2, 3), (3,)),
            ("matvec", (2, 3), (4, 3)),
            ("matvec", (2, 2, 3), (3,)),
            ("vecmat", (2,), (2, 3)),
            ("vecmat", (4, 2), (2, 3)),
            ("vecmat", (2,), (4, 2, 3)),
        ]
        if NUMPY >= "2.2.0"
    ),
]
