"""Piecewise quadratic problems in one variable."""
