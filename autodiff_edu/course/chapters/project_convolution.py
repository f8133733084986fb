"""Project 22.3: a convolution by sliding windows, both cotangents, and an edge filter that is learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..feedback import NotYet, call, near, needs_function, numbers
from ..milestones import Milestone, StillOpen, needs_gradients, reached, without_a_tape

EDGE = np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
"""Right neighbour minus left neighbour, as the chapter draws its `edges`."""


def _slid(image: Any, kernel: Any) -> Any:
    return np.einsum("ijkl,kl->ij", sliding_window_view(image, kernel.shape), kernel)


def _turned(kernel: Any) -> Any:
    return kernel[::-1, ::-1]


def _drawn(seed: int) -> tuple[Any, Any, Any]:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(7, 9)), draw.normal(size=(3, 2)), draw.normal(size=(5, 8))


def _cotangent(function: Any, written: str, *given: Any, source: str) -> Any:
    try:
        result = without_a_tape(function, *given, written=written)
    except NotYet as raised:
        if any(word in str(raised) for word in ("broadcast", "einsum", "must match", "mismatch")):
            raise NotYet(f"{raised} The kernel is 3 × 2 here, not 3 × 3. Take its size from {source}.") from None
        raise
    return numbers(result, f"what {written} returns")


def _written(kernel: Any, g: Any) -> Any:
    """Return the cotangent of the image as a loop leaves it that writes `=` where it should add."""
    rows, columns = kernel.shape
    image = np.zeros((g.shape[0] + rows - 1, g.shape[1] + columns - 1))
    for i, j in np.ndindex(g.shape):
        image[i : i + rows, j : j + columns] = g[i, j] * kernel
    return image


def _slide(slide: Any, answer: Any) -> None:
    needs_function(slide, "slide(image, kernel)")
    image, kernel, _ = _drawn(221)
    try:
        result = call(slide, image, kernel, written="slide(image, kernel)")
    except NotYet as raised:
        if "broadcast" in str(raised):
            fixed = "5,7,3,3" in str(raised).replace(" ", "")
            more = "it isn't always 3 × 3." if fixed else "which axis of the windows belongs to which of the kernel?"
            raise NotYet(f"{raised} I sent a kernel of {kernel.shape}: {more}") from None
        raise
    if result is ...:
        raise StillOpen
    values, right = numbers(result, "what slide(image, kernel) returns"), _slid(image, kernel)
    if values.shape == image.shape:
        raise NotYet("The result is as large as the image. Take only the places where the whole kernel fits.")
    if values.shape == (5, 8, 3, 2):
        raise NotYet("Those are the windows, or their products. Add up over the kernel's two axes.")
    if values.shape == (3, 2):
        raise NotYet("The result has the kernel's shape. Add up over the kernel's axes, the last two of the windows.")
    if values.shape != right.shape:
        raise NotYet(
            f"An image of {image.shape} has room for a kernel of {kernel.shape} at {right.shape} places, and your "
            f"result has the shape {values.shape}."
        )
    for wrong, hint in (
        (_slid(image, _turned(kernel)), "The kernel is turned around. Networks don't do that: leave it as it is."),
        (_slid(image, kernel) / kernel.size, "That's the mean of the products. I asked for their sum."),
        (_slid(image, np.ones_like(kernel)), "The kernel's numbers are missing: you add up the bare windows."),
    ):
        if near(values, wrong):
            raise NotYet(hint)
    if not near(values, right):
        raise NotYet(
            f"At the upper left, the sum of products is {right[0, 0]:.6f}, and yours is {values[0, 0]:.6f}. "
            "Compute that one by hand."
        )
    needs_gradients(slide, image, kernel, written="slide(image, kernel)")


def _to_kernel(to_kernel: Any, answer: Any) -> None:
    needs_function(to_kernel, "to_kernel(image, g)")
    image, kernel, g = _drawn(222)
    values, right = (
        _cotangent(to_kernel, "to_kernel(image, g)", image, g, source="those of image and g"),
        _slid(image, g),
    )
    if values.shape == g.shape or values.shape == image.shape:
        raise NotYet("A cotangent has the shape of what it belongs to, here the kernel's.")
    if values.shape != right.shape:
        raise NotYet(
            f"The image is {image.shape}, g is {g.shape}, so the kernel was {kernel.shape}, and so is its cotangent. "
            f"Yours is {values.shape}."
        )
    for wrong, hint in (
        (_turned(right), "The result is turned around. Nothing needs to be turned for the kernel."),
        (_slid(image, _turned(g)), "g is turned around. Nothing needs to be turned for the kernel."),
        (_slid(image, np.ones_like(g)), "g's numbers are missing: that's right only if g is all ones."),
        (right / g.size, "That is the mean over the places. Contributions are added."),
        (-right, "Every sign is the wrong way round. Each product is added, so nothing is subtracted here."),
    ):
        if near(values, wrong):
            raise NotYet(hint)
    if not near(values, right):
        raise NotYet(
            "Those aren't the tape's numbers. Kernel entry (0, 0) meets a number of the image at each place. Which, "
            "and what arrives there?"
        )


def _to_image(to_image: Any, answer: Any) -> None:
    needs_function(to_image, "to_image(kernel, g)")
    image, kernel, g = _drawn(223)
    values = _cotangent(to_image, "to_image(kernel, g)", kernel, g, source="`kernel.shape`")
    padded = np.pad(g, ((2, 2), (1, 1)))
    right = _slid(padded, _turned(kernel))
    if values.shape == _slid(g, kernel).shape:
        raise NotYet("Too small: the places at the rim are missing. Pad g on all sides, one less than the kernel.")
    if values.shape == g.shape:
        raise NotYet("A cotangent has the shape of what it belongs to. The image is larger than g.")
    if values.shape in ((7, 10), (7, 11), (9, 12)):
        raise NotYet(
            f"The image was {image.shape}, and yours is {values.shape}. The kernel is 3 × 2 here, not 3 × 3: pad each "
            "axis by one less than the kernel has there."
        )
    if values.shape != right.shape:
        raise NotYet(f"The image was {image.shape}, and so is its cotangent. Yours is {values.shape}.")
    for wrong, hint in (
        (
            _slid(padded, kernel),
            "Turn the kernel around: the number at a window's upper left meets the kernel's upper left, so seen from "
            "the image, the places lie in the opposite order.",
        ),
        (_slid(padded, kernel[::-1]), "Turn the kernel around in both directions, also left to right."),
        (_slid(padded, kernel[:, ::-1]), "Turn the kernel around in both directions, also upside down."),
        (_written(kernel, g), "A pixel lies under several windows, and each contributes: `+=`, not `=`."),
        (-right, "Every sign is the wrong way round. Each product is added, so nothing is subtracted here."),
    ):
        if near(values, wrong):
            raise NotYet(hint)
    if not near(values, right):
        raise NotYet(
            "Those aren't the tape's numbers. Put a single 1 into g, at the upper left: where does the kernel appear?"
        )


def _learned(learned: Any, answer: Any) -> None:
    values = numbers(learned, "the learned kernel", "Is the training loop run?")
    if values.shape != (3, 3):
        raise NotYet(f"I need 3 × 3 numbers, and got the shape {values.shape}.")
    if not np.isfinite(values).all():
        raise NotYet("Some of its numbers are not finite. Take smaller steps.")
    off = np.abs(values - EDGE).max()
    if (values == EDGE).all():
        raise NotYet("That is the filter to the last digit. Hand in what your training found, without rounding.")
    if off <= 0.05:
        return
    if np.abs(values + EDGE).max() <= 0.05:
        raise NotYet(
            "The sign is the wrong way round. Does your loss add `edges` instead of subtracting it? Or does it use "
            "something other than `slide`, which turns the kernel around?"
        )
    if off > 2.0:
        raise NotYet(f"The training has run away: one number of the kernel is off by {off:.2g}. Take smaller steps.")
    if np.abs(values).max() < 0.05:
        raise NotYet("The kernel is still about 0. Does the loop assign the new kernel?")
    if np.abs(values - EDGE.T).max() <= 0.05:
        raise NotYet("This one finds the edges of the transposed picture. Which axis of the windows is which?")
    raise NotYet(f"One number of the kernel is still off by {off:.2g}. Train longer, or with a larger step.")


MILESTONES = (
    Milestone("slide", "`slide(image, kernel)` adds up the products at each place where the kernel fits.", _slide),
    Milestone("to_kernel", "`to_kernel(image, g)` returns the cotangent of the kernel, without a tape.", _to_kernel),
    Milestone("to_image", "`to_image(kernel, g)` returns the cotangent of the image, without a tape.", _to_image),
    Milestone("learned", "hand in the kernel that training finds for `picture` and `edges`.", _learned),
)
"""The four milestones of the project."""


def convolution(answer: Any) -> str:
    """Check 22.3: a convolution, its two cotangents, and the kernel that it learns."""
    done = reached(answer, MILESTONES, '{"slide": slide, "to_kernel": to_kernel, ...}')
    return f"{done} The other filter takes the right neighbour minus the left one. Now write the report."
