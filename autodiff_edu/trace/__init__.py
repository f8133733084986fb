"""What happened on tapes, as events, as one document and as sentences; knows nothing about pictures."""

from .trace import Trace, sources, trace

__all__ = ["Trace", "sources", "trace"]
