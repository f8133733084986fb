"""Project 28.3: a convolution by sliding windows, both cotangents, and an edge filter that is learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..exercises import Case, Function, Judge, Recording
from ..feedback import NotYet, numbers
from ..milestones import NO_TAPE, Milestone, first_number, needs_gradients

DRAW = np.random.default_rng(221)
IMAGE, KERNEL, G = DRAW.normal(size=(7, 9)), DRAW.normal(size=(3, 2)), DRAW.normal(size=(5, 8))


def slide(image: Any, kernel: Any) -> Any:
    """Return the sum of products at each place where the kernel fits."""
    return np.einsum("ijkl,kl->ij", sliding_window_view(image, kernel.shape), kernel)


def by_product(image: Any, kernel: Any, shape: Any = (3, 3), axis: Any = (2, 3)) -> Any:
    """Slide a kernel that is always 3 × 3, or over the wrong axes."""
    return np.sum(sliding_window_view(image, shape) * kernel, axis=axis)


def always_nine(image: Any, kernel: Any) -> Any:
    """Slide a kernel that is always 3 × 3, by einsum."""
    return np.einsum("ijkl,kl->ij", sliding_window_view(image, (3, 3)), kernel)


NINE = "{raised} I sent a kernel of (3, 2): it isn't always 3 × 3, and each of its axes belongs to one of the windows'."

SLIDE = Function(
    signature="slide(image, kernel)",
    cases=[
        Case(
            lambda slide: slide(IMAGE.copy(), KERNEL.copy()),
            first_number("At the upper left, the sum of products is", "Compute that one by hand."),
        ),
        Case(lambda slide: needs_gradients(slide.__wrapped__, IMAGE, KERNEL, written="slide(image, kernel)")),
    ],
    answer=slide,
    hints=[
        (by_product, NINE),
        (always_nine, NINE),
        (
            lambda image, kernel: np.full(image.shape, ...),
            "The result is as large as the image. Take only the places where the whole kernel fits.",
        ),
        (
            lambda image, kernel: np.full((5, 8, *kernel.shape), ...),
            "Those are the windows, or their products. Add up over the kernel's two axes.",
        ),
        (
            lambda image, kernel: np.full(kernel.shape, ...),
            "The result has the kernel's shape. Add up over the kernel's axes, the last two of the windows.",
        ),
        (
            lambda image, kernel: np.full((8, 5), ...),
            "An image of (7, 9) has room for a kernel of (3, 2) at (5, 8) places, and your result has the shape (8, 5).",
        ),
        (
            lambda image, kernel: slide(image, kernel[::-1, ::-1]),
            "The kernel is turned around. Networks don't do that: leave it as it is.",
        ),
        (
            lambda image, kernel: slide(image, kernel) / kernel.size,
            "That's the mean of the products. I asked for their sum.",
        ),
        (
            lambda image, kernel: slide(image, np.ones_like(kernel)),
            "The kernel's numbers are missing: you add up the bare windows.",
        ),
    ],
)

SIGN = "Every sign is the wrong way round. Each product is added, so nothing is subtracted here."
SIZE = "{raised} The kernel is 3 × 2 here, not 3 × 3. Take its size from"


def nine_places(image: Any, g: Any) -> Any:
    """Return the cotangent of a kernel that is always 3 × 3, place by place."""
    rows, columns = g.shape
    return [[np.sum(image[k : k + rows, n : n + columns] * g) for n in range(3)] for k in range(3)]


TO_KERNEL = Recording(
    signature="to_kernel(image, g)",
    cases=[(IMAGE, G)],
    facts=NO_TAPE,
    answer=slide,
    hints=[
        *(
            (wrong, f"{SIZE} those of image and g.")
            for wrong in (
                nine_places,
                by_product,
                lambda image, g: np.einsum("ijkl,ij->kl", sliding_window_view(image, (3, 3)), g),
            )
        ),
        *(
            (wrong, "A cotangent has the shape of what it belongs to, here the kernel's.")
            for wrong in (lambda image, g: np.full(g.shape, ...), lambda image, g: np.full(image.shape, ...))
        ),
        (
            lambda image, g: np.full((2, 3), ...),
            "The image is (7, 9), g is (5, 8), so the kernel was (3, 2), and so is its cotangent. Yours is (2, 3).",
        ),
        (
            lambda image, g: slide(image, g)[::-1, ::-1],
            "The result is turned around. Nothing needs to be turned for the kernel.",
        ),
        (
            lambda image, g: slide(image, g[::-1, ::-1]),
            "g is turned around. Nothing needs to be turned for the kernel.",
        ),
        (
            lambda image, g: slide(image, np.ones_like(g)),
            "g's numbers are missing: that's right only if g is all ones.",
        ),
        (lambda image, g: slide(image, g) / g.size, "That is the mean over the places. Contributions are added."),
        (lambda image, g: -slide(image, g), SIGN),
    ],
    otherwise="Those aren't the tape's numbers. Kernel entry (0, 0) meets a number of the image at each place. Which, and "
    "what arrives there?",
)


def to_image(turned: Callable[[Any], Any] = lambda kernel: kernel[::-1, ::-1]) -> Callable[[Any, Any], Any]:
    """Return what slides a kernel, turned in the given way, over g with zeros around it."""
    return lambda kernel, g: slide(np.pad(g, [(size - 1, size - 1) for size in kernel.shape]), turned(kernel))


def overwrite(kernel: Any, g: Any) -> Any:
    """Return the cotangent of the image as a loop leaves it that writes `=` where it should add."""
    rows, columns = kernel.shape
    image = np.zeros((g.shape[0] + rows - 1, g.shape[1] + columns - 1))
    for i, j in np.ndindex(g.shape):
        image[i : i + rows, j : j + columns] = g[i, j] * kernel
    return image


PADDED = (
    "The image was (7, 9), and yours is larger. The kernel is 3 × 2 here, not 3 × 3: pad each axis by one less than "
)

TO_IMAGE = Recording(
    signature="to_image(kernel, g)",
    cases=[(KERNEL, G)],
    facts=NO_TAPE,
    answer=to_image(),
    hints=[
        (lambda kernel, g: always_nine(np.pad(g, 2), kernel), f"{SIZE} `kernel.shape`."),
        (lambda kernel, g: by_product(np.pad(g, 2), kernel), f"{SIZE} `kernel.shape`."),
        (
            lambda kernel, g: np.full((3, 7), ...),
            "Too small: the places at the rim are missing. Pad g on all sides, one less than the kernel.",
        ),
        (
            lambda kernel, g: np.full(g.shape, ...),
            "A cotangent has the shape of what it belongs to. The image is larger than g.",
        ),
        *(
            (lambda kernel, g, shape=shape: np.full(shape, ...), f"{PADDED}the kernel has there.")
            for shape in ((7, 10), (7, 11), (9, 12))
        ),
        (
            to_image(lambda kernel: kernel),
            "Turn the kernel around: the number at a window's upper left meets the kernel's upper left, so seen from the "
            "image, the places lie in the opposite order.",
        ),
        (
            to_image(lambda kernel: kernel[::-1]),
            "Turn the kernel around in both directions, also left to right.",
        ),
        (
            to_image(lambda kernel: kernel[:, ::-1]),
            "Turn the kernel around in both directions, also upside down.",
        ),
        (overwrite, "A pixel lies under several windows, and each contributes: `+=`, not `=`."),
        (lambda kernel, g: -to_image()(kernel, g), SIGN),
    ],
    otherwise="Those aren't the tape's numbers. Put a single 1 into g, at the upper left: where does the kernel appear?",
)

EDGE = np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
"""Right neighbour minus left neighbour, as the chapter draws its `edges`."""

KERNELS = (
    (
        -EDGE,
        "The sign is the wrong way round. Does your loss add `edges` instead of subtracting it? Or does it use something "
        "other than `slide`, which turns the kernel around?",
    ),
    (np.zeros((3, 3)), "The kernel is still about 0. Does the loop assign the new kernel?"),
    (EDGE.T, "This one finds the edges of the transposed picture. Which axis of the windows is which?"),
)


def judge_kernel(given: Any) -> str:
    """Check that a kernel is near the filter, and not the filter itself."""
    if given is None:
        raise NotYet("I need an array of numbers, and the learned kernel is None. Is the training loop run?")
    values = numbers(given, "the learned kernel")
    if values.shape != (3, 3):
        raise NotYet(f"I need 3 × 3 numbers, and got the shape {values.shape}.")
    off = np.abs(values - EDGE).max()
    if 0 < off <= 0.05:
        return ""
    for wrong, hint in KERNELS:
        if np.abs(values - wrong).max() <= 0.05:
            raise NotYet(hint)
    if off == 0:
        raise NotYet("That is the filter to the last digit. Hand in what your training found, without rounding.")
    if not off <= 2.0:
        raise NotYet(f"The training has run away: one number of the kernel is off by {off:.2g}. Take smaller steps.")
    raise NotYet(f"One number of the kernel is still off by {off:.2g}. Train longer, or with a larger step.")


LEARNED = Judge(  # what is near the filter is right, and the filter isn't
    check=judge_kernel,
    answer=EDGE + 0.01,
    hints=[
        *KERNELS,
        (EDGE, "That is the filter to the last digit."),
        (0.8 * EDGE, "off by 0.2"),
        (100 * EDGE, "The training has run away"),
    ],
)

MILESTONES = (
    Milestone("slide", "`slide(image, kernel)` adds up the products at each place where the kernel fits.", SLIDE),
    Milestone("to_kernel", "`to_kernel(image, g)` returns the cotangent of the kernel, without a tape.", TO_KERNEL),
    Milestone("to_image", "`to_image(kernel, g)` returns the cotangent of the image, without a tape.", TO_IMAGE),
    Milestone("learned", "hand in the kernel that training finds for `picture` and `edges`.", LEARNED),
)
"""The four milestones of the project."""

WHY = "The other filter takes the right neighbour minus the left one. Now write the report."
