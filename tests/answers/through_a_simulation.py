"""Answers to the exercises of through-a-simulation."""

import numpy as np

import autodiff_edu as ad


def newton(land, speed, target):
    for _ in range(20):
        speed = speed - (land(speed) - target) / ad.grad(land)(speed)
    return speed


def by_tape(land, speed, target):
    for _ in range(30):
        knob = ad.Variable(speed)
        with ad.GradientTape() as tape:
            missed = land(knob) - target
        speed = float(speed) - float(missed) / float(tape.gradient(missed, knob))
    return np.float64(speed)


def by_halving(land, speed, target):
    low, high = 0.0, 100.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if land(middle) < target else (low, middle)
    return low


def stepped(update, turns=20):
    def aim(land, speed, target):
        for _ in range(turns):
            speed = update(speed, land(speed), target, ad.grad(land)(speed))
        return speed

    return aim


BUGS = {"Ana": "order", "Ben": "sum", "Cleo": "state", "Dan": "seed"}


def nested(loss, w, rates):
    knobs = ad.Variable(rates)
    with ad.GradientTape() as outer:
        last = ad.constant(w)
        for rate in knobs:
            with ad.GradientTape() as inner:
                inner.watch(last)
                height = loss(last)
            last = last - rate * inner.gradient(height, last)
        target = loss(last)
    return outer.gradient(target, knobs)


def walked(loss, w, rates):
    path = [w]
    for rate in rates:
        path.append(path[-1] - rate * ad.grad(loss)(path[-1]).numpy())
    p, slopes = ad.grad(loss)(path[-1]).numpy(), np.zeros(len(rates))
    for k in reversed(range(len(rates))):
        slopes[k] = -p @ ad.grad(loss)(path[k]).numpy()
        p = p - rates[k] * ad.hvp(loss, (path[k],), (p,)).numpy()
    return list(slopes)


def trained(gradient=lambda loss, last: ad.grad(loss)(last), sign=-1.0, rate=lambda rates, k: rates[k]):
    def rate_slopes(loss, w, rates):
        def run(rates):
            last = w
            for k in range(len(rates)):
                last = last + sign * rate(rates, k) * gradient(loss, last)
            return loss(last)

        return ad.grad(run)(rates)

    return rate_slopes


RIGHT = {
    1: [newton, by_tape, by_halving],
    2: [BUGS, {name: word.upper() for name, word in BUGS.items()}],
    3: [nested, walked, trained()],
}

WRONG = {
    1: [
        (lambda land, speed, target: ..., "three dots"),
        (stepped(lambda v, far, target, slope: v - (far - target) / slope, 1), "single step"),
        (stepped(lambda v, far, target, slope: v + (far - target) / slope), "subtract what was missed"),
        (stepped(lambda v, far, target, slope: v - (target - far) / slope), "subtract what was missed"),
        (stepped(lambda v, far, target, slope: v - far / slope), "lands at"),
        (stepped(lambda v, far, target, slope: v - 0.01 * (far - target), 5), "lands at"),
        (stepped(lambda v, far, target, slope: v - (far - target) * slope, 1), "divide"),
        (lambda land, speed, target: speed, "the speed you began with"),
        (lambda land, speed, target: None, "None"),
        (lambda land: 3.0, "raised TypeError"),
        (3.0, "without calling it"),
    ],
    2: [
        (BUGS | {"Ana": "sum"}, "need `received`, and"),
        (BUGS | {"Ana": "state"}, "already go wrong"),
        (BUGS | {"Ana": "seed"}, "With a wrong seed, a single"),
        (BUGS | {"Ben": "order"}, "from two steps on"),
        (BUGS | {"Ben": "state"}, "already go wrong"),
        (BUGS | {"Ben": "seed"}, "Ben's is right"),
        (BUGS | {"Cleo": "order"}, "only one order"),
        (BUGS | {"Cleo": "sum"}, "nothing to add up"),
        (BUGS | {"Cleo": "seed"}, "shorter step"),
        (BUGS | {"Dan": "order"}, "wrong order the slopes of a sum"),
        (BUGS | {"Dan": "sum"}, "Without adding up"),
        (BUGS | {"Dan": "state"}, "wrong states"),
        (BUGS | {"Dan": ...}, "three dots"),
        (BUGS | {"Dan": "right"}, 'Write "order"'),
        ({"Ana": "order"}, "No mistake is given for Ben"),
    ],
    3: [
        (lambda loss, w, rates: ..., "three dots"),
        (trained(gradient=lambda loss, last: ad.grad(loss)(ad.stop_gradient(last)).numpy()), "is a constant"),
        (trained(sign=1.0), "uphill"),
        (trained(rate=lambda rates, k: rates[0]), "takes `rates[0]`"),
        (trained(rate=lambda rates, k: rates[-1 - k]), "wrong order"),
        (lambda loss, w, rates: [*nested(loss, w, rates[:-1]).numpy(), 0.0], "one short"),
        (lambda *data: -nested(*data).numpy(), "wrong way round"),
        (lambda *data: np.sum(nested(*data).numpy()), "one number"),
        (lambda loss, w, rates: np.ones(len(rates)), "never calls `loss`"),
        (lambda loss, w, rates: 0.5 * nested(loss, w, rates).numpy(), "should be"),
        (lambda loss, w, rates: None, "None"),
        (lambda loss: 3.0, "raised TypeError"),
        (3.0, "without calling it"),
    ],
}
