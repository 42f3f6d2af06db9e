"""Worst cases over a class of functions by semidefinite programs."""
