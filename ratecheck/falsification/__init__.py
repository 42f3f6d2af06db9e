"""Searches for instances on which a statement fails, and worst cases over functions."""
