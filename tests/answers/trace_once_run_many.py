"""Answers to the exercises of trace-once-run-many."""

from collections import deque
from functools import partial

import numpy as np

import autodiff_edu as ad
from autodiff_edu.program.passes import folded, unused

BAKED = dict(zip("abcdefg", ["value", "program", "program", "value", "value", "value", "program"], strict=True))
BAKED = {name: f"new {word}" for name, word in BAKED.items()} | {"e": "old value"}


def repaired(w, x, y, noise, size):
    noisy = x + 0.01 * noise
    error, slope = ad.value_and_grad(lambda w: np.mean((noisy @ w - y) ** 2))(w)
    if error > 1.0:
        slope = slope / 10.0
    return w - size * slope


def with_where(w, x, y, noise, size):
    noisy = x + noise / 100
    error, slope = ad.value_and_grad(lambda w: np.mean((noisy @ w - y) ** 2))(w)
    return w - size * np.where(error > 1.0, slope / 10.0, slope)


def with_a_tape(w, x, y, noise, size):
    with ad.GradientTape() as tape:
        tape.watch(w)
        error = np.mean(((x + 0.01 * noise) @ w - y) ** 2)
    slope = tape.gradient(error, w)
    return w - (size / 10.0 if error > 1.0 else size) * slope


def changed(
    noise=lambda noise: 0.01 * noise,
    size=lambda size: size,
    damped=lambda error: error > 1.0,
    sign=-1.0,
    mean=np.mean,
    damp=lambda slope: slope / 10.0,
    returned=lambda w, change, error: w + change,
):
    def step(w, x, y, noise_given, size_given):
        noisy = x + noise(noise_given)
        error, slope = ad.value_and_grad(lambda w: mean((noisy @ w - y) ** 2))(w)
        if damped(error):
            slope = damp(slope)
        return returned(w, sign * size(size_given) * slope, error)

    return lambda w, x, y, noise, size: step(w, x, y, noise, size)


def judged_without_noise(w, x, y, noise, size):
    slope = ad.grad(lambda w: np.mean(((x + 0.01 * noise) @ w - y) ** 2))(w)
    if np.mean((x @ w - y) ** 2) > 1.0:
        slope = slope / 10.0
    return w - size * slope


def without_if(w, x, y, noise, size):
    return w - size * ad.grad(lambda w: np.mean(((x + 0.01 * noise) @ w - y) ** 2))(w)


random = np.random.default_rng(0)


def keeping(listing, needed):
    stay = [one for one in listing.instructions if one.is_guard or one.output_value in needed]
    return listing.with_instructions(stay)


def drop_unused(listing):
    needed, left = listing.kept(), []
    for instruction in reversed(listing.instructions):
        if instruction.output_value is None or instruction.output_value in needed:
            left.append(instruction)
            needed.update(instruction.reads())
    return listing.with_instructions(left[::-1])


def by_repetition(listing):
    """Remove what nothing reads, until nothing is left to remove."""
    left = listing.instructions
    while True:
        read = listing.kept() | {value for instruction in left for value in instruction.reads()}
        fewer = [one for one in left if one.is_guard or one.output_value in read]
        if len(fewer) == len(left):
            return listing.with_instructions(fewer)
        left = fewer


def in_front(listing):
    needed, left = listing.kept(), []
    for instruction in listing.instructions[::-1]:
        if instruction.is_guard or instruction.output_value in needed:
            left.insert(0, instruction)
            needed |= set(instruction.reads())
    return listing.with_instructions(left)


def with_a_deque(listing):
    needed, left = listing.kept(), deque()
    for place in range(len(listing.instructions) - 1, -1, -1):
        instruction = listing.instructions[place]
        if instruction.output_value is None or instruction.output_value in needed:
            left.appendleft(instruction)
            needed.update(instruction.reads())
    return listing.with_instructions(left)


