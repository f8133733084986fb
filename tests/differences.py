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
