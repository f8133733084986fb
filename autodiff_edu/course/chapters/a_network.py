"""A network."""

QUESTIONS = ()
