"""What happened on tapes, as events, as one document and as sentences; knows nothing of pictures."""

from .trace import Trace, trace

__all__ = ["Trace", "trace"]
