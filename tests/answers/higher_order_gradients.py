"""Answers to the exercises of higher-order-gradients."""

import numpy as np

import autodiff_edu as ad
from autodiff_edu.course.chapters.higher_order_gradients import off_by, open_late, watch_late


def ask_twice(u, t, persistent=False):
    with ad.GradientTape(persistent=persistent) as tape:
        tape.watch(t)
        position = u(t)
    speed = tape.gradient(position, t)
    return np.mean((tape.gradient(speed, t) + position) ** 2)


def in_one_block(u, t):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(t)
        position = u(t)
        speed = tape.gradient(position, t)
        acceleration = tape.gradient(speed, t)
    return np.mean((acceleration + position) ** 2)


def outer_too_late(u, t):
    with ad.GradientTape() as outer, ad.GradientTape() as inner:
        inner.watch(t)
        position = u(t)
    speed = inner.gradient(position, t)
    return np.mean((outer.gradient(speed, t) + position) ** 2)


def outer_unwatched(u, t):
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            inner.watch(t)
            position = u(t)
        speed = inner.gradient(position, t)
    return np.mean((outer.gradient(speed, t) + position) ** 2)


def of_the_mean(u, t):
    with ad.GradientTape() as outer:
        outer.watch(t)
        with ad.GradientTape() as inner:
            inner.watch(t)
            position = u(t)
            mean = np.mean(position)
        speed = inner.gradient(mean, t)
    return square(position, speed, outer.gradient(speed, t))


def time_by_time(u, t):
    return sum(off_by(square)(u, ad.constant([one])) for one in t.numpy()) / len(t)


def by_forward_mode(u, t):
    ones = np.ones(5)
    acceleration = ad.jvp(lambda t: ad.jvp(u, (t,), (ones,))[1], (t,), (ones,))[1]
    return np.mean((acceleration + u(t)) ** 2)


def square(position, speed, acceleration):
    return np.mean((acceleration + position) ** 2)


def mix(real, fake, share):
    return share * real + (1 - share) * fake


def penalty(of_gradient, place=mix, rated=lambda rating: rating):
    """Make an answer to 11.3 that computes the penalty from the gradient at a place as `of_gradient` says."""

    def answer(critic, real, fake, share):
        between = place(real, fake, share)
        with ad.GradientTape() as tape:
            tape.watch(between)
            rating = rated(critic(between))
        return of_gradient(tape.gradient(rating, between))

    return answer


def asking_about(source, watched=True):
    """Make an answer to 11.3 whose tape is asked about `real` or `fake`, or about a mixture that nobody watches."""

    def answer(critic, real, fake, share):
        with ad.GradientTape() as tape:
            if watched:
                tape.watch([real, fake])
            rating = critic(mix(real, fake, share))
        found = tape.gradient(rating, {"real": real, "fake": fake, "again": mix(real, fake, share)}[source])
        return usual(found)

    return answer


def by_loop(critic, real, fake, share):
    total = 0.0
    for one, other, part in zip(real, fake, share, strict=True):
        between = mix(one, other, part)
        with ad.GradientTape() as tape:
            tape.watch(between)
            rating = critic(between)
        total += (np.linalg.norm(tape.gradient(rating, between)) - 1) ** 2
    return total / len(share)


def mixed_gradients(critic, real, fake, share):
    at = [penalty(lambda by_x: by_x, lambda *three, k=k: three[k])(critic, real, fake, share) for k in (0, 1)]
    return usual(mix(*at, share))


def usual(to_x):
    return np.mean((rows(to_x) - 1) ** 2)


def rows(by_x):
    return np.linalg.norm(by_x, axis=1)


RIGHT = {
    1: [
        {"returned": 3, "should be": 6, "line": 6},
        {"returned": 3.0, "should be": ad.constant(6.0), "line": 6.0},
        {"line": np.int64(6), "should be": np.float32(6), "returned": np.array(3)},
    ],
    2: [
        off_by(square),
        in_one_block,
        time_by_time,
        by_forward_mode,
        off_by(lambda position, speed, acceleration: np.sum((acceleration + position) ** 2) / 5),
        off_by(lambda position, speed, acceleration: np.mean((-acceleration - position) ** 2)),
    ],
    3: [
        penalty(usual),
        penalty(usual, lambda real, fake, share: fake + share * (real - fake)),
        by_loop,
        penalty(lambda by_x: np.mean((np.sqrt(np.sum(by_x**2, axis=1)) - 1.0) ** 2)),
    ],
}

