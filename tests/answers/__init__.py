"""What learners may answer to each exercise: right answers, and known wrong ones with a part of the hint they get.

A chapter has a module here, with RIGHT (the exercise's number: answers) and WRONG (the exercise's number: pairs of an
answer and its hint).
"""

from importlib import import_module

from autodiff_edu.course.contents import OURS

RIGHT, WRONG = {}, {}
for chapter in OURS.chapters:
    if chapter.exercises:
        answers = import_module(f"{__name__}.{chapter.slug.replace('-', '_')}")
        RIGHT |= {f"{chapter.number}.{k}": found for k, found in answers.RIGHT.items()}
        WRONG |= {f"{chapter.number}.{k}": found for k, found in answers.WRONG.items()}

__all__ = ["RIGHT", "WRONG"]
