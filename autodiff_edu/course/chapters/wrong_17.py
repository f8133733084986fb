"""Known wrong passes of exercise 17.3, and the hint for each."""

from __future__ import annotations

from ...program.instructions import Instruction, Listing

Instructions = list[Instruction]


def why_pass(
    left: Instructions, right: Instructions, listing: Listing, called: Instructions, used: Instructions
) -> str:
    """Return the hint for a pass that leaves other instructions than the right ones.

    It called `reads()` of the instructions `called`, in this order, and went through what that returned for `used`.
    """
    if left == right[::-1]:
        return "The right instructions stay, but in reverse order. Turn the list round again."
    if set(left) == set(right):
        return "The right instructions stay, but in another order. A value must be computed before it's used."
    if not left:
        return "Your list is empty. Which instructions compute what the program returns, the values in listing.kept()?"
    missing = [one for one in right if one not in left]
    if any(one.is_guard for one in missing):
        return "A guard is gone. It computes nothing, but it checks that the program is still the right one."
    if set(left) == _overwritten(listing):
        return "Each turn overwrites `needed`. Add to it: needed.update(instruction.reads())."
    if missing and missing[-1].output_value in listing.kept():
        return _why_result(missing[-1], left, listing)
    if missing:
        return _why_reads(missing, left, listing, called, used)
    if len(left) == len(listing.instructions):
        return "Nothing was removed, although the program computes something that nothing needs."
    extra = next(one for one in left if one not in right)
    if not any(extra.output_value in one.reads() for one in listing.instructions):
        return f"{extra.name} stays, but nothing reads its result, and the program doesn't return it."
    return (
        f"{extra.name} stays, but only an instruction that is itself unused reads its result. Which end of the list "
        "must you begin at to know that, and whose `reads()` count?"
    )


def _why_result(last: Instruction, left: Instructions, listing: Listing) -> str:
    if any(one.output_value in listing.kept() for one in left):
        return f"{last.name} is gone, but the program returns its result: it's in listing.kept()."
    return f"{last.name} is gone, although the program returns its result. Is your test the wrong way round?"


def _why_reads(
    missing: Instructions, left: Instructions, listing: Listing, called: Instructions, used: Instructions
) -> str:
    once, twice = _from_the_front(listing)
    places = [listing.instructions.index(one) for one in used]
    if set(left) in (once, twice) and len(places) > 1 and places == sorted(places):
        return (
            f"You went through the list from the front. When you met {missing[0].name}, you couldn't know yet that a "
            "later instruction needs it. Start at the end."
        )
    if set(left) == once and not called:
        return "Your function never calls `reads()`. When an instruction stays, what it reads is needed too."
    if set(left) == once and not used:
        return (
            "You call `reads()`, but never go through the iterator that it returns. `needed.add(…)` puts in the "
            "iterator itself. `needed.update(instruction.reads())` puts in its values."
        )
    if set(left) == once and set(used) == once:
        return (
            "You call `reads()`, but its values don't get into `needed`. `union` and `|` return another set. "
            "`needed.update(instruction.reads())` changes this one."
        )
    last = missing[-1]
    readers = [one for one in left if last.output_value in one.reads()]
    if all(one.is_guard for one in readers):
        return f"{last.name} is gone, but a guard reads its result. A guard stays, so what it `reads()` is needed too."
    return (
        f"{last.name} is gone, but {readers[0].name}, which stays, reads its result. When an instruction stays, each "
        "of the values that it `reads()` is needed too."
    )


def _from_the_front(listing: Listing) -> tuple[set[Instruction], set[Instruction]]:
    """Return what stays if `needed` grows on the way from the front: judged on the way, and judged afterwards."""
    needed, once = listing.kept(), set()
    for one in listing.instructions:
        if one.is_guard or one.output_value in needed:
            once.add(one)
            needed.update(one.reads())
    return once, {one for one in listing.instructions if one.is_guard or one.output_value in needed}


def _overwritten(listing: Listing) -> set[Instruction]:
    """Return what stays if each instruction replaces `needed`, on the way from the end."""
    needed, stays = listing.kept(), set()
    for one in reversed(listing.instructions):
        if one.is_guard or one.output_value in needed:
            stays.add(one)
            needed = set(one.reads())
    return stays
