"""What users hand over, checked and taken apart: arrays and structures; knows a tensor only by the array it holds."""
