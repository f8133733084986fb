"""Answers to the exercises of higher-order-gradients."""

import numpy as np

import autodiff_edu as ad


def nested(order):
    """Make an answer to 12.1 that takes a derivative of this order."""

    def derivative(f, x, left=order):
        if left == 0:
            return f(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = derivative(f, x, left - 1)
        return tape.gradient(y, x)

    return derivative


def too_late(f, x):
    with ad.GradientTape() as tape_3:
        tape_3.watch(x)
        with ad.GradientTape() as tape_2:
            tape_2.watch(x)
            with ad.GradientTape() as tape_1:
                tape_1.watch(x)
                y = f(x)
            first = tape_1.gradient(y, x)
    second = tape_2.gradient(first, x)
    return tape_3.gradient(second, x)


def too_late_twice(f, x):
    with ad.GradientTape() as tape_3:
        tape_3.watch(x)
        with ad.GradientTape() as tape_2:
            tape_2.watch(x)
            with ad.GradientTape() as tape_1:
                tape_1.watch(x)
                y = f(x)
        first = tape_1.gradient(y, x)
        second = tape_2.gradient(first, x)
    return tape_3.gradient(second, x)


def unwatched(f, x):
    with ad.GradientTape() as tape_3, ad.GradientTape() as tape_2:
        with ad.GradientTape() as tape_1:
            tape_1.watch(x)
            tape_2.watch(x)
            y = f(x)
        first = tape_1.gradient(y, x)
        second = tape_2.gradient(first, x)
    return tape_3.gradient(second, x)


def by_one_tape(f, x):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first = tape.gradient(f(x), x)
        second = tape.gradient(first, x)
        return tape.gradient(second, x)


def by_two_tapes(f, x):
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape(persistent=True) as inner:
            inner.watch(x)
            second = inner.gradient(inner.gradient(f(x), x), x)
    return outer.gradient(second, x)


def in_one_with(f, x):
    with ad.GradientTape() as tape_3, ad.GradientTape() as tape_2, ad.GradientTape() as tape_1:
        for tape in (tape_3, tape_2, tape_1):
            tape.watch(x)
        first = tape_1.gradient(f(x), x)
        return tape_3.gradient(tape_2.gradient(first, x), x)


def of_y_again(f, x):
    with ad.GradientTape() as tape_3:
        tape_3.watch(x)
        with ad.GradientTape() as tape_2:
            tape_2.watch(x)
            with ad.GradientTape() as tape_1:
                tape_1.watch(x)
                y = f(x)
            tape_1.gradient(y, x)
        first = tape_2.gradient(y, x)
    return tape_3.gradient(first, x)


def watched_late(f, x):
    with ad.GradientTape() as tape_3:
        tape_3.watch(x)
        with ad.GradientTape() as tape_2:
            with ad.GradientTape() as tape_1:
                tape_1.watch(x)
                y = f(x)
            tape_2.watch(x)
            first = tape_1.gradient(y, x)
        second = tape_2.gradient(first, x)
    return tape_3.gradient(second, x)


def watching_the_slope(f, x):
    with ad.GradientTape() as tape_2:
        with ad.GradientTape() as tape_1:
            tape_1.watch(x)
            y = f(x)
        first = tape_1.gradient(y, x)
        tape_2.watch(first)
    return tape_1.gradient(tape_2.gradient(first, x), x)


def plain_in_between(f, x):
    with ad.GradientTape() as outer:
        outer.watch(x)
        first = nested(1)(f, x).numpy()
    return outer.gradient(first, x)


def float_in_between(f, x):
    with ad.GradientTape() as tape_3:
        tape_3.watch(x)
        with ad.GradientTape() as tape_2:
            tape_2.watch(x)
            with ad.GradientTape() as tape_1:
                tape_1.watch(x)
                y = f(x)
            first = float(tape_1.gradient(y, x))
        second = tape_2.gradient(first, x)
    return tape_3.gradient(second, x)


def again_and_again(f, x):
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(tape.gradient(tape.gradient(y, x), x), x)


def through_hessian(f, x):
    with ad.GradientTape() as tape:
        tape.watch(x)
        second = ad.hessian(f)(x)
    return tape.gradient(second, x)


def nothing_returned(f, x):
    nested(3)(f, x)


def in_float32(f, x):
    return np.float32(nested(3)(f, x))


def regularised(loss, watched="error", order=(0, 1), mean=np.mean, watches=True):
    """Make an answer to 12.2 whose loss is made of the error and the input gradient as `loss` says."""

    def gradients(layer, x, wanted):
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                if watches:
                    inner.watch(x)
                output = layer(x)
                error = mean((output - wanted) ** 2)
            by_x = inner.gradient({"error": error, "output": output}[watched], x)
            total = loss(error, by_x)
        pair = outer.gradient(total, [layer.kernel, layer.bias])
        return [pair[k] for k in order]

    return gradients


def error_and(term):
    """Make an answer to 12.2 whose second term is `term(layer, gradient with respect to the kernel)`."""

    def gradients(layer, x, wanted):
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                error = np.mean((layer(x) - wanted) ** 2)
            loss = error + 0.5 * np.sum(term(layer, inner.gradient(error, layer.kernel)) ** 2)
        return outer.gradient(loss, [layer.kernel, layer.bias])

    return gradients


def before_the_outer_tape(layer, x, wanted):
    with ad.GradientTape() as inner:
        inner.watch(x)
        error = np.mean((layer(x) - wanted) ** 2)
    by_x = inner.gradient(error, x)
    with ad.GradientTape() as outer:
        loss = np.mean((layer(x) - wanted) ** 2) + 0.5 * np.sum(by_x**2)
    return outer.gradient(loss, [layer.kernel, layer.bias])


def after_the_outer_tape(layer, x, wanted):
    with ad.GradientTape() as outer, ad.GradientTape() as inner:
        inner.watch(x)
        error = np.mean((layer(x) - wanted) ** 2)
    by_x = inner.gradient(error, x)
    return outer.gradient(error + 0.5 * np.sum(by_x**2), [layer.kernel, layer.bias])


def mix(real, fake, share):
    return share * real + (1 - share) * fake


def penalty(of_gradient, place=mix, rated=lambda rating: rating):
    """Make an answer to 12.3 that computes the penalty from the gradient at a place as `of_gradient` says."""

    def answer(critic, real, fake, share):
        between = place(real, fake, share)
        with ad.GradientTape() as tape:
            tape.watch(between)
            rating = rated(critic(between))
        return of_gradient(tape.gradient(rating, between))

    return answer


def asking_about(source, watched=True):
    """Make an answer to 12.3 whose tape is asked about `real` or `fake`, or about a mixture that nobody watches."""

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
        nested(3),
        in_one_with,
        in_float32,
        lambda f, x: nested(3)(f, x).numpy(),
        lambda f, x: nested(3)(f, ad.constant(x)),
        lambda f, x: nested(3)(f, ad.Variable(x)),
    ],
    2: [
        regularised(lambda error, by_x: error + 0.5 * np.sum(by_x**2)),
        lambda *args: tuple(regularised(lambda error, by_x: error + np.sum(by_x * by_x) / 2)(*args)),
        lambda *args: [slope.numpy() for slope in regularised(lambda e, by_x: e + 0.5 * np.sum(by_x**2))(*args)],
        lambda *args: regularised(lambda e, by_x: e + 0.5 * sum(np.sum(row * row) for row in by_x))(*args),
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
        (nested(0), "This is the value"),
        (nested(1), "This is the first derivative"),
        (nested(2), "This is the second derivative"),
        (nested(4), "one tape fewer"),
        (too_late, "after the tape around it"),
        (too_late_twice, "asked for the gradient of None"),
        (unwatched, "2 of them did"),
        (lambda f, x: ..., "three dots"),
        (lambda f, x: None, "returns None"),
        (lambda f, x: "x", "I need one number"),
        (lambda f, x: -nested(3)(f, x), "the gradient that the tape inside it returned"),
        (6.0, "without calling it"),
        (by_one_tape, "a single tape answered again"),
        (by_two_tapes, "2 tapes were asked"),
        (lambda f, x: ad.grad(ad.grad(ad.grad(f)))(x), "That is `ad.grad`"),
        (through_hessian, "That is `ad.hessian`"),
        (of_y_again, "You ask three tapes"),
        (watched_late, "after f(x) has been computed"),
        (again_and_again, "asked a second time"),
        (nothing_returned, "Is a `return` missing"),
        (watching_the_slope, "1 of them did"),
        (plain_in_between, "has become a plain number"),
        (float_in_between, "has become a plain number"),
        (lambda f, x: ad.jacobian(ad.jacobian(ad.jacobian(f)))(x), "That is `ad.jacobian`"),
    ],
    2: [
        (before_the_outer_tape, "the error alone"),
        (after_the_outer_tape, "A gradient is None"),
        (regularised(lambda error, by_x: error), "the error alone"),
        (regularised(lambda error, by_x: 0.5 * np.sum(by_x**2)), "the term alone"),
        (regularised(lambda error, by_x: error + np.sum(by_x**2)), "counts half"),
        (regularised(lambda error, by_x: error + 0.5 * np.linalg.norm(by_x)), "without the root"),
        (regularised(lambda error, by_x: error + 0.5 * np.mean(by_x**2)), "the mean of the squares"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x)), "Square its elements"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x**2), "output"), "gradient of the error"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x**2), order=(1, 0)), "changed places"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x) ** 2), "You squared the sum"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(np.abs(by_x))), "the sizes of the elements"),
        (regularised(lambda error, by_x: error + 0.5 * np.mean(np.sum(by_x**2, axis=1))), "mean over the samples"),
        (regularised(lambda error, by_x: error - 0.5 * np.sum(by_x**2)), "subtracted the term"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x**2), mean=np.sum), "It should be their mean"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x.numpy() ** 2)), "keep it a tensor"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x**2), watches=False), "Does the inner tape watch x"),
        (
            regularised(lambda error, by_x: error + 0.5 * np.sum(by_x**2), mean=lambda all: np.sum(all) / len(all)),
            "divided by the samples",
        ),
        (regularised(lambda error, by_x: 0.5 * (error + np.sum(by_x**2))), "halved the error as well"),
        (regularised(lambda error, by_x: error + 0.5 * by_x**2), "Sum the squares first"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(rows(by_x))), "a norm for each sample"),
        (regularised(lambda error, by_x: error + 0.5 * np.mean(rows(by_x))), "a norm for each sample"),
        (error_and(lambda layer, slope: slope), "with respect to the kernel"),
        (error_and(lambda layer, slope: layer.kernel), "weight decay"),
        (regularised(lambda error, by_x: error + 2 * np.sum(by_x**2)), "the gradients of another loss"),
        (regularised(lambda error, by_x: error, order=(0, 0)), "its source's shape"),
        (lambda layer, x, wanted: ..., "three dots"),
        (lambda layer, x, wanted: (..., ...), "three dots"),
        (lambda layer, x, wanted: None, "returns None"),
        (lambda layer, x, wanted: 3.0, "I need two gradients"),
        (lambda layer, x: 3.0, "raised TypeError"),
        (3.0, "without calling it"),
    ],
    3: [
        (penalty(lambda by_x: (np.linalg.norm(by_x) - 1) ** 2), "for all samples together"),
        (penalty(lambda by_x: np.mean((np.linalg.norm(by_x, axis=0) - 1) ** 2)), "axis=0"),
        (penalty(lambda by_x: np.mean(rows(by_x) ** 2)), "pulls the norms to 0"),
        (penalty(lambda by_x: np.mean(rows(by_x) - 1)), "Without the square"),
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
