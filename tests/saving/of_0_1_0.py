"""Functions that version 0.1.0 saved into the files of `from_0_1_0`, where they are to be loaded for good.

The files were written by the commit 794ecc3, the last of 21 November 2026, of which the changelog says that it is
0.1.0: `git archive 794ecc3 autodiff_edu | tar -x -C there`, then `PYTHONPATH=there python tests/saving/of_0_1_0.py`.
"""

from pathlib import Path

import numpy as np

import autodiff_edu as ad

FOLDER = Path(__file__).parent / "from_0_1_0"
W = ad.Variable(np.linspace(-1.0, 1.0, 6).reshape(3, 2), name="kernel")
B = ad.Variable([0.5, -0.25], name="bias")
COUNT = ad.Variable(3, trainable=False)


@ad.custom_gradient
def clipped(x):
    """Pass on at most 1 of a gradient."""

    def backward(dy):
        return np.clip(dy * x, -1.0, 1.0)

    return x * x / 2, backward


def model(x, labels):
    hidden = np.tanh(x @ W + B)
    scores = hidden - np.log(np.sum(np.exp(hidden), axis=1, keepdims=True))
    return -np.mean(np.take_along_axis(scores, labels[:, None], axis=1))


def structures(layers, scale):
    first, second = layers["both"]
    return {"joined": np.concatenate([first * scale, second]), "parts": [first[1:, ::2] ** 2, np.sum(second) * COUNT]}


def custom(x):
    return np.sum(clipped(x) * np.where(x > 1.0, x, 2.0))


def rearranged(x):
    wide = np.pad(np.tile(x, (1, 2)), ((1, 1), (0, 2)), mode="edge")
    parts = np.array_split(np.repeat(wide, [1, 2, 0, 1, 1, 1, 1, 1], axis=1), 2, axis=1)
    return np.sort(parts[0], axis=1) * np.einsum("ij,kj->ik", x, x)[0, 0] + np.diff(parts[1][:, :5], n=2)[:, :1]


def waves(z):
    spectrum = np.fft.fft(z * np.array([1.0, 2.0j, -1.0, 0.5]), n=8)
    return np.minimum(np.real(spectrum * np.conjugate(spectrum)), np.inf).astype(np.float32)


def algebra(a):
    symmetric = a @ a.T + 3.0 * np.eye(3)
    return np.linalg.solve(symmetric, a) * np.linalg.det(symmetric) + np.linalg.matrix_power(symmetric, 3)[..., :1]


X = np.linspace(-1.5, 2.0, 12).reshape(4, 3)
EXAMPLES = {
    model: (X, np.array([0, 1, 1, 0])),
    structures: ({"both": [X, X[:, ::-1] * 2.0]}, 0.5),
    custom: (X,),
    rearranged: (X,),
    waves: (np.linspace(0.5, 2.0, 4) * (1 + 0.5j),),
    algebra: (np.linspace(0.1, 1.0, 9).reshape(3, 3) ** 2,),
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for function, examples in EXAMPLES.items():
        ad.save(function, FOLDER / f"{function.__name__}.ad", *examples)
