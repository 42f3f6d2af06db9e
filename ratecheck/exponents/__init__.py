"""Exponents of measured and of theoretical quantities in K, m, T, delay and step size."""
