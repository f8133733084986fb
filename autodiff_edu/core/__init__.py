"""The heart: what is followed, how it is recorded and how it is walked back; knows nothing about its listeners."""
