"""Convex functions with bounded subgradients: the subgradient method."""
