"""Smooth convex functions: gradient descent and stochastic gradients."""
