"""Jacobians, forward mode, and functions of functions; knows nothing of who asks, nor of what is shown."""
