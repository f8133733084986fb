"""The sentences of an explanation: what each kind of cut does, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable

SAID = {"assign", "assign_add", "assign_sub", "numpy", "item", "tolist", "float", "int", "complex", "asarray"}
"""The calls with the same arguments as their journal line."""

UNSEEN = {
    "before",
    "earlier",
    "between",
    "after",
    "paused",
    "reset",
    "another thread",
    "left",
    "assigned",
    "copied",
    "nesting",
}
"""The cuts that hide the reading of a variable from a tape."""

WHEN = {
    "before": "before this tape began to record",
    "earlier": "in an earlier recording of this tape, which was forgotten when it started again",
    "between": "between two with blocks of this tape",
    "after": "after this tape had stopped recording",
    "paused": "while this tape was paused",
    "reset": "before this tape was reset",
}

KINDS: dict[str, Callable[[str, str], str]] = {
    "stopped": lambda y, x: f" cuts the flow on purpose. Use {x} itself where the gradient should pass.",
    "step": lambda y, x: (
        " has steps: its derivative is zero wherever it has one, so nothing flows back through it. Use a smooth "
        "function instead, or ad.custom_gradient."
    ),
    "integer": lambda y, x: (
        f" returns integers or booleans, which have no derivative. Keep {x} in floating point on the way."
    ),
    "argument": lambda y, x: (
        f" has no derivative with respect to {x}: it only picks or counts. Make the target depend on {x} through a "
        "smooth function too."
    ),
    "silent": lambda y, x: (
        f" has a custom gradient that returns None for {x}. Make its backward function return a gradient there."
    ),
    "recomputed": lambda y, x: (
        f" runs under ad.checkpoint, and nothing flows back through it to {x}. Call the function without "
        "ad.checkpoint, and tape.explain names the line."
    ),
    "captured": lambda y, x: (
        f" captures {x}, but its custom gradient covers positional arguments only. Pass {x} as a positional "
        "argument."
    ),
    "named": lambda y, x: (
        f" takes {x} by keyword, but its custom gradient covers positional arguments only. Pass {x} as a "
        "positional argument."
    ),
    "before": lambda y, x: f" was computed {WHEN['before']}. Move this line into its with block.",
    "earlier": lambda y, x: f" was computed {WHEN['earlier']}. Compute it again in its last with block.",
    "between": lambda y, x: f" was computed {WHEN['between']}. Move this line into one.",
    "after": lambda y, x: f" was computed {WHEN['after']}. Move this line into its with block.",
    "paused": lambda y, x: f" was computed {WHEN['paused']} by stop_recording. Move this line out of that block.",
    "reset": lambda y, x: f" was computed {WHEN['reset']}, and reset forgot it. Compute it after reset.",
    "late": lambda y, x: f" was computed before the tape was asked to watch {x}. Call tape.watch before this line.",
    "another thread": lambda y, x: (
        " was computed in another thread, but a tape follows only the thread that entered it. Compute it there, or "
        "create a tape in each thread."
    ),
    "assigned": lambda y, x: (
        f" assigns plain numbers to the variable {y}, which no tape follows. Use {x} itself in what follows."
    ),
    "copied": lambda y, x: (
        f" is a new tensor with a copy of the numbers of {x}, and no tape follows the copy. Use {x} itself in what "
        "follows."
    ),
    "nesting": lambda y, x: (
        " was taken after this tape had stopped recording. Take it inside this tape's with block, so that the backward "
        "pass is recorded."
    ),
    "constant derivative": lambda y, x: (
        " no longer depends on the source: the slope of a linear function is constant, and an added term drops out, "
        "so the next derivative is zero."
    ),
}  # fmt: skip
