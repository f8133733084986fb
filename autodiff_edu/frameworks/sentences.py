"""What the advice about PyTorch says: {code} is a line of the user's, {x} and {y} are names of theirs."""

# Why nothing flows back from {y} to {x}, where the words of `explain/sentences.py` do not fit.
LEFT = "{code} returns the plain numbers of {x}, which PyTorch does not follow. Compute with {x} itself."
CHOSEN = (
    "{code} returns a plain number. As an index, or in range(), it only chooses: {y} jumps where it changes, and has "
    "no slope with respect to {x}."
)
COPIED = "{code} copies the numbers of {x}, and PyTorch does not follow the copy. Use {x} itself instead."
STACK = (
    "{code} copies the numbers of {x}, and PyTorch does not follow the copy. Write torch.stack({x}) instead, where all "
    "parts must be tensors."
)
CLASSES = " For a loss, take cross_entropy for classes, or binary_cross_entropy_with_logits for yes or no."
MOVE = " Move this line out of it. To keep a network as it is, call its requires_grad_(False) instead."
PAUSED = "{code} was computed while PyTorch was not recording, as in a block `with torch.no_grad():`." + MOVE
NOT_FOLLOWED = "{code} returns a tensor that requires no gradient."
NO_HISTORY = "{code} is a gradient without a history. Write create_graph=True where it is computed."
CONSTANT = (
    "{code} is a gradient without a history, although create_graph=True: it is the same whatever its sources are, or a "
    "backward function computes it where PyTorch does not record."
)
FROZEN = (
    "{code} was computed while {x} required no gradient. Switch its gradient on before this line, with "
    "requires_grad_(True)."
)
HIDDEN = (
    "{code} computes with tensors that are not among its arguments, and what it does with them is not followed. Pass "
    "use_reentrant=False."
)
NEVER = (
    "Nothing that leads to {y} requires a gradient. Write requires_grad=True where you make the tensor that you want "
    "to train{made}."
)
SWITCHED_OFF = (
    "{code} switches the gradient off for a tensor that {y} is computed from. Leave this line out for what you want to "
    "train."
)
UNKNOWN = "How {y} was computed was not followed. Put the forward pass into the trace too."
SILENCED = "{code} silences PyTorch's error, but trains nothing: {y} still has no history. Remove this line."

# Errors.
NOT_SCALAR = (
    "{code} has the shape {shape}, but a backward pass starts from a single number. Start it from {y}.mean() or "
    "{y}.sum()."
)
NO_SOURCE = "{code}: {x} does not require a gradient. Write requires_grad=True where you make it."
INTEGERS = "{code}: integers have no derivative. Write them with a decimal point, or with dtype=torch.float32."
NEW_TENSOR = "{code}: {x} is a new tensor, made after {y}. Ask for the tensor that {y} was computed from."
ALLOWED = "{code} returns None for {x} if you write allow_unused=True."
NUMBER = (
    "{code} returns a plain number, which has no backward(). Keep the tensor, and write .item() where you print it."
)
NO_GRADIENT = "{code} is None as long as no backward pass has reached {x}. Call backward() before you use it."
LEAF_WRITTEN = "{code} changes {x}, which requires a gradient. Put this line in a block `with torch.no_grad():`."
OVERWRITTEN = "{code} overwrites numbers that the backward pass needs for {reader}. {instead}"
NOT_IN_PLACE = "Write {new}, which makes a new tensor."
ELEMENTS = "Write into a copy, made by clone(), or collect the parts in a list and join them with torch.stack."
WITHOUT_INPLACE = "Leave out inplace=True, or the _ at the end of the function's name."
STEP = "Compute the second loss after the step, or take the step after the last backward()."
UPDATED = "Move this line below the backward pass."
RETAINED = "That was in an earlier iteration: begin each one with {h}, and leave out retain_graph=True."
SAME_TARGET = (
    "{code} has already gone back through {y} and released what that needed. Compute {y} again, or write "
    "retain_graph=True here."
)
TWO_TARGETS = (
    "{code} released what {reader} had saved, and {y} needs that too. Go back once, with ({first} + {y}).backward(), "
    "or write retain_graph=True here."
)
CARRIED = (
    "{code} was computed in an earlier iteration, and {first} released what it had saved. Begin each iteration with "
    "{h}."
)
ONCE = (
    "{code} was computed only once, but {first} released what it had saved. Compute it again before each backward "
    "pass: in a loop, inside it."
)
NOT_A_LEAF = "{code} makes {x} a new tensor, which is not a leaf: PyTorch keeps .grad, and trains, for leaves only."
MAKE_LEAF = (
    " Write requires_grad_() at the end of this line, and leave out requires_grad=True inside it; or write "
    "{x}.retain_grad(), if you only want to read its gradient."
)
UPDATE = " To change the numbers of {x}, write `with torch.no_grad(): {x} -= ...`."

UNSEEN = "calls that this trace has not seen"

# What is wrong with a gradient that is not None.
CUT = "On another path, nothing flows back:"
NOTE = "But note:"
STEPS = "{code} has steps: its derivative is 0 wherever it has one, so it passes 0 back. Use a smooth function instead."
ADDED = (
    "{code} adds to {x}.grad, which still holds the gradient of an earlier backward pass. Write optimizer.zero_grad(), "
    "or {x}.grad = None, before it."
)
UNTRAINED = (
    "{code} makes {x}, and no optimizer that took a step has it. Build the optimizer after this line, and put a list "
    "of modules into nn.ModuleList."
)
NO_EFFECT = "{code} returns a new tensor, and nothing uses it: the gradient passes through {x}. Write {x} = {text}."
UNSEEN_WRITE = (
    "{code} changes {x} without PyTorch recording it, so the gradient may be wrong. Write into a copy, made by "
    "clone(), outside of no_grad() and without .data."
)
COMES_IN = "{code}: {x} is not finite from the start. Check it with torch.isfinite before you use it."
NONFINITE = "{code}: {what}. Keep {x} away from this value, for example with torch.clamp."
SAFE = (
    "{code}: {what}. The where ({where}) does not take this element, but going backward, 0 times what is not finite is "
    "nan. Make the input harmless first: write {safe} in place of {x}."
)
