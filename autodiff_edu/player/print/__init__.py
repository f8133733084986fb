"""Key frames as SVG and PDF; knows the document of a trace alone."""
