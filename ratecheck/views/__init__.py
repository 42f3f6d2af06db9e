"""How results look: text, plots, progress."""
