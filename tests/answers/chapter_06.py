"""Answers to the exercises of chapter 6."""

import autodiff_edu as ad

LOOP = {3: 108.0, 7: 147.0, 60: 1.0}

RIGHT = {
    "6.1": [LOOP, {place: ad.constant(slope) for place, slope in LOOP.items()}],
}

WRONG = {
    "6.1": [
        ({**LOOP, 3: 81}, "value of y"),
        ({**LOOP, 3: 27}, "slope after 2 turns, which is too few"),
        ({**LOOP, 3: 405}, "slope after 4 turns, which is too many"),
        ({**LOOP, 7: 14}, "after 1 turn, which is too few"),
        ({**LOOP, 7: 49}, "one of the factors only"),
        ({**LOOP, 60: 120}, "after 1 turn, which is too many"),
        ({**LOOP, 60: 0}, "y begins as x"),
        ({**LOOP, 60: 60}, "value of y"),
        ({**LOOP, 3: None}, "A loop cuts nothing"),
        ({**LOOP, 3: 5}, "which power"),
        ({**LOOP, 3: "many"}, "the slope at 3"),
        ({**LOOP, 7: ...}, "Still open: 7"),
        ({3: 108}, "No slope is given at 7, 60"),
        (108.0, "I need a dict"),
    ],
}
