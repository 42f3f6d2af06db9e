"""Confidence bounds, sequential tests and fits of exponents."""