def with_ids(listing):
    """Mark from the end, then keep what is marked."""
    needed, marked = {id(value) for value in listing.kept()}, set()
    for instruction in reversed(listing.instructions):
        if instruction.is_guard or id(instruction.output_value) in needed:
            marked.add(id(instruction))
            needed.update(map(id, instruction.reads()))
    return listing.with_instructions([one for one in listing.instructions if id(one) in marked])


def by_recursion(listing):
    """Follow what is needed back to its makers."""
    makers = {one.output_value: one for one in listing.instructions if not one.is_guard}
    needed = set()

    def need(value):
        if value not in needed:
            needed.add(value)
            if value in makers:
                for read in makers[value].reads():
                    need(read)

    for value in listing.kept():
        need(value)
    for guard in filter(lambda one: one.is_guard, listing.instructions):
        for value in guard.reads():
            need(value)
    return keeping(listing, needed)


def needed_values(listing):
    needed = listing.kept()
    while True:
        stay = [one for one in listing.instructions if one.is_guard or one.output_value in needed]
        more = needed.union(*(one.reads() for one in stay))
        if more == needed:
            return needed
        needed = more


def in_a_comprehension(listing):
    needed = needed_values(listing)
    return keeping(listing, needed)


def one_round(listing):
    read = listing.kept() | {value for instruction in listing.instructions for value in instruction.reads()}
    return keeping(listing, read)


def one_more(listing):
    """Keep also the last of those that must go."""
    left = drop_unused(listing).instructions
    gone = [one for one in listing.instructions if one not in left][-1:]
    return listing.with_instructions([one for one in listing.instructions if one in left or one in gone])


def without_guards(listing):
    right = drop_unused(listing)
    return right.with_instructions([one for one in right.instructions if not one.is_guard])


def results_only(listing):
    return keeping(listing, listing.kept())


def emptied(listing):
    right = drop_unused(listing)
    listing.instructions.clear()
    return right


def updated(needed, instruction):
    needed.update(instruction.reads())


def sweep(
    order=lambda instructions: instructions[::-1],
    need=updated,
    need_of_guard=updated,
    stays=lambda instruction, needed: instruction.is_guard or instruction.output_value in needed,
    ending=lambda left: left[::-1],
):
    """The loop of the solution, with parts of it changed."""

    def drop_unused(listing):
        needed, left = listing.kept(), []
        for instruction in order(listing.instructions):
            if stays(instruction, needed):
                left.append(instruction)
                (need_of_guard if instruction.is_guard else need)(needed, instruction)
        return listing.with_instructions(ending(left))

    return drop_unused


def ends(ending):
    return sweep(ending=lambda left: ending(left[::-1]))


def from_the_front_in_two_passes(listing):
    needed = listing.kept()
    for instruction in listing.instructions:
        if instruction.is_guard or instruction.output_value in needed:
            needed.update(instruction.reads())
    return keeping(listing, needed)


def or_equals(needed, instruction):
    needed |= instruction.reads()


def overwriting(listing):
    needed, left = listing.kept(), []
    for instruction in reversed(listing.instructions):
        if instruction.is_guard or instruction.output_value in needed:
            left.append(instruction)
            needed = set(instruction.reads())
    return listing.with_instructions(left[::-1])


def without_parentheses(listing):
    needed, left = listing.kept(), []
    for instruction in reversed(listing.instructions):
        if instruction.is_guard or instruction.output_value in needed:
            left.append(instruction)
            needed.update(instruction.reads)
    return listing.with_instructions(left[::-1])


def without_return(listing):
    drop_unused(listing)


KEPT = []


def never_emptied(listing):
    KEPT.extend(drop_unused(listing).instructions)
    return listing.with_instructions(KEPT)


def taken_from_the_package(listing):
    return listing.with_instructions(unused(listing).instructions)


RIGHT = {
    1: [
        BAKED,
        {name: word.upper() for name, word in BAKED.items()},
        {name: f" {BAKED[name].replace(' ', '  ')} " for name in "gfedcba"},
        {name.upper(): word for name, word in BAKED.items()},
    ],
    2: [repaired, with_where, with_a_tape, ad.compile(repaired), changed()],
    3: [
        drop_unused,
        by_repetition,
        in_front,
        with_a_deque,
        with_ids,
        by_recursion,
        in_a_comprehension,
        ends(tuple),
        sweep(),
    ],
}

