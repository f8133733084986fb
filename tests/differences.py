"""Central differences, and a comparison whose failure says which function, argument, index and values differ."""

import zlib

import numpy as np

STEP = 1e-3


def draw(shape, *key, dtype="float64"):
    """Numbers of size 0.3 to 1.7 and either sign, the same for the same key."""
    rng = np.random.default_rng(zlib.crc32(repr((shape, key)).encode()))
    numbers = rng.uniform(0.3, 1.7, shape) * rng.choice([-1.0, 1.0], shape)
    if np.dtype(dtype).kind == "c":
        numbers = numbers + 1j * rng.uniform(0.3, 1.7, shape)
    return np.asarray(numbers, dtype)


def central_differences(f, arguments, weights=1.0):
    """For each argument, the derivative of Re(sum(conj(weights) * f(*arguments))), by differences of fourth order.

    For a complex argument z = a + bi it is the derivative by a plus i times that by b: TensorFlow's convention.
    """

    def loss(k, index, step):
        moved = [np.array(a) for a in arguments]
        moved[k][index] += step
        return np.sum(np.real(np.conj(weights) * np.asarray(f(*moved))))

    def slope(k, index, unit):
        h = STEP * unit
        near = loss(k, index, h) - loss(k, index, -h)
        far = loss(k, index, 2 * h) - loss(k, index, -2 * h)
        return (8 * near - far) / (12 * STEP)

    results = []
    for k, argument in enumerate(arguments):
        result = np.zeros_like(argument)
        for index in np.ndindex(np.shape(argument)):
            result[index] = slope(k, index, 1.0)
            if result.dtype.kind == "c":
                result[index] += 1j * slope(k, index, 1j)
        results.append(result)
    return results


def directions_of(arguments, *key):
    """A direction of length 1 in the space of all arguments: a step along it is as long as one along an axis."""
    drawn = [draw(np.shape(a), *key, "direction", k, dtype=a.dtype) for k, a in enumerate(arguments)]
    length = np.sqrt(sum(np.sum(np.abs(d) ** 2) for d in drawn)) or 1.0
    return tuple(np.asarray(d / length, d.dtype) for d in drawn)


def slope_along(f, arguments, directions):
    """The derivative of f(*arguments) along a direction, by differences of fourth order."""

    def moved(t):
        return np.asarray(f(*(a + t * d for a, d in zip(arguments, directions, strict=True))))

    return (8 * (moved(STEP) - moved(-STEP)) - moved(2 * STEP) + moved(-2 * STEP)) / (12 * STEP)


def inner(a, b):
    """The inner product of real numbers, and that of complex ones as pairs of real numbers."""
    return float(np.sum(np.real(np.conj(np.asarray(a)) * np.asarray(b))))


def assert_gradients(name, f, arguments, got, weights=1.0, tolerance=1e-7):
    """Compare gradients with central differences, along one direction in which all elements of all arguments move.

    That takes four values of f, and a wrong gradient is as wrong there. Only if it differs is it compared element by
    element: to name the first that differs, or to find that the direction crosses a kink that no axis crosses.
    """
    directions = directions_of(arguments, name)
    assert [np.shape(g) for g in got] == [np.shape(a) for a in arguments], name
    ours = sum(inner(d, g) for d, g in zip(directions, got, strict=True))
    theirs = inner(weights, slope_along(f, arguments, directions))
    if not abs(ours - theirs) <= tolerance * max(1.0, abs(theirs)):
        assert_derivatives(name, arguments, got, central_differences(f, arguments, weights), tolerance)


def assert_derivatives(name, arguments, got, expected, tolerance=1e-7, by="central differences"):
    """Compare element by element; the first that differs is named, with both values and the inputs."""
    for k, (argument, ours, theirs) in enumerate(zip(arguments, got, expected, strict=True)):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.shape == theirs.shape, (
            f"{name}: the derivative by argument {k} has shape {ours.shape}, but {theirs.shape} by {by}"
        )
        for index in np.ndindex(ours.shape):
            a, b = ours[index].item(), theirs[index].item()
            assert abs(a - b) <= tolerance * max(1.0, abs(b)), (
                f"{name}: the derivative by argument {k} at index {index} is {a}, but {b} by {by}.\n"
                f"argument {k}: {np.asarray(argument)!r}"
            )
