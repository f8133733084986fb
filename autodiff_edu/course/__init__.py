"""The exercises of the course: `check` an answer and get a hint; `predict` what a cell will show before it does.

>>> from autodiff_edu.course import check
>>> check("1.1", 9)
1.1: Not yet. 9 counts `half = 0.5 * 3.0` or `y = x` as well. Neither leaves an entry.
"""

from .check import check
from .feedback import Feedback
from .figures import described
from .predict import predict
from .predictions import Prediction

__all__ = ["Feedback", "Prediction", "check", "described", "predict"]
