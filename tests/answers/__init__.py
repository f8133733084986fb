"""What learners may answer to each exercise: right answers, and known wrong ones with a part of the hint they get.

A chapter has a module here, with RIGHT (exercise: answers) and WRONG (exercise: pairs of an answer and its hint).
"""

from importlib import import_module
from pkgutil import iter_modules

CHAPTERS = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
RIGHT = {exercise: answers for chapter in CHAPTERS for exercise, answers in chapter.RIGHT.items()}
WRONG = {exercise: answers for chapter in CHAPTERS for exercise, answers in chapter.WRONG.items()}

__all__ = ["RIGHT", "WRONG"]
