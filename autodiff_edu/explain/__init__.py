"""Why a gradient is None: the journal, the ways between source and target, and sentences; knows nothing of pictures."""
