"""Theorems as people write them, one sentence in plain words or in LaTeX: how it is read, and its vocabulary."""
