"""A call as a list of instructions, and a tape as a NumPy program: the recorder, comparison, passes, the writers."""