ITS_OWN = "which this exercise leaves to you: write the loop yourself"

WRONG = {
    1: [
        (BAKED | {"a": "new program"}, "for a: the shape and the dtype are the same"),
        (BAKED | {"a": "old value"}, "for a: x is an argument. When does"),
        (BAKED | {"b": "new value"}, "for b: the operations were recorded for arrays of two"),
        (BAKED | {"b": "old value"}, "for b: the recorded program is for two"),
        (BAKED | {"c": "new value"}, "for c: n is a whole number"),
        (BAKED | {"c": "old value"}, "for c: n is an argument, so the new one counts"),
        (BAKED | {"d": "new program"}, "for d: rate is a float"),
        (BAKED | {"d": "old value"}, 'Not "old value" for d: rate is an argument. When does a program read its arg'),
        (BAKED | {"e": "new value"}, "for e: scale is an array, but not an argument"),
        (BAKED | {"e": "new program"}, "for e: it's the arguments that choose"),
        (BAKED | {"f": "new program"}, "for f: bias is still one float64 number"),
        (BAKED | {"f": "old value"}, "for f: bias isn't an argument, but it's a variable"),
        (BAKED | {"g": "new value"}, "for g: is a program for float64"),
        (BAKED | {"g": "old value"}, "for g: x is an argument, so the new one counts"),
        (BAKED | {"a": "input"}, 'Write "new value" or "new program" or "old value": `a` is'),
        (BAKED | {"a": ...}, "three dots"),
        ({"a": "new value"}, "No answer is given for b, c"),
        ("new value", "dict"),
    ],
    2: [
        (changed(noise=lambda noise: 0.01 * random.standard_normal(noise.shape)), "still drawn inside"),
        (changed(damped=lambda error: float(error) > 1.0), "still refuses it"),
        (changed(damped=lambda error: error.numpy() > 1.0), "still refuses it"),
        (changed(damped=lambda error: np.float64(error) > 1.0), "no float\\(\\), np.float64\\(\\), .item"),
        (changed(damped=lambda error: int(error) > 1), "An error of 1.08 is above 1, too: does int\\(\\) or round"),
        (
            changed(noise=lambda noise: 0.01 * np.random.default_rng(0).standard_normal(noise.shape)),
            "doesn't depend on",
        ),
        (changed(size=lambda size: 1.0), "You subtract the whole slope"),
        (changed(noise=lambda noise: 0.0 * noise), "noise is missing"),
        (changed(noise=lambda noise: noise), "a hundredth"),
        (changed(noise=lambda noise: 0.1 * noise), "not a tenth"),
        (lambda w, x, y, noise, size: w * 1.0, "You return w unchanged"),
        (changed(noise=lambda noise: -0.01 * noise), "You subtracted the noise"),
        (without_if, "Yours never is"),
        (judged_without_noise, "the error of the clean x"),
        (changed(damped=lambda error: False), "Is an `if` missing"),
        (changed(damped=lambda error: error < 1.0), "Is the comparison the right way round"),
        (changed(damped=lambda error: np.ones(2) * error > 1.0), "returns the value first"),
        (changed(damped=lambda error: error > 10.0), "With an error above 1, the slope should be divided"),
        (changed(damped=lambda error: error > 0.5), "With an error below 1"),
        (changed(damped=lambda error: True), "With an error below 1"),
        (changed(damp=lambda slope: slope * 10.0), "you multiply the slope by 10"),
        (changed(mean=np.sum), "np.mean"),
        (changed(size=lambda size: 0.1), "another `size`"),
        (changed(size=lambda size: 0.1 * size), "a tenth of what it should be"),
        (changed(damp=lambda slope: slope / 100.0), "a tenth of what it should be"),
        (changed(size=lambda size: 1.0, returned=lambda w, change, error: -change), "That's the slope"),
        (changed(returned=lambda w, change, error: -change), "Return w minus it"),
        (changed(returned=lambda w, change, error: -change, damped=lambda error: False), "Return w minus it"),
        (changed(returned=lambda w, change, error: change), "the change alone"),
        (changed(returned=lambda w, change, error: (w + change, error)), "only the new w, .*a tuple\\."),
        (changed(returned=lambda w, change, error: [w + change]), "only the new w, .*a list\\."),
        (changed(returned=lambda w, change, error: {"w": w + change}), "only the new w, .*a dict\\."),
        (changed(returned=lambda w, change, error: None), "Is a `return` missing"),
        (changed(sign=1.0), "uphill"),
        (changed(size=lambda size: 2.0 * size), "Apart from the noise, `size` and float(), leave the step as it was"),
        (lambda w, x, y, noise, size: ad.grad(lambda w: np.mean((x @ w - y) ** 2)), "three dots, or a plain number"),
        (lambda w, x, y, noise, size: np.sum(w), "of shape \\(2,\\)"),
        (lambda w, x, y, noise, size: ..., "three dots"),
        (lambda w, x, y: w, "raised TypeError"),
        (lambda w, x, y, noise, size: w @ x, "raised ValueError"),
        (3.0, "without calling it"),
    ],
    3: [
        (lambda listing: listing, "Nothing was removed"),
        (one_round, "Which end of the list"),
        (one_more, "cos stays, but nothing reads its result"),
        (ends(lambda left: [one.name for one in left]), "should hold the inst"),
        (without_guards, "A guard is gone"),
        (results_only, "never calls `reads()`"),
        (sweep(order=list, ending=list), "from the front. When you met sin"),
        (sweep(order=list), "from the front. When you met sin"),
        (from_the_front_in_two_passes, "from the front. When you met sum"),
        (sweep(need=lambda needed, one: needed.add(one.reads())), "puts in the iterator itself"),
        (sweep(need=or_equals), "returns an iterator, not a set"),
        (overwriting, "overwrites `needed`"),
        (without_parentheses, "are methods. To call them"),
        (sweep(need=lambda needed, one: needed.union(one.reads())), "`union` and `|` return another set"),
        (sweep(need_of_guard=lambda needed, one: None), "greater is gone, but a guard reads its result"),
        (sweep(need=lambda needed, one: needed.update(one.values)), "argsort is gone, but getitem, which stays, reads"),
        (sweep(need=lambda needed, one: needed.add(next(one.reads()))), "which stays, reads its result"),
        (ends(lambda left: []), "Your list is empty"),
        (sweep(stays=lambda one, needed: one.is_guard or one.output_value not in needed), "the wrong way round"),
        (ends(lambda left: left[:-1]), "but the program returns its result"),
        (lambda listing: drop_unused(listing).instructions, "not a list"),
        (lambda listing: 3, "I got `3`"),
        (sweep(ending=list), "in reverse order"),
        (ends(lambda left: left[1:] + left[:1]), "in another order"),
        (ends(lambda left: left.reverse()), "with_instructions got None"),
        (ends(reversed), "with_instructions got an iterator"),
        (ends(lambda left: (one for one in left)), "with_instructions got an iterator"),
        (ends(set), "with_instructions got a set"),
        (ends(dict.fromkeys), "needs a list, and got an object of type dict"),
        (ends(lambda left: left + left[:1]), "sin is in your list twice"),
        (never_emptied, "Begin each call with an empty list"),
        (emptied, "Leave listing.instructions as it is"),
        (without_return, "Your function returned None. Is a `return` missing?"),
        (unused, f"That is `unused`, {ITS_OWN}"),
        (partial(unused), f"That is `unused`, {ITS_OWN}"),
        (taken_from_the_package, f"That is `unused`, {ITS_OWN}"),
        (folded, f"That is `unused`, {ITS_OWN}"),
        (lambda listing: listing.with_instructions(...), "three dots"),
        (lambda: None, "raised TypeError"),
        (sweep(stays=lambda one, needed: one.output in needed), "'Instruction' object has no attribute 'output'"),
        (3.0, "without calling it"),
    ],
}
