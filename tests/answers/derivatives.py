"""Answers to the exercises of derivatives."""

import numpy as np

import autodiff_edu as ad


def gradient(f, p, h=1e-5):
    return np.array([(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(len(p))])


def steepest(f, p):
    slopes = gradient(f, p)
    return slopes / np.linalg.norm(slopes)


def one_sided(f, p):
    slopes = np.array([(f(p + 0.01 * e) - f(p)) / 0.01 for e in np.eye(len(p))])
    return slopes / np.sqrt(np.sum(slopes**2))


def best_of_the_inputs(f, p):
    return np.eye(len(p))[np.argmax(gradient(f, p))]


def one_step_for_all(f, p, length=np.linalg.norm):
    step, slopes = np.zeros(len(p)), []
    for k in range(len(p)):
        step[k] = 1e-5
        slopes.append((f(p + step) - f(p - step)) / 2e-5)
    return np.array(slopes) / length(slopes)


def whole_steps(f, p):
    slopes = []
    for k in range(len(p)):
        step = np.zeros(len(p), dtype=int)
        step[k] = 1e-5
        slopes.append((f(p + step) - f(p - step)) / 2e-5)
    with np.errstate(invalid="ignore"):
        return np.array(slopes) / np.linalg.norm(slopes)


def of_three_inputs_alone(f, p):
    e = np.eye(3)
    slopes = np.array([(f(np.resize(p, 3) + 1e-5 * e[k]) - f(np.resize(p, 3) - 1e-5 * e[k])) / 2e-5 for k in range(3)])
    return slopes / np.linalg.norm(slopes)


def along_all_at_once(f, p, h=1e-5):
    slopes = np.array([(f(p + h) - f(p - h)) / (2 * h) for _ in p])
    return slopes / np.linalg.norm(slopes)


def around_the_unit_circle(f, p):
    directions = [np.array([np.cos(angle), np.sin(angle)]) for angle in np.linspace(0.0, 6.28, 100)]
    return max(directions, key=lambda direction: f(p + 1e-5 * direction))


HERE = np.array([1.0, 2.0])


def hill(p):
    return -np.sum(p**2)


RIGHT = {
    1: [
        lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h),
        lambda f, x, h: ((f(x + h) - f(x)) / h + (f(x) - f(x - h)) / h) / 2,
        lambda f, x, h: (f(x + h) - f(x - h)) / ((x + h) - (x - h)),
        lambda f, x, h: np.float32((f(x + h) - f(x - h)) / (2 * h)),
    ],
    2: [1e-5, 6e-6, 1e-4, 1e-7, 3e-7, 1e-6, np.float32(1e-5), ad.constant(1e-6)],
    3: [
        steepest,
        lambda f, p: gradient(f, p, h=1e-4) / np.sum(gradient(f, p, h=1e-4) ** 2) ** 0.5,
        lambda f, p: ad.constant(steepest(f, p)),
        lambda f, p: steepest(f, p).astype(np.float32).tolist(),
    ],
}

