"""The heart: what is followed, how it is recorded, how it is walked back; knows nothing of who listens."""