WRONG = {
    1: [
        ({"returned": 6, "should be": 6, "line": 6}, "Which part of line 5"),
        ({"returned": None, "should be": 6, "line": 6}, "there is a path"),
        ({"returned": 30, "should be": 6, "line": 6}, "slope itself"),
        ({"returned": 0, "should be": 6, "line": 6}, "multiplies by x once more"),
        ({"returned": 15, "should be": 6, "line": 6}, "the value of x * y"),
        ({"returned": 5, "should be": 6, "line": 6}, "5 is x"),
        ({"returned": 8, "should be": 6, "line": 6}, "In which of the two"),
        ({"returned": 3, "should be": 3, "line": 6}, "3 is y"),
        ({"returned": 3, "should be": 10, "line": 6}, "10 is 2x"),
        ({"returned": 3, "should be": 30, "line": 6}, "30 is dz/dy"),
        ({"returned": 3, "should be": 8, "line": 6}, "dz/dy is 2xy"),
        ({"returned": 3, "should be": 6, "line": 7}, "stands where it should"),
        ({"returned": 3, "should be": 6, "line": 2}, "before line 5"),
        ({"returned": 3, "should be": 6, "line": "6"}, "without quotes"),
        ({"returned": 3, "should be": 6}, "line"),
        ({"returned": ..., "should be": ..., "line": ...}, "three dots"),
        (2, "dict"),
    ],
    2: [
        (ask_twice, "a second time"),
        (lambda u, t: ask_twice(u, t, persistent=True), "a gradient that is None"),
        (outer_too_late, "a gradient that is None"),
        (outer_unwatched, "a gradient that is None"),
        (watch_late, "begins to watch t after"),
        (open_late, "inside the outer one"),
        (of_the_mean, "the mean position"),
        (off_by(lambda position, speed, acceleration: np.mean((speed + position) ** 2)), "You added the speed"),
        (off_by(lambda position, speed, acceleration: np.mean((acceleration - position) ** 2)), "subtracted"),
        (off_by(lambda position, speed, acceleration: np.mean(acceleration**2)), "alone"),
        (off_by(lambda position, speed, acceleration: np.mean(acceleration + position)), "Without the square"),
        (off_by(lambda position, speed, acceleration: np.mean(acceleration + position) ** 2), "before the square"),
        (off_by(lambda position, speed, acceleration: np.mean(np.abs(acceleration + position))), "the sizes"),
        (off_by(lambda position, speed, acceleration: np.sum((acceleration + position) ** 2)), "the sum over"),
        (off_by(lambda position, speed, acceleration: np.mean(acceleration**2 + position**2)), "each of the two"),
        (off_by(lambda position, speed, acceleration: (acceleration + position) ** 2), "one for each of them"),
        (off_by(lambda position, speed, acceleration: np.sqrt(square(position, speed, acceleration))), "a root"),
        (off_by(lambda position, speed, acceleration: np.linalg.norm(acceleration + position)), "A norm is the root"),
        (off_by(lambda *three: square(*three) / 2), "half of the loss"),
        (off_by(lambda *three: float(square(*three))), "nothing connects it"),
        (off_by(lambda *three: square(*three).numpy()), "nothing connects it"),
        (off_by(lambda position, speed, acceleration: square(position, speed, acceleration.numpy())), "a constant"),
        (
            off_by(lambda position, speed, acceleration: square(position.numpy(), speed, acceleration)),
            "or the position",
        ),
        (off_by(lambda position, speed, acceleration: 2 * square(position, speed, acceleration)), "In this order"),
        (off_by(lambda position, speed, acceleration: None), "returns None"),
        (lambda u, t: ..., "three dots"),
        (3.0, "without calling it"),
    ],
    3: [
        (penalty(lambda by_x: (np.linalg.norm(by_x) - 1) ** 2), "for all samples together"),
        (penalty(lambda by_x: np.mean((np.linalg.norm(by_x, axis=0) - 1) ** 2)), "axis=0"),
        (penalty(lambda by_x: np.mean(rows(by_x) ** 2)), "pulls the norms to 0"),
        (penalty(lambda by_x: np.mean(rows(by_x) - 1)), "Without the square"),
        (penalty(lambda by_x: np.mean(1 - rows(by_x))), "Without the square"),
        (penalty(lambda by_x: np.mean(np.maximum(rows(by_x) - 1, 0) ** 2)), "below 1 pass"),
        (penalty(lambda by_x: np.mean(np.abs(rows(by_x) - 1))), "the size of norm - 1"),
        (penalty(lambda by_x: np.sum((rows(by_x) - 1) ** 2)), "sum over the samples"),
        (penalty(lambda by_x: (np.mean(rows(by_x)) - 1) ** 2), "before the square"),
        (penalty(lambda by_x: np.mean((np.sum(by_x**2, axis=1) - 1) ** 2)), "without the root"),
        (penalty(lambda by_x: np.mean((by_x - 1) ** 2)), "each element"),
        (penalty(lambda by_x: (rows(by_x) - 1) ** 2), "one for each of them"),
        (penalty(lambda by_x: float(np.mean((rows(by_x) - 1) ** 2))), "Keep it a tensor"),
        (penalty(lambda by_x: np.mean((ad.stop_gradient(rows(by_x)) - 1) ** 2)), "Keep it a tensor"),
        (penalty(lambda by_x: np.mean((rows(by_x) - 1) * ad.stop_gradient(rows(by_x) - 1))), "its gradient isn't"),
        (penalty(lambda by_x: 7.0), "In this order"),
        (penalty(lambda by_x: None), "returns None"),
        (penalty(usual, lambda real, fake, share: real), "at the real samples"),
        (penalty(usual, lambda real, fake, share: fake), "at the fake samples"),
        (penalty(usual, lambda real, fake, share: mix(fake, real, share)), "the share belongs to real"),
        (penalty(usual, lambda real, fake, share: (real + fake) / 2), "halfway"),
        (penalty(usual, lambda real, fake, share: np.concatenate([real, fake])), "at real and fake"),
        (penalty(usual, lambda real, fake, share: real + fake), "the sum of the samples"),
        (penalty(usual, lambda real, fake, share: share * (real - fake)), "without its start"),
        (penalty(usual, lambda real, fake, share: share * real + fake), "add up to 1"),
        (penalty(usual, lambda real, fake, share: share * real + 1 - share * fake), "needs brackets"),
        (penalty(usual, lambda real, fake, share: mix(real, fake, share[0])), "by the same share"),
        (penalty(usual, lambda real, fake, share: mix(real, fake, np.mean(share))), "by the same share"),
        (penalty(usual, rated=np.mean), "the mean rating"),
        (penalty(lambda by_x: np.mean(rows(by_x) ** 2 - 1)), "after the square"),
        (penalty(lambda by_x: np.mean(rows(by_x))), "the mean of the norms"),
        (lambda critic, *three: np.mean((critic(mix(*three)) - 1) ** 2), "compared the ratings"),
        (penalty(usual, lambda real, fake, share: share * real), "left out fake"),
        (penalty(usual, lambda real, fake, share: real - fake), "not a place on it"),
        (mixed_gradients, "You mixed the gradients"),
        (penalty(lambda by_x: np.sqrt(usual(by_x))), "a root at the end"),
        (penalty(lambda by_x: 0.5 * usual(by_x)), "half of the penalty"),
        (penalty(lambda by_x: np.mean((np.sum(np.abs(by_x), axis=1) - 1) ** 2)), "the sizes in each row"),
        (penalty(lambda by_x: np.mean(rows(by_x - 1) ** 2)), "subtracted 1 from each element"),
        (asking_about("real"), "with respect to real"),
        (asking_about("fake"), "with respect to fake"),
        (asking_about("again", watched=False), "a gradient that is None"),
        (penalty(usual, lambda real, fake, share: ...), "three dots"),
        (lambda critic, real, fake, share: ..., "three dots"),
        (lambda critic, x: 3.0, "raised TypeError"),
        (3.0, "without calling it"),
    ],
}
