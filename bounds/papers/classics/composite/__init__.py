"""Sums of a smooth function and a convex one, of which proximal steps are taken."""
