"""Checks and takes apart what users hand over: arrays and structures; knows a tensor only by the array it holds."""
