"""Corners."""

QUESTIONS = ()
