"""TensorFlow's measured behaviour, case by case: ours is the same, or the test says which difference is deliberate.

The numbers are those of the reference, in float64. "Difference" in a docstring quotes section 6 of the design.
"""
