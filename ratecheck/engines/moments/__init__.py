"""Exact first and second moments on quadratic problems."""
