"""The exercises of the course: `check` an answer and get a hint; `predict` what a cell will show before it does.

>>> from autodiff_edu.course import check
>>> check("1.1", 9)
1.1: Not yet. 9 counts `half = 0.5 * 3.0` or `y = x` as well. Neither leaves an entry.

The other names are for the modules of a course: the forms of its questions, and what those are made of.
"""

from .check import check
from .exercises import Case, Choice, Function, Judge, Number, Recording, Shape, Table
from .feedback import Feedback, NotYet
from .figures import described
from .milestones import Milestone, Milestones
from .predict import predict
from .predictions import Prediction

__all__ = [
    "Case",
    "Choice",
    "Feedback",
    "Function",
    "Judge",
    "Milestone",
    "Milestones",
    "NotYet",
    "Number",
    "Prediction",
    "Recording",
    "Shape",
    "Table",
    "check",
    "described",
    "predict",
]
