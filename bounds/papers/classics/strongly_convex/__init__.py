"""Smooth and strongly convex functions: linear rates, and constant momentum."""
