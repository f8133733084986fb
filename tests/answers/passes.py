"""Answers to the exercises of passes."""

from collections import deque
from functools import partial

from autodiff_edu.program.passes import folded, unused

LEFT = {"a": 2, "b": 1, "c": 1, "d": 1, "e": 2, "f": "infinite"}
BACKWARDS = {"w0": 26, "w1": 15, "v0_bar": 156, "v1_bar": 2, "both": 176}


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
    1: [LEFT, {**LEFT, "a": 2.0}],
    2: [
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
    3: [BACKWARDS, {name: float(value) for name, value in BACKWARDS.items()}],
}

ITS_OWN = "which this exercise leaves to you: write the loop yourself"

WRONG = {
    1: [
        ({**LEFT, "a": 3}, "computed twice"),
        ({**LEFT, "b": 2}, "who needs the exponential"),
        ({**LEFT, "c": 3}, "what was recorded"),
        ({**LEFT, "d": 2}, "before it meets x"),
        ({**LEFT, "e": 1}, "moves digits"),
        ({**LEFT, "f": "zero"}, "what is 0 - 0"),
        ({**LEFT, "f": "huge"}, "minus itself"),
        ({**LEFT, "e": ...}, "Still missing: e|`e` is still missing"),
        (2, "I need a dict"),
    ],
    2: [
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
    3: [
        ({**BACKWARDS, "w0": 6}, "b is a"),
        ({**BACKWARDS, "w1": 65}, "it reads a"),
        ({**BACKWARDS, "v0_bar": 150}, "two contributions"),
        ({**BACKWARDS, "v0_bar": 52}, "multiplies by 3"),
        ({**BACKWARDS, "v1_bar": 10}, "What arrives at b"),
        ({**BACKWARDS, "both": 26}, "that is w0"),
        ({**BACKWARDS, "both": "x"}, "`both`"),
        (176, "I need a dict"),
    ],
}
