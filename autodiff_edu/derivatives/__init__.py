"""What a tape computes on request: gradients with their checks, Jacobians, steps; knows nothing about its callers."""
