"""Key frames as SVG and PDF; knows only the document of a trace."""
