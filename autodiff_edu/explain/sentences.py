"""What an explanation says: a sentence for each reason why nothing flows back, with what to write instead.

Where an operation is to blame, `{code}` is its line in the user's code, `{y}` its result, `{x}` what that depends on.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Description(NamedTuple):
    """What `explain` says about a reason, and what follows from it.

    `kind` is its name in `Cause.kind`, which several reasons may share. `when` is the time at which an
    operation was computed, if that is why the tape did not record it. If `hides`, the tape does not see that a variable
    is read here. If `loses`, the cut is an accident: a gradient that is not None is incomplete. `by` is the short form
    of the sentence in a trace, if it has one.
    """

    kind: str
    sentence: str
    when: str = ""
    hides: bool = False
    loses: bool = False
    by: str = ""


class Reason(Description, Enum):
    """A reason why a gradient is None, incomplete, or an error."""

    # fmt: off
    # the operation passes nothing back
    STOPPED = Description("stopped", "{code} cuts the flow on purpose. Use {x} itself where the gradient should pass.",
        by="ad.{}, on purpose")
    STEP = Description("step", "{code} has steps: its derivative is zero wherever it has one, so nothing flows back "
        "through it. Use a smooth function instead, or ad.custom_gradient.",
        by="{}, whose derivative is 0 wherever it has one. Use a smooth function instead (for example, cross-entropy "
        "instead of accuracy)")
    INTEGER = Description("integer", "{code} returns integers or booleans, which have no derivative. Keep {x} in "
        "floating point on the way.")
    ARGUMENT = Description("argument", "{code} has no derivative with respect to {x}: it only picks or counts. Make "
        "the target depend on {x} through a smooth function too.")
    SILENT = Description("argument", "{code} has a custom gradient that returns None for {x}. Make its backward "
        "function return a gradient there.")
    RECOMPUTED = Description("argument", "{code} runs under ad.checkpoint, and nothing flows back through it to {x}. "
        "Call the function without ad.checkpoint, and tape.explain names the line.")
    CAPTURED = Description("argument", "{code} captures {x}, but its custom gradient covers positional arguments "
        "only. Pass {x} as a positional argument.")
    BY_KEYWORD = Description("argument", "{code} takes {x} by keyword, but its custom gradient covers positional "
        "arguments only. Pass {x} as a positional argument.")
    CONSTANT_DERIVATIVE = Description("constant derivative", "{code} no longer depends on the source: the slope of a "
        "linear function is constant, and an added term drops out, so the next derivative is zero.")

    # the tape does not have the operation
    BEFORE = Description("before", "{code} was computed {when}. Move this line into its with block.",
        when="before this tape began to record", hides=True, loses=True)
    EARLIER = Description("earlier", "{code} was computed {when}. Compute it again in its last with block.",
        when="in an earlier recording of this tape, which was forgotten when it started again", hides=True, loses=True)
    BETWEEN = Description("between", "{code} was computed {when}. Move this line into one.",
        when="between two with blocks of this tape", hides=True, loses=True)
    AFTER = Description("after", "{code} was computed {when}. Move this line into its with block.",
        when="after this tape had stopped recording", hides=True)
    PAUSED = Description("paused", "{code} was computed {when} by stop_recording. Move this line out of that block.",
        when="while this tape was paused", hides=True)
    RESET = Description("reset", "{code} was computed {when}, and reset forgot it. Compute it after reset.",
        when="before this tape was reset", hides=True, loses=True)
    LATE = Description("late", "{code} was computed before the tape was asked to watch {x}. Call tape.watch before "
        "this line.", loses=True)
    ANOTHER_THREAD = Description("another thread", "{code} was computed in another thread, but a tape follows only "
        "the thread that entered it. Compute it there, or create a tape in each thread.", hides=True, loses=True)
    NESTING = Description("nesting", "{code} was taken after this tape had stopped recording. Take it inside this "
        "tape's with block, so that the backward pass is recorded.", hides=True)

    # numbers left their tensor
    LEFT = Description("left for NumPy", "{code} returns the plain numbers of {x}{here}, which no tape follows. "
        "Compute with {x} itself: operators and NumPy functions accept it, and np.stack joins tensors.", hides=True,
        loses=True)
    ASSIGNED = Description("assigned", "{code} assigns plain numbers to the variable {y}, which no tape follows. Use "
        "{x} itself in what follows.", hides=True, loses=True)
    COPIED = Description("copied", "{code} is a new tensor with a copy of the numbers of {x}, and no tape follows the "
        "copy. Use {x} itself in what follows.", hides=True, loses=True)

    # the tape does not follow the source
    NEVER_WATCHED = Description("never watched", "{code} is a constant that the tape was never asked to watch. Write "
        "{watch} before it is used.")
    NOT_AUTOMATIC = Description("never watched", "{code} was never watched: this tape has "
        "watch_accessed_variables=False. Write {watch}.")
    NOT_TRAINABLE = Description("not trainable", "{code} is a variable with trainable=False, which tapes do not watch "
        "automatically. Write {watch}.")
    COMPUTED = Description("never watched", "{code} was computed {when}, so to this tape it is a constant. Compute it "
        "inside the tape, or write {watch}.", when="where this tape does not follow it")
    REBOUND = Description("rebound", "{place}: {code} makes {x} a new tensor: from here on, the name no longer refers "
        "to the earlier variable or tensor. Write {x}.assign(...) to give a variable a new value, or tape.watch({x}) "
        "inside the tape.")
    FORGOTTEN = Description("reset", "{place}: reset forgot that {x} was watched, and what was computed from it. "
        "Watch and compute after reset.")
    INTEGER_SOURCE = Description("integer", "{code} has dtype {dtype}, but only floating and complex numbers have "
        "derivatives. Write it with a decimal point, or pass dtype=float.")

    # nothing leads from the source to the target
    INTEGER_TARGET = Description("integer", "{y} has dtype {dtype}, but only floating and complex numbers have "
        "derivatives.")
    INSIDE_A_CHECKPOINT = Description("inside a checkpoint", "{y} {strayed}.")
    NEVER_ENTERED = Description("never entered", "This tape was never entered. Compute the target inside `with tape:`.")
    NOT_USED = Description("not used", "Nothing that leads to {y} was computed from {x}. Did you mean another tensor "
        "of that name, or an earlier one?")
    DECIDES = Description("decides", "{x} reaches {y} only through {what} ({at}): they decide, they don't compute. "
        "Compute {y} from {x} where a slope should flow.")
    NOT_REMEMBERED = Description("not used", "Nothing that leads to {y} was computed from {x}. (Of the operations "
        "that no tape recorded, only the latest {kept} are remembered.)")

    # there is a path, but a gradient would be an error
    NO_RULE = Description("no rule", "{code} has no derivative rule{why}; gradient raises a LookupError. {instead}, "
        "or use ad.register_gradient.")
    NO_BACKWARD = Description("no rule", "{code}: gradient raises a LookupError: {error}.")
    RELEASED = Description("released", "{place}: this one-shot tape was used here and has released its arrays, so "
        "another gradient raises a RuntimeError. Write GradientTape(persistent=True) to differentiate more than once.")
    # fmt: on


IS_NONE = "{slope} is None:"
HAS_PATH = "{slope} is not None. The gradient flows back through:"
IS_THE_SAME = "{slope} is not None: they are the same tensor."
LEFT_OUT = "This gradient misses:"
AT_CORNERS = "At a corner, the slope is a choice of the rule:"
AT_A_CORNER = "{code}: {text}."
AND_MORE = "(and {count} more)"

FIND_OUT_WHY = "{slope} is None. Walk back from {target} to find out why."
SEE_THE_PATH = "{slope} is not None. Walk back from {target} to see its path."
PASSES = "{code} passes a cotangent back."
WOULD_PASS = "{code} would pass a cotangent back."
