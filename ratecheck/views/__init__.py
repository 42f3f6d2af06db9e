"""Views of results: text, plots, progress."""
