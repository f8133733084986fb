"""Where everything in the graph is drawn; knows boxes and lines, but not what they mean."""
