"""What happened on tapes, as events, as one document and as sentences; knows nothing about pictures."""

from .trace import Trace, trace

__all__ = ["Trace", "trace"]
