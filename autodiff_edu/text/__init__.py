"""Places and blocks in the user's code, and numbers and names as text; knows nothing of tensors."""
