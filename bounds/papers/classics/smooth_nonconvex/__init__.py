"""Smooth functions that need not be convex: gradients become small."""