WRONG = {
    1: [
        (lambda f, x, h: (f(x + h) - f(x)) / h, "forward difference"),
        (lambda f, x, h: (f(x) - f(x - h)) / h, "backward difference"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / h, "you divide by h"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / 2 * h, "multiplies by h"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / 2, "by 2 alone"),
        (lambda f, x, h: (f(x - h) - f(x + h)) / (2 * h), "sign is wrong"),
        (lambda f, x, h: f(x + h) - f(x - h) / (2 * h), "brackets"),
        (lambda f, x, h: f(x + h) - f(x - h) / 2 * h, "both pairs of brackets"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / 2 + h, "then adds h"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / (2 + h), "2 plus h"),
        (lambda f, x, h: f(x + h) - f(x - h), "This is the rise"),
        (lambda f, x, h: (f(x + h) - f(x)) / (2 * h), "from x to x"),
        (lambda f, x, h: (f(x + h) + f(x - h)) / (2 * h), "Subtract the two values"),
        (lambda f, x, h: 3 * x * x - 2, "exact slope"),
        (lambda f, x, h: ad.grad(f)(x), "exact slope"),
        (lambda f, x, h: (f(x + 2 * h) - f(x - 2 * h)) / (4 * h), "steps by 2h to each side"),
        (lambda f, x, h: (f(x + h / 2) - f(x - h / 2)) / h, "as some books write it"),
        (lambda f, x, h: (f(x + 0.01) - f(x - 0.01)) / 0.02, "never reads its argument `h`"),
        (lambda f, x, h: (f(x + 1e-5) - f(x - 1e-5)) / 2e-5, "a step far smaller than h"),
        (lambda f, x, h: (f(x + 1e-8) - f(x)) / 1e-8, "a step far smaller than h"),
        (lambda f, x, h: 0.0, "never calls `f`"),
        (lambda f, x, h: f(x), "should be.*never reads its argument `h`"),
        (lambda f, x, h: ..., "three dots"),
        (lambda f, x, h: None, "returns None"),
        (lambda f, x: 0.0, "raised TypeError"),
        (2.0, "without calling it"),
    ],
    2: [
        (0.1, "too long"),
        (1e-12, "too short"),
        (1e-3, "too long"),
        (1e-9, "too short"),
        (1e-8, "forward"),
        (1e-16, "about epsilon"),
        (0.0, "h = 0 makes the run 0"),
        (-1e-5, "The sign makes no difference"),
        (0.5403, "isn't that the slope"),
        (10 ^ -5, "-15 is not a step.*not a power"),
        (-5, "-5 is not a step"),
        (lambda h: h, "a function"),
        ("small", "I need one number"),
    ],
    3: [
        (gradient, "gradient itself"),
        (lambda f, p: -steepest(f, p), "way \\*down\\*"),
        (lambda f, p: -gradient(f, p), "its length is not 1"),
        (best_of_the_inputs, "one input alone"),
        (lambda f, p: np.eye(len(p))[np.argmax(np.abs(gradient(f, p)))], "one input alone"),
        (lambda f, p: gradient(f, p) / np.sum(gradient(f, p)), "sum of the parts"),
        (lambda f, p: gradient(f, p) / np.abs(gradient(f, p)).max(), "largest part"),
        (lambda f, p: gradient(f, p) / gradient(f, p).max(), "negative part counts too"),
        (one_step_for_all, "Make a new step for each input"),
        (lambda f, p: one_step_for_all(f, p, length=lambda slopes: 1.0), "Make a new step for each input"),
        (whole_steps, "All slopes came out 0"),
        (lambda f, p: 0.0 * gradient(f, p), "All slopes came out 0"),
        (lambda f, p: f(*p), "the whole point as one array"),
        (lambda f, p: steepest(f, p) / np.linalg.norm(gradient(f, p)), "twice"),
        (lambda f, p: gradient(f, p) / len(p), "the number of inputs"),
        (lambda f, p: gradient(f, p) / np.linalg.norm(p), "length of the point"),
        (lambda f, p: p + steepest(f, p), "one step further on"),
        (lambda f, p: np.argmax(gradient(f, p)), "A direction is an array"),
        (lambda f, p: (f(p + 1e-5) - f(p - 1e-5)) / 2e-5, "along all inputs at once"),
        (along_all_at_once, "along all inputs at once"),
        (around_the_unit_circle, r"raised ValueError.* and here that is three"),
        (
            lambda f, point: steepest(f, HERE),
            "computes with `HERE` of the notebook and never reads its argument `point`",
        ),
        (lambda f, point: steepest(hill, point), "never calls `f`"),
        (lambda f, p: np.abs(steepest(f, p)), "Keep the signs"),
        (lambda f, p: np.sign(gradient(f, p)), "only the signs"),
        (lambda f, p: p / np.linalg.norm(p), "the point itself"),
        (lambda f, p: np.linalg.norm(gradient(f, p)), "how steep it is"),
        (one_sided, "Almost"),
        (of_three_inputs_alone, "wrong for two"),
        (lambda f, p: steepest(f, p)[:2], r"should have the shape \(3,\), and yours has"),
        (lambda f, p: np.array([0.0, 0.6, 0.8]), "never calls `f`"),
        (lambda f, p: np.array([0.0, f(p), 0.8]), "and yours is"),
        (lambda f, p: ..., "three dots"),
        (lambda f, p: None, "returns None"),
        (lambda f, p: "up", "array of numbers"),
        (lambda f: 0.0, "raised TypeError"),
        (np.array([1.0, 0.0]), "without calling it"),
    ],
}
