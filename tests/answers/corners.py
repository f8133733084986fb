"""Answers to the exercises of corners."""
