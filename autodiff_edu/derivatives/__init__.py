"""What a tape is asked for: the checks of a question, its Jacobians, its steps; knows nothing of who asks."""
