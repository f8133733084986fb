"""Documents that are more than a trace: with a `sweep`, `patches`, `contours` or `compiling`, which have views.

- `sweep`: how a Jacobian is filled. `target` and `source` (names), `rows` and `columns` (labels), `jacobian` (an array
  of rank 2), and `passes`, in order: the steps `first` and `last`, the `rows` whose seeds are pulled back from the one
  to the other, or the `columns` whose tangents are pushed forward, and `stack`, true for the one that takes all of them
  at once and starts from an empty matrix. A row or column is known from the last step of its pass. With passes of both
  kinds there are two matrices. A pass without `stack` takes several rows or columns if a sparsity pattern allows it.
- `patches`: how the Jacobian of a batch folds. `target` and `source` (names), `full` (an array of shape samples,
  outputs, samples, inputs), `folded` (samples, outputs, inputs: the sums over the samples of the target), and the steps
  `made` (where `full` is known), `folds` (where each sample's patches slide together), `begun` (where a batch Jacobian
  begins) and `done` (where it is known; it equals `folded`).
- `contours`: a function of two variables and the path of a minimisation in it. `width` and `height` of the picture in
  pixels, the `frame` in it (left, top, width, height), `names` of the two axes, their `ranges` (from where to where),
  `ticks` of each (`at`, in pixels, and `text`), `levels`, the contours (`text`, the height; `path`, as SVG writes it;
  `area`, the path around all that is lower; `label`, where the height is written, if there is room), and `iterates`,
  one for each step: `at`, `gradient` (where the arrow against the gradient ends, on one scale for the whole walk; null
  where the gradient is 0 or not finite), `newton` (where Newton's direction leads; null if nowhere), `next`, `model`,
  the contours of the quadratic model as one path, and where backtracking halved the step, `trials`, where the longer
  steps led. All of these are points in pixels. `lengthened` says that an arrow is drawn longer
  than the scale says, because it would be too short to see.
- `compiling`: how a program shrinks, one stage for each step: "recorded", the passes by their names, and "compiled".
  `name`, `purpose` (of a pass of ours), `count` (how many operations are left), `constants` (their names), and `lines`:
  `text`, `remark` (where the reader's code computes it), and if the pass has done something to the line, `state`:
  "gone" (and `why`), "changed" or "new". The steps are of kind "compile" and hold nothing more.

The steps of a document with `contours` are of kind "iterate", and it has no entries and no tapes: `number` (from 0),
`point`, `value`, `gradient`, `hessian`, `eigenvalues`, and `step`, `next`, `next_value`, null where there is no next;
`halvings` of the step where there were any, and `digits`, how many of the point are correct, where that is known.
These are arrays but for `number` and `digits`, as in the document of a trace.
"""

from __future__ import annotations

from typing import Any


class Written:
    """A finished document; a player shows it like a trace."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def document(self) -> dict[str, Any]:
        """Return the document."""
        return self._document
