"""Key frames, slides and films as SVG, PDF and pixels; knows only the document of a trace."""
