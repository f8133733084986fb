"""Where everything in the graph is drawn; knows boxes and lines, nothing of what they mean."""
