"""Answers to the exercises of a-network."""
